#if HTTP
internal import CZlib
internal import FoundationEssentials
internal import TintypeLoading

/// Decompresses gzip and deflate (RFC 1950 to 1952).
///
/// A gzip body may have several members, whose contents follow each other (RFC 1952, section 2.2). Other bytes after the end, such as the
/// padding that some servers send, are ignored.
final class ZlibDecoder: ContentDecoding {
    private static let blockBytes = 256 * 1_024
    /// A window of 32 kB, with the header of gzip or zlib.
    private static let detectsHeader = 15 + 32

    private let stream: UnsafeMutablePointer<z_stream>
    private let format: ContentCoding.Format
    private let block: UnsafeMutableRawBufferPointer
    /// True after the compressed stream, or a member of it, has ended.
    private var isAtEnd = false
    /// True if no member follows anymore.
    private var hasPadding = false
    /// True if the present member isn't the first.
    private var isContinued = false
    /// True until the first piece has shown that `deflate` means zlib or bare deflate.
    private var isAtStart = true

    /// - Parameter format: `gzip` or `deflate`.
    /// - Throws: ``ImageError/Code/outOfMemory``.
    init(_ format: ContentCoding.Format) throws(ImageError) {
        self.format = format
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard inflateInit2_(stream, Int32(Self.detectsHeader), ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else {
            stream.deallocate()
            throw .noMemoryToDecompress
        }
        block = .allocate(byteCount: Self.blockBytes, alignment: 16)
        block.initializeMemory(as: UInt8.self, repeating: 0)
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
        chooseFormat(firstByte: bytes[0])
        stream.pointee.next_in = UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: Bytef.self))
        stream.pointee.avail_in = uInt(bytes.count)
        defer { stream.pointee.next_in = nil }
        while beginMember() {
            let (status, written) = inflateBlock()
            if status == Z_BUF_ERROR { return }
            guard status == Z_OK || status == Z_STREAM_END else {
                hasPadding = isInMark
                if hasPadding { return }
                throw .undecodable(stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(status)")
            }
            isAtEnd = status == Z_STREAM_END
            if written > 0 { try receive(UnsafeRawBufferPointer(rebasing: block[..<written])) }
            // Room is left in the block only if the input is used up.
            if stream.pointee.avail_in == 0, written < block.count { return }
        }
    }

    func finish() throws(ImageError) {
        guard !isAtEnd, !isAtStart, !hasPadding, !isInMark else { return }
        throw .cutCompression
    }

    /// `deflate` means the zlib format, but some servers send bare deflate. The first byte of zlib's header is the method, 8.
    private func chooseFormat(firstByte: UInt8) {
        guard isAtStart else { return }
        isAtStart = false
        if format == .deflate, firstByte & 0x0F != 8, firstByte != Self.mark { inflateReset2(stream, -15) }
    }

    /// The first of the two bytes at the start of a member.
    private static let mark: UInt8 = 0x1F

    /// True while no more of another member has arrived than its first two bytes. They may be padding.
    private var isInMark: Bool { isContinued && stream.pointee.total_in <= 2 }

    /// Starts another member if the present member has ended.
    /// - Returns: false if there is nothing to decompress.
    private func beginMember() -> Bool {
        guard isAtEnd else { return !hasPadding }
        guard stream.pointee.avail_in > 0, let next = stream.pointee.next_in else { return false }
        guard !hasPadding, format == .gzip, next.pointee == Self.mark, inflateReset2(stream, 15 + 16) == Z_OK else {
            hasPadding = true
            return false
        }
        (isAtEnd, isContinued) = (false, true)
        return true
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
