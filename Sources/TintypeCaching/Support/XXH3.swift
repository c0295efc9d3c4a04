internal import CXXHash

/// XXH3, whose hashes are the same in every process and on every machine.
enum XXH3 {
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 { tintype_xxh3(bytes.baseAddress, bytes.count) }

    static func hash(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
    }

    static func hash128(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt128 {
        let hash = tintype_xxh3_128(bytes.baseAddress, bytes.count, seed)
        return UInt128(hash.high64) << 64 | UInt128(hash.low64)
    }

    static func hash128(_ text: String, seed: UInt64 = 0) -> UInt128 {
        var text = text
        return text.withUTF8 { hash128(UnsafeRawBufferPointer($0), seed: seed) }
    }

    /// A hash of 128 bits as text.
    static func digest(_ text: String) -> String {
        let hash = hash128(text)
        return String(UInt64(hash >> 64), radix: 36) + "-" + String(UInt64(truncatingIfNeeded: hash), radix: 36)
    }
}
