#if JXL
internal import CBrotli
internal import FoundationEssentials

/// Small Brotli streams (RFC 7932) whose unpacked length is not known.
enum BrotliStream {
    private static let blockBytes = 65_536

    /// Unpacks a stream.
    /// - Returns: `nil` if the stream is damaged, cut off or empty, and if it unpacks to more than `maximumBytes`.
    static func unpack(_ stream: UnsafeRawBufferPointer, maximumBytes: Int) -> Data? {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { return nil }
        defer { BrotliDecoderDestroyInstance(state) }
        var input = stream.bindMemory(to: UInt8.self).baseAddress
        var available = stream.count
        var bytes = Data()
        var block = [UInt8](repeating: 0, count: blockBytes)
        while true {
            let (result, room) = block.withUnsafeMutableBufferPointer { buffer in
                var (output, room) = (buffer.baseAddress, buffer.count)
                return (BrotliDecoderDecompressStream(state, &available, &input, &room, &output, nil), room)
            }
            bytes += block.dropLast(room)
            guard bytes.count <= maximumBytes else { return nil }
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS: return bytes.isEmpty ? nil : bytes
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
            default: return nil
            }
        }
    }
}
#endif
