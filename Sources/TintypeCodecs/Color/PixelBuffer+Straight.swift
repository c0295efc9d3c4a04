internal import TintypeCore

extension PixelBuffer {
    /// The pixels with colour no longer multiplied by alpha, in rows without gaps.
    var straightPixels: [UInt8] {
        let rowBytes = width * 4
        return [UInt8](unsafeUninitializedCapacity: rowBytes * height) { bytes, count in
            count = rowBytes * height
            guard let base = UnsafeMutableRawPointer(bytes.baseAddress) else { return }
            for y in 0..<height {
                withRow(y) { row in
                    guard let source = row.baseAddress else { return }
                    Premultiplication.unpremultiply(source, into: base + y * rowBytes, count: width)
                }
            }
        }
    }
}
