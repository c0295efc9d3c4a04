internal import FoundationEssentials
internal import TintypeImages

/// The XMP packet in a chunk of text (XMP, part 3, section 1.1.5). It belongs into international text that is not compressed;
/// files have it in the two other kinds as well, and compressed.
enum PNGText {
    private static let keyword = Array("XML:com.adobe.xmp\0".utf8)
    private static let maximumBytes = ImageMetadata.maximumBlockBytes

    /// Returns true if a chunk of text has the keyword of XMP.
    static func isXMP(_ payload: Range<Int>, of bytes: UnsafeRawBufferPointer) -> Bool {
        bytes[payload].starts(with: keyword)
    }

    /// - Parameter type: `iTXt`, `zTXt` or `tEXt` (PNG, third edition, section 11.3.3).
    /// - Returns: `nil` where the chunk is broken.
    static func xmp(_ type: PNGChunks.ChunkType, _ payload: Range<Int>, of bytes: UnsafeRawBufferPointer) -> Data? {
        let rest = payload.dropFirst(keyword.count)
        switch type {
        case .text: return bytes.metadataBlock(rest)
        case .ztxt:
            guard let method = rest.first, bytes[method] == 0 else { return nil }
            return ZlibStream.unpack(bytes[rest.dropFirst()], maximumBytes: maximumBytes)
        default:
            // A flag and a method of compression, then language and translation, each with a zero behind it.
            guard rest.count >= 2, let flag = rest.first, bytes[flag] <= 1, bytes[flag + 1] == 0,
                let language = rest.dropFirst(2).first(where: { bytes[$0] == 0 }),
                let translation = rest[(language + 1)...].first(where: { bytes[$0] == 0 })
            else { return nil }
            let text = translation + 1..<payload.upperBound
            return bytes[flag] == 1
                ? ZlibStream.unpack(bytes[text], maximumBytes: maximumBytes) : bytes.metadataBlock(text)
        }
    }
}
