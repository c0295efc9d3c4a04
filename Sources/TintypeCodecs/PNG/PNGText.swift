internal import FoundationEssentials
internal import TintypeImages

/// A chunk of text whose keyword announces metadata.
struct PNGText {
    /// The chunk's contents.
    enum Kind: String, CaseIterable {
        /// An XMP packet (XMP, part 3, section 1.1.5). It belongs into international text that is not compressed; files have it in the two
        /// other kinds as well, and compressed.
        case xmp = "XML:com.adobe.xmp"
        /// Blocks in hexadecimal digits, as ImageMagick and ExifTool write them; see ``PNGRawProfile``.
        case rawExif = "Raw profile type exif", rawSegment = "Raw profile type APP1", rawXMP = "Raw profile type xmp"
        case rawIPTC = "Raw profile type iptc", rawResources = "Raw profile type 8bim"
    }

    let kind: Kind
    private let type: PNGChunks.ChunkType
    private let rest: Range<Int>

    /// - Parameter type: `iTXt`, `zTXt` or `tEXt` (PNG, third edition, section 11.3.3).
    /// - Returns: `nil` for any other keyword.
    init?(_ type: PNGChunks.ChunkType, _ payload: Range<Int>, of bytes: UnsafeRawBufferPointer) {
        // A keyword has at most 79 bytes, and ends with a zero.
        guard let end = bytes[payload].prefix(80).firstIndex(of: 0),
            let kind = Kind(rawValue: String(decoding: bytes[payload.lowerBound..<end], as: UTF8.self))
        else { return nil }
        self.kind = kind
        self.type = type
        rest = end + 1..<payload.upperBound
    }

    /// Returns the text.
    /// - Returns: `nil` where the chunk is broken, and for more than `maximumBytes`.
    func contents(of bytes: UnsafeRawBufferPointer, maximumBytes: Int) -> Data? {
        let text: Range<Int>
        let isCompressed: Bool
        switch type {
        case .text: (text, isCompressed) = (rest, false)
        case .ztxt:
            guard let method = rest.first, bytes[method] == 0 else { return nil }
            (text, isCompressed) = (rest.dropFirst(), true)
        default:
            // A flag and a method of compression, then language and translation, each with a zero behind it.
            guard rest.count >= 2, let flag = rest.first, bytes[flag] <= 1, bytes[flag + 1] == 0,
                let language = rest.dropFirst(2).first(where: { bytes[$0] == 0 }),
                let translation = rest[(language + 1)...].first(where: { bytes[$0] == 0 })
            else { return nil }
            (text, isCompressed) = (translation + 1..<rest.upperBound, bytes[flag] == 1)
        }
        if isCompressed { return ZlibStream.unpack(bytes[text], maximumBytes: maximumBytes) }
        return text.isEmpty || text.count > maximumBytes ? nil : bytes.data(text)
    }
}
