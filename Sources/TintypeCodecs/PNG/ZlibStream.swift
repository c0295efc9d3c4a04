internal import CZlib
internal import FoundationEssentials

/// Small zlib streams (RFC 1950) whose unpacked length is not known.
enum ZlibStream {
    /// Unpacks a stream.
    /// - Returns: `nil` if the stream is damaged or unpacks to more than `maximumBytes`.
    static func unpack(_ stream: Slice<UnsafeRawBufferPointer>, maximumBytes: Int) -> Data? {
        let source = UnsafeRawBufferPointer(rebasing: stream).bindMemory(to: UInt8.self)
        guard let base = source.baseAddress else { return nil }
        var capacity = min(max(4_096, source.count * 8), maximumBytes)
        while true {
            var bytes = Data(count: capacity)
            var count = uLong(capacity)
            let status = bytes.withUnsafeMutableBytes { target in
                uncompress(target.bindMemory(to: UInt8.self).baseAddress, &count, base, uLong(source.count))
            }
            if status == Z_OK { return bytes.prefix(Int(count)) }
            guard status == Z_BUF_ERROR, capacity < maximumBytes else { return nil }
            capacity = min(capacity * 4, maximumBytes)
        }
    }

    /// Packs bytes into a stream.
    static func pack(_ bytes: Data) -> Data? {
        var count = compressBound(uLong(bytes.count))
        var stream = Data(count: Int(count))
        let status = stream.withUnsafeMutableBytes { target in
            bytes.withUnsafeBytes { source in
                compress2(
                    target.bindMemory(to: UInt8.self).baseAddress, &count,
                    source.bindMemory(to: UInt8.self).baseAddress, uLong(bytes.count), 9)
            }
        }
        return status == Z_OK ? stream.prefix(Int(count)) : nil
    }
}
