internal import FoundationEssentials
internal import Glibc
internal import TintypeImages

extension Data {
    /// `withUnsafeBytes` with typed throws.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        let result = withUnsafeBytes { bytes in
            Result { () throws(ImageError) -> Value in try body(bytes) }
        }
        return try result.get()
    }
}

extension UnsafeRawBufferPointer {
    /// The big-endian number of two bytes at an offset; `nil` beyond the end.
    func bigEndian16(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return Int(self[offset]) << 8 | Int(self[offset + 1])
    }

    /// The big-endian number of four bytes at an offset; `nil` beyond the end.
    func bigEndian32(at offset: Int) -> Int? {
        guard let high = bigEndian16(at: offset), let low = bigEndian16(at: offset + 2) else { return nil }
        return high << 16 | low
    }

    /// The offset of the first byte of a value, from an offset on.
    /// - Complexity: O(bytes), many at a time.
    func firstIndex(of byte: UInt8, from offset: Int) -> Int? {
        guard let baseAddress, offset < count else { return nil }
        return memchr(baseAddress + offset, Int32(byte), count - offset).map { UnsafeRawPointer($0) - baseAddress }
    }

    /// A copy of a part, which must lie within the buffer.
    func data(_ range: Range<Int>) -> Data { Data(UnsafeRawBufferPointer(rebasing: self[range])) }

    /// A copy of a block of metadata, which must lie within the buffer; `nil` if it is empty, or larger than readers keep.
    func metadataBlock(_ range: Range<Int>) -> Data? {
        range.isEmpty || range.count > ImageMetadata.maximumBlockBytes ? nil : data(range)
    }
}

/// Writes numbers with the high byte first.
enum BigEndian {
    /// The low bytes of a number.
    static func bytes(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
