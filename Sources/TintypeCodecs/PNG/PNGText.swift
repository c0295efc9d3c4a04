internal import CZlib
internal import FoundationEssentials

/// The XMP packet in a chunk of text (XMP, part 3, section 1.1.5). It belongs into international text that is not compressed;
/// files have it in the two other kinds as well, and compressed.
enum PNGText {
    private static let keyword = Array("XML:com.adobe.xmp\0".utf8)
    /// A packet that becomes larger is not read.
    private static let maximumBytes = 4 << 20

    /// Whether a chunk of text has the keyword of XMP.
    static func isXMP(_ payload: Range<Int>, of bytes: UnsafeRawBufferPointer) -> Bool {
        bytes[payload].starts(with: keyword)
    }

    /// - Parameter type: `iTXt`, `zTXt` or `tEXt` (PNG, third edition, section 11.3.3).
    /// - Returns: `nil` where the chunk is broken.
    static func xmp(_ type: PNGChunks.ChunkType, _ payload: Range<Int>, of bytes: UnsafeRawBufferPointer) -> Data? {
        let rest = payload.dropFirst(keyword.count)
        switch type {
        case .text: return bytes.data(rest)
        case .ztxt:
            guard let method = rest.first, bytes[method] == 0 else { return nil }
            return inflated(bytes[rest.dropFirst()])
        default:
            // A flag and a method of compression, then language and translation, each with a zero behind it.
            guard rest.count >= 2, let flag = rest.first, bytes[flag] <= 1, bytes[flag + 1] == 0,
                let language = rest.dropFirst(2).first(where: { bytes[$0] == 0 }),
                let translation = rest[(language + 1)...].first(where: { bytes[$0] == 0 })
            else { return nil }
            let text = translation + 1..<payload.upperBound
            return bytes[flag] == 1 ? inflated(bytes[text]) : bytes.data(text)
        }
    }

    /// The text of a zlib stream; `nil` if it is broken, or larger than it may be.
    private static func inflated(_ stream: Slice<UnsafeRawBufferPointer>) -> Data? {
        let source = UnsafeRawBufferPointer(rebasing: stream).bindMemory(to: UInt8.self)
        guard let base = source.baseAddress else { return nil }
        var capacity = min(max(4_096, source.count * 8), maximumBytes)
        while true {
            var text = Data(count: capacity)
            var count = uLong(capacity)
            let status = text.withUnsafeMutableBytes { target in
                uncompress(target.bindMemory(to: UInt8.self).baseAddress, &count, base, uLong(source.count))
            }
            if status == Z_OK { return text.prefix(Int(count)) }
            guard status == Z_BUF_ERROR, capacity < maximumBytes else { return nil }
            capacity = min(capacity * 4, maximumBytes)
        }
    }
}
