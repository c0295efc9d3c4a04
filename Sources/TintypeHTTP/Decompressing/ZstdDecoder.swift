#if HTTP
internal import CZstd
internal import TintypeLoading

/// Decompresses Zstandard (RFC 8878), with windows up to 8 MB (RFC 9659).
final class ZstdDecoder: ContentDecoding {
    private static let blockBytes = 256 * 1_024
    private static let maximumWindowLog: Int32 = 23

    private let stream: OpaquePointer
    private let block: UnsafeMutableRawBufferPointer
    private var isAtStart = true
    /// True between frames; a body may have several.
    private var isAtEnd = false

    /// - Throws: ``ImageError/Code/outOfMemory``.
    init() throws(ImageError) {
        guard let stream = ZSTD_createDStream() else { throw .noMemoryToDecompress }
        self.stream = stream
        ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.maximumWindowLog)
        block = .allocate(byteCount: Self.blockBytes, alignment: 16)
        block.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        ZSTD_freeDStream(stream)
        block.deallocate()
    }

    func decode(
        _ bytes: UnsafeRawBufferPointer, receive: (UnsafeRawBufferPointer) throws(ImageError) -> Void
    ) throws(ImageError) {
        guard !bytes.isEmpty else { return }
        isAtStart = false
        var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        while true {
            var output = ZSTD_outBuffer(dst: block.baseAddress, size: block.count, pos: 0)
            let start = input.pos
            let status = ZSTD_decompressStream(stream, &output, &input)
            guard ZSTD_isError(status) == 0 else { throw .undecodable(String(cString: ZSTD_getErrorName(status))) }
            if output.pos > 0 { try receive(UnsafeRawBufferPointer(rebasing: block[..<output.pos])) }
            isAtEnd = status == 0
            // After the end of a frame, a call without bytes would ask for another frame.
            if isAtEnd, input.pos == input.size { return }
            // Room is left in the block only if the input is used up.
            if input.pos == input.size, output.pos < output.size { return }
            guard input.pos > start || output.pos > 0 else { throw .undecodable("no progress") }
        }
    }

    func finish() throws(ImageError) {
        guard isAtEnd || isAtStart else { throw .cutCompression }
    }
}
#endif
