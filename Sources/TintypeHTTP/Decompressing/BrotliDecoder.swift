#if HTTP
internal import CBrotli
internal import TintypeLoading

/// Decompresses Brotli (RFC 7932). The window has at most 16 MB.
final class BrotliDecoder: ContentDecoding {
    private static let blockBytes = 256 * 1_024

    private let state: OpaquePointer
    private let block: UnsafeMutableRawBufferPointer
    private var isAtStart = true
    private var isAtEnd = false

    /// - Throws: ``ImageError/Code/outOfMemory``.
    init() throws(ImageError) {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { throw .noMemoryToDecompress }
        self.state = state
        block = .allocate(byteCount: Self.blockBytes, alignment: 16)
        block.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        BrotliDecoderDestroyInstance(state)
        block.deallocate()
    }

    func decode(
        _ bytes: UnsafeRawBufferPointer, receive: (UnsafeRawBufferPointer) throws(ImageError) -> Void
    ) throws(ImageError) {
        guard !bytes.isEmpty, !isAtEnd else { return }
        isAtStart = false
        var input = bytes.bindMemory(to: UInt8.self).baseAddress
        var available = bytes.count
        while !isAtEnd {
            var output = block.baseAddress?.assumingMemoryBound(to: UInt8.self)
            var room = block.count
            let result = BrotliDecoderDecompressStream(state, &available, &input, &room, &output, nil)
            if room < block.count { try receive(UnsafeRawBufferPointer(rebasing: block[..<(block.count - room)])) }
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS: isAtEnd = true
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: return
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
            default:
                throw .undecodable(String(cString: BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state))))
            }
        }
    }

    func finish() throws(ImageError) {
        guard isAtEnd || isAtStart else { throw .cutCompression }
    }
}
#endif
