internal import TintypeImages

/// Reads little-endian numbers in order. A read beyond the end throws ``ImageError/Code/truncatedImage``.
struct LittleEndianReader {
    let bytes: UnsafeRawBufferPointer
    private(set) var offset: Int

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        self.bytes = bytes
        self.offset = min(max(offset, 0), bytes.count)
    }

    var count: Int { bytes.count }
    var remaining: Int { bytes.count - offset }
    var isAtEnd: Bool { offset == bytes.count }

    mutating func byte() throws(ImageError) -> Int {
        guard offset < bytes.count else { throw end() }
        defer { offset += 1 }
        return Int(bytes[offset])
    }

    mutating func uint16() throws(ImageError) -> Int { try byte() | byte() << 8 }
    mutating func uint32() throws(ImageError) -> Int { try uint16() | uint16() << 16 }
    mutating func int32() throws(ImageError) -> Int { Int(Int32(truncatingIfNeeded: try uint32())) }

    mutating func skip(_ count: Int) throws(ImageError) {
        guard count >= 0, count <= remaining else { throw end() }
        offset += count
    }

    mutating func skip(to target: Int) throws(ImageError) { try skip(target - offset) }

    /// The next bytes, which must be there.
    mutating func take(_ count: Int) throws(ImageError) -> UnsafeRawBufferPointer {
        let start = offset
        try skip(count)
        return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
    }

    private func end() -> ImageError { .truncated("the data ends at byte \(bytes.count), in the middle of a block") }
}
