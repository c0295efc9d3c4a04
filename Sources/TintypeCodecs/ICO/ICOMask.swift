internal import TintypeImages

/// The transparency of an icon's bitmap: the alpha of its pixels, or without alpha, a bit for each pixel behind
/// them.
struct ICOMask {
    private let bytes: UnsafeRawBufferPointer
    private let header: BMPHeader
    /// True if the pixels' own alpha counts: it has 32 bits a pixel, and some pixel is not transparent.
    let keepsAlpha: Bool

    init(_ bytes: UnsafeRawBufferPointer, header: BMPHeader) {
        self.bytes = bytes
        self.header = header
        guard header.bitsPerPixel == 32, header.compression == .none else {
            keepsAlpha = false
            return
        }
        let end = min(bytes.count - 3, header.pixels + header.bytesPerRow * header.size.height)
        keepsAlpha = stride(from: header.pixels, to: end, by: 4).contains { bytes[$0 + 3] != 0 }
    }

    private var start: Int { header.pixels + header.bytesPerRow * header.size.height }
    private var bytesPerRow: Int { (header.size.width + 31) / 32 * 4 }

    /// True if all of the mask is there.
    var isComplete: Bool {
        start + bytesPerRow * (header.size.height - 1) + (header.size.width + 7) / 8 <= bytes.count
    }

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
