#if HTTP
internal import TintypeLoading

/// The content codings of a body (RFC 9110, section 8.4); all of them can be decoded.
struct ContentCoding: Equatable {
    /// A single coding (RFC 9110, section 8.4.1).
    enum Format: Sendable {
        case gzip
        case deflate
        case brotli
        case zstd
    }

    /// The largest number of codings. Each takes memory, and servers apply a single coding.
    private static let maximumCount = 3

    /// The other codings in IANA's registry of HTTP content codings.
    private static let undecodable: Set<String> = [
        "aes128gcm", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress",
    ]

    /// The body as it is.
    static let identity = ContentCoding(formats: [])

    /// The codings, in the server's order.
    let formats: [Format]

    private init(formats: [Format]) { self.formats = formats }

    /// Parses the lines of the field `Content-Encoding`, which together form a list (RFC 9110, section 5.3).
    /// - Returns: `nil` if a coding can't be decoded, or there are more than three.
    init?(_ lines: some Sequence<String>) {
        var formats: [Format] = []
        for line in lines {
            for name in line.split(separator: ",") {
                switch String(name).trimmed.lowercased() {
                // RFC 9110 asks recipients to treat “x-gzip” as “gzip”.
                case "gzip", "x-gzip": formats.append(.gzip)
                case "deflate": formats.append(.deflate)
                case "br": formats.append(.brotli)
                case "zstd": formats.append(.zstd)
                case let other where Self.undecodable.contains(other): return nil
                default: continue
                }
            }
        }
        guard formats.count <= Self.maximumCount else { return nil }
        self.init(formats: formats)
    }

    /// Returns a decoder; `nil` for bytes that aren't encoded.
    /// - Parameter limit: the most bytes that a coding may hand to the next.
    /// - Throws: ``ImageError/Code/outOfMemory``.
    func decoder(limit: Int = .max) throws(ImageError) -> (any ContentDecoding)? {
        var decoder: (any ContentDecoding)?
        // The last coding that was applied is the first to be removed.
        for format in formats {
            let inner = decoder
            let outer = try Self.decoder(format)
            decoder = inner.map { SuccessiveDecoder(outer, then: $0, limit: limit) } ?? outer
        }
        return decoder
    }

    private static func decoder(_ format: Format) throws(ImageError) -> any ContentDecoding {
        switch format {
        case .gzip, .deflate: try ZlibDecoder(format)
        case .brotli: try BrotliDecoder()
        case .zstd: try ZstdDecoder()
        }
    }
}

/// A decoder that decompresses a body piece by piece.
///
/// The memory that decompression takes does not depend on the ratio: the output comes in blocks, and the receiver can stop at its limit.
protocol ContentDecoding: AnyObject {
    /// Decompresses a piece.
    /// - Parameters:
    ///   - bytes: the next compressed bytes.
    ///   - receive: called with decompressed bytes, a block at a time.
    /// - Throws: ``ImageError/Code/badResponse`` if the bytes break the format, and the errors of `receive`.
    func decode(
        _ bytes: UnsafeRawBufferPointer, receive: (UnsafeRawBufferPointer) throws(ImageError) -> Void
    ) throws(ImageError)

    /// Checks at the end of the body that the compressed stream has ended too.
    /// - Throws: ``ImageError/Code/incompleteBody``.
    func finish() throws(ImageError)
}

/// Two decoders: the second gets the output of the first.
///
/// The output of the first is limited. A few bytes may expand to any number, and the second may turn them into nothing.
private final class SuccessiveDecoder: ContentDecoding {
    private let first: any ContentDecoding
    private let second: any ContentDecoding
    /// The number of bytes that the first may still hand to the second.
    private var rest: Int

    init(_ first: any ContentDecoding, then second: any ContentDecoding, limit: Int) {
        self.first = first
        self.second = second
        rest = limit
    }

    func decode(
        _ bytes: UnsafeRawBufferPointer, receive: (UnsafeRawBufferPointer) throws(ImageError) -> Void
    ) throws(ImageError) {
        try first.decode(bytes) { decoded throws(ImageError) in
            guard decoded.count <= rest else { throw .expandedTooMuch }
            rest -= decoded.count
            try second.decode(decoded, receive: receive)
        }
    }

    func finish() throws(ImageError) {
        try first.finish()
        try second.finish()
    }
}

extension ImageError {
    static let cutCompression = ImageError(
        .incompleteBody, stage: .load, reason: "the compressed response body ends too early")

    static let expandedTooMuch = ImageError(
        .bodyTooLarge, stage: .load, reason: "the compressed response body expands beyond the limit")

    static let noMemoryToDecompress = ImageError(
        .outOfMemory, stage: .load, reason: "there isn't enough memory to decompress the response body")

    static func undecodable(_ reason: String) -> ImageError {
        ImageError(
            .badResponse, stage: .load, reason: "the compressed response body can't be decompressed: \(reason)")
    }
}
#endif
