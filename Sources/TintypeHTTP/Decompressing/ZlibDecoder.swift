#if HTTP
internal import CZlib
internal import FoundationEssentials
internal import TintypeCore

/// Decompresses gzip and deflate (RFC 1950 to 1952).
final class ZlibDecoder: ContentDecoding {
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
            throw .noMemoryToDecompress
        }
        block = .allocate(byteCount: Self.blockBytes, alignment: 16)
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        block.deallocate()
    }

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
                throw .undecodable(stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(status)")
            }
            isAtEnd = status == Z_STREAM_END
            if written > 0 { try receive(UnsafeRawBufferPointer(rebasing: block[..<written])) }
            // Room is left in the block only if the input is used up.
            if stream.pointee.avail_in == 0, written < block.count { return }
        }
    }

    func finish() throws(ImageError) {
        guard !isAtEnd, !isAtStart else { return }
        throw .cutCompression
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
}
#endif
