#if AVIF || HEIF
internal import TintypeImages

/// Reads consecutive big-endian numbers of a box. A read beyond its end throws ``ImageError/Code/corruptImage``, because a box
/// states its own length.
struct BoxReader {
    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var remaining: Int { bytes.count - offset }
    var isAtEnd: Bool { remaining == 0 }

    mutating func uint8() throws(ImageError) -> Int { Int(try take(1)[0]) }
    mutating func uint16() throws(ImageError) -> Int { try number(2) }
    mutating func uint32() throws(ImageError) -> Int { try number(4) }
    mutating func int32() throws(ImageError) -> Int { Int(Int32(truncatingIfNeeded: try number(4))) }

    /// Eight bytes; those that stand for more than `Int.max` become that.
    mutating func uint64() throws(ImageError) -> Int {
        let high = try number(4)
        let low = try number(4)
        return high < 1 << 31 ? high << 32 | low : .max
    }

    /// Four letters.
    mutating func letters() throws(ImageError) -> String { String(decoding: try take(4), as: UTF8.self) }

    /// The version and the flags that a full box starts with (ISO/IEC 14496-12, section 4.2).
    mutating func fullBox() throws(ImageError) -> (version: Int, flags: Int) {
        let word = try uint32()
        return (word >> 24, word & 0xFF_FFFF)
    }

    mutating func skip(_ count: Int) throws(ImageError) { _ = try take(count) }

    /// The next bytes, which must be there.
    mutating func take(_ count: Int) throws(ImageError) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else {
            throw .corrupt("a box of the file ends in the middle of its fields")
        }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    private mutating func number(_ count: Int) throws(ImageError) -> Int {
        try take(count).reduce(0) { $0 << 8 | Int($1) }
    }
}
#endif
