#if HTTP
internal import TintypeCore

/// A content coding of HTTP that can be decoded (RFC 9110, section 8.4.1).
enum ContentCoding {
    case identity
    case gzip
    case deflate
    case brotli
    case zstd

    /// - Parameter field: the value of `Content-Encoding`.
    /// - Returns: `nil` for a coding that cannot be decoded, or for several.
    init?(_ field: String?) {
        let name = (field ?? "").filter { !$0.isWhitespace }.lowercased()
        switch name {
        case "", "identity": self = .identity
        // RFC 9110 asks recipients to treat “x-gzip” as “gzip”.
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// Returns a decoder; `nil` for bytes that aren't encoded.
    /// - Throws: ``ImageError/Code/outOfMemory``.
    func decoder() throws(ImageError) -> (any ContentDecoding)? {
        switch self {
        case .identity: nil
        case .gzip, .deflate: try ZlibDecoder(self)
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

extension ImageError {
    static let cutCompression = ImageError(
        .incompleteBody, stage: .load, reason: "the compressed response body ends too early")

    static let noMemoryToDecompress = ImageError(
        .outOfMemory, stage: .load, reason: "there is no memory to decompress the response body")

    static func undecodable(_ reason: String) -> ImageError {
        ImageError(
            .badResponse, stage: .load, reason: "the compressed response body can’t be decompressed: \(reason)")
    }
}
#endif
