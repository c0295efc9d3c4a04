internal import TintypeImages

extension PixelBuffer {
    /// True if red, green and blue of each pixel are the same. The first row with a color ends the search.
    ///
    /// Premultiplied pixels are gray just if straight ones are, because all components are divided alike.
    var isGray: Bool {
        (0..<height).allSatisfy { y in
            withRow(y) { row -> Bool in
                switch format {
                case .rgba8:
                    Self.difference(row.bindMemory(to: UInt32.self), bits: 8, width) & 0xFFFF == 0
                case .rgba16:
                    Self.difference(row.bindMemory(to: UInt64.self), bits: 16, width) & 0xFFFF_FFFF == 0
                case .rgbaFloat16: false
                }
            }
        }
    }

    /// Returns the bits that differ between a component and the next one, in any of a row's pixels.
    @inline(__always)
    private static func difference<Pixel: FixedWidthInteger>(
        _ row: UnsafeBufferPointer<Pixel>, bits: Pixel, _ width: Int
    ) -> Pixel {
        var different: Pixel = 0
        for x in 0..<width {
            let pixel = Pixel(littleEndian: row[x])
            different |= pixel ^ pixel &>> bits
        }
        return different
    }
}
