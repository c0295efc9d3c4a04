#if HTTP
internal import CZlib
internal import FoundationEssentials
internal import TintypeCore

/// A content coding of HTTP that can be decoded (RFC 9110, section 8.4.1).
enum ContentCoding {
    case identity
    case gzip
    case deflate

    /// - Parameter field: the value of `Content-Encoding`.
    /// - Returns: `nil` for a coding that cannot be decoded, or for several.
    init?(_ field: String?) {
        let name = (field ?? "").filter { !$0.isWhitespace }.lowercased()
        switch name {
        case "", "identity": self = .identity
        // RFC 9110 asks recipients to treat “x-gzip” as “gzip”.
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }
}

/// Decompresses a body piece by piece.
///
/// The memory that decompression takes does not depend on the ratio: the output comes in blocks, and the receiver can stop at its limit.
final class ContentDecoder {
    private static let blockBytes = 256 * 1_024
    /// A window of 32 kB, with the header of gzip or zlib.
    private static let detectsHeader = 15 + 32

    private let stream: UnsafeMutablePointer<z_stream>
    private let coding: ContentCoding
    private let block: UnsafeMutableRawBufferPointer
    private var isAtEnd = false
    /// True until the first piece has shown that `deflate` means zlib or bare deflate.
    private var isAtStart = true

    /// - Parameter coding: `gzip` or `deflate`.
    /// - Throws: ``ImageError/Code/outOfMemory``.
    init(_ coding: ContentCoding) throws(ImageError) {
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard inflateInit2_(stream, Int32(Self.detectsHeader), ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else {
            stream.deallocate()
            throw ImageError(.outOfMemory, stage: .load, reason: "there is no memory to decompress the response body")
        }
        block = .allocate(byteCount: Self.blockBytes, alignment: 16)
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        block.deallocate()
    }

    /// Decompresses a piece.
    /// - Parameters:
    ///   - bytes: the next compressed bytes.
    ///   - receive: called with decompressed bytes, a block at a time.
    /// - Throws: ``ImageError/Code/badResponse`` if the bytes break the format, and the errors of `receive`.
    func decode(
        _ bytes: UnsafeRawBufferPointer, receive: (UnsafeRawBufferPointer) throws(ImageError) -> Void
    ) throws(ImageError) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        // What follows the end of the compressed stream is not part of the image, as with padding that some servers send.
        guard !isAtEnd else { return }
        chooseFormat(firstByte: bytes[0])
        stream.pointee.next_in = UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: Bytef.self))
        stream.pointee.avail_in = uInt(bytes.count)
        defer { stream.pointee.next_in = nil }
        while !isAtEnd {
            let (status, written) = inflateBlock()
            if status == Z_BUF_ERROR { return }
            guard status == Z_OK || status == Z_STREAM_END else {
                throw Self.failure(stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(status)")
            }
            isAtEnd = status == Z_STREAM_END
            if written > 0 { try receive(UnsafeRawBufferPointer(rebasing: block[..<written])) }
            // Room is left in the block only if the input is used up.
            if stream.pointee.avail_in == 0, written < block.count { return }
        }
    }

    /// Checks at the end of the body that the compressed stream has ended too.
    /// - Throws: ``ImageError/Code/incompleteBody``.
    func finish() throws(ImageError) {
        guard !isAtEnd, !isAtStart else { return }
        throw ImageError(.incompleteBody, stage: .load, reason: "the compressed response body ends too early")
    }

    /// `deflate` means the zlib format, but some servers send bare deflate. The first byte of zlib's header is the method, 8.
    private func chooseFormat(firstByte: UInt8) {
        guard isAtStart else { return }
        isAtStart = false
        if coding == .deflate, firstByte & 0x0F != 8, firstByte != 0x1F { inflateReset2(stream, -15) }
    }

    private func inflateBlock() -> (status: Int32, written: Int) {
        stream.pointee.next_out = block.baseAddress?.assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_out = uInt(block.count)
        let status = inflate(stream, Z_NO_FLUSH)
        stream.pointee.next_out = nil
        return (status, block.count - Int(stream.pointee.avail_out))
    }

    private static func failure(_ reason: String) -> ImageError {
        ImageError(
            .badResponse, stage: .load, reason: "the compressed response body can’t be decompressed: \(reason)")
    }
}
#endif
