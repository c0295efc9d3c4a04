internal import TintypeImages

/// The directory of an icon or cursor file (Microsoft, "Icons", 1995).
struct ICODirectory {
    struct Entry {
        var size: PixelSize
        /// The bits of a pixel, as the directory or the image says.
        var bits: Int
        /// The start of the image.
        var offset: Int
        /// The stated length of the image. Writers give wrong ones, and the image knows its own.
        var length: Int
    }

    private(set) var entries: [Entry] = []

    /// The start of the image that comes next in the file; `nil` for the last one.
    func offset(after entry: Entry) -> Int? { entries.map(\.offset).filter { $0 > entry.offset }.min() }

    /// - Throws: ``ImageError/Code/truncatedImage`` and ``ImageError/Code/corruptImage``
    init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        var reader = LittleEndianReader(bytes)
        let reserved = try reader.uint16()
        let type = try reader.uint16()
        guard reserved == 0, type == 1 || type == 2 else {
            throw .corrupt("the data doesn't start with the signature of an icon")
        }
        for _ in 0..<(try reader.uint16()) {
            func side(_ stored: Int) -> Int { stored == 0 ? 256 : stored }
            let size = PixelSize(width: side(try reader.byte()), height: side(try reader.byte()))
            try reader.skip(4)
            let bits = try reader.uint16()
            let length = try reader.uint32()
            let offset = try reader.uint32()
            // A cursor has its hot spot's row where an icon has the bits, which many writers leave at zero.
            let stated = type == 1 && bits > 0 ? bits : Self.bits(of: bytes, at: offset)
            entries.append(Entry(size: size, bits: stated, offset: offset, length: length))
        }
        guard !entries.isEmpty else { throw .corrupt("the icon has no images") }
    }

    /// The bits of a pixel that the header of an image states; zero if there is none.
    private static func bits(of bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        guard offset < bytes.count else { return 0 }
        var reader = LittleEndianReader(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
        do throws(ImageError) {
            switch try reader.uint32() {
            case 0x474E_5089: return 32  // PNG.
            case 12: try reader.skip(6)
            default: try reader.skip(10)
            }
            return try reader.uint16()
        } catch {
            return 0
        }
    }

    /// The image with the most pixels, and of those the image with the most bits.
    var largest: Entry? {
        entries.max { ($0.size.pixelCount, $0.bits) < ($1.size.pixelCount, $1.bits) }
    }
}
