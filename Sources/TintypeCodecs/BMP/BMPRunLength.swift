internal import TintypeImages

/// Decodes the run lengths of a bitmap with 8 or 4 bits a pixel (Microsoft, "Bitmap Compression"): pixels as stored, from the
/// bottom up. Pixels that the codes step over stay transparent.
struct BMPRunLength {
    private let header: BMPHeader
    private var reader: LittleEndianReader
    private var x = 0
    private var y = 0
    /// True if the codes ended as they should.
    private(set) var isComplete = false

    init(_ bytes: UnsafeRawBufferPointer, header: BMPHeader) {
        self.header = header
        reader = LittleEndianReader(bytes, at: header.pixels)
    }

    /// Draws into a buffer that is all transparent.
    mutating func decode(into pixels: borrowing MutablePixelBuffer, context: ProcessingContext) throws(ImageError) {
        do {
            while y < header.size.height {
                let count = try reader.byte()
                let value = try reader.byte()
                if count > 0 {
                    run(count, value, pixels)
                } else if value == 0 {
                    x = 0
                    y += 1
                    if y & 127 == 0 { try context.checkCancellation() }
                } else if value == 1 {
                    break
                } else if value == 2 {
                    x += try reader.byte()
                    y += try reader.byte()
                } else {
                    try literal(value, pixels)
                }
            }
            isComplete = true
        } catch ImageError.Code.truncatedImage {
            isComplete = false
        }
    }

    private mutating func run(_ count: Int, _ value: Int, _ pixels: borrowing MutablePixelBuffer) {
        for index in 0..<count {
            let color =
                switch header.compression {
                case .runLength4: index & 1 == 0 ? value >> 4 : value & 15
                default: value
                }
            put(color, pixels)
        }
    }

    /// Pixels individually, padded to whole words.
    private mutating func literal(_ count: Int, _ pixels: borrowing MutablePixelBuffer) throws(ImageError) {
        let isNibbles = header.compression == .runLength4
        let byteCount = isNibbles ? (count + 1) / 2 : count
        let bytes = try reader.take(byteCount)
        for index in 0..<count {
            let color = isNibbles ? Int(bytes[index / 2] >> (index & 1 == 0 ? 4 : 0) & 15) : Int(bytes[index])
            put(color, pixels)
        }
        if byteCount & 1 != 0, !reader.isAtEnd { try reader.skip(1) }
    }

    private mutating func put(_ color: Int, _ pixels: borrowing MutablePixelBuffer) {
        guard x < header.size.width, y < header.size.height else { return }
        let row = header.isTopDown ? y : header.size.height - 1 - y
        pixels.row(row).storeBytes(of: header.palette[color], toByteOffset: x * 4, as: UInt32.self)
        x += 1
    }
}
