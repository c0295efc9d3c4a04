internal import TintypeImages

/// The transparency of an icon's bitmap: the alpha of its pixels, or without alpha, a bit for each pixel behind
/// them.
struct ICOMask {
    private let bytes: UnsafeRawBufferPointer
    private let header: BMPHeader
    private let end: Int?
    private let bytesPerRow: Int
    /// True if the pixels' own alpha counts.
    let keepsAlpha: Bool

    /// - Parameters:
    ///   - length: the stated length of the image.
    ///   - end: the start of the next image; `nil` for the last one.
    init(_ bytes: UnsafeRawBufferPointer, header: BMPHeader, length: Int, end: Int?) {
        self.bytes = bytes
        self.header = header
        self.end = end
        // Rows have whole words, but Pillow writes them in whole bytes.
        let packed = (header.size.width + 7) / 8
        let isPacked = length == header.pixels + (header.bytesPerRow + packed) * header.size.height
        bytesPerRow = isPacked ? packed : (header.size.width + 31) / 32 * 4
        keepsAlpha = header.showsAlpha(bytes)
    }

    private var start: Int { header.pixels + header.bytesPerRow * header.size.height }

    private var lastByte: Int { start + bytesPerRow * (header.size.height - 1) + (header.size.width + 7) / 8 }

    /// True if all of the mask is there.
    var isComplete: Bool { lastByte <= min(bytes.count, end ?? .max) }

    /// True if there is no mask: another image has its place, or the file ends before it.
    var isAbsent: Bool { start == bytes.count || end.map { $0 < min(lastByte, bytes.count) } ?? false }

    /// The pixels without those that the mask hides. A mask that is not complete hides none.
    func apply(to pixels: PixelBuffer, pool: PixelBufferPool) throws(ImageError) -> PixelBuffer {
        guard isComplete else { return pixels }
        let target = try MutablePixelBuffer(size: pixels.size, cleared: false, pool: pool)
        for y in 0..<pixels.height {
            let stored = header.isTopDown ? y : pixels.height - 1 - y
            let mask = start + stored * bytesPerRow
            let row = target.row(y)
            pixels.withRow(y) { source in
                for x in 0..<pixels.width {
                    let isHidden = bytes[mask + x / 8] & (0x80 >> UInt8(x % 8)) != 0
                    let pixel = source.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
                    row.storeBytes(of: isHidden ? 0 : pixel, toByteOffset: x * 4, as: UInt32.self)
                }
            }
        }
        return target.freeze()
    }
}
