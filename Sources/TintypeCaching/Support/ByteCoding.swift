internal import FoundationEssentials

/// Appends numbers and strings. The length of a string or data that is `nil` has all bits set.
struct ByteWriter {
    var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(512) }

    mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends the high half of a hash, and then the low one.
    mutating func hash(_ value: UInt128) {
        integer(UInt64(value >> 64))
        integer(UInt64(truncatingIfNeeded: value))
    }

    mutating func data(_ value: Data?) {
        integer(value.map { UInt32(clamping: $0.count) } ?? .max)
        if let value { bytes.append(contentsOf: value) }
    }

    mutating func string(_ value: String?) {
        integer(value.map { UInt32(clamping: $0.utf8.count) } ?? .max)
        if let value { bytes.append(contentsOf: value.utf8) }
    }
}

/// Reads the bytes of a ``ByteWriter``; `nil` where they end too early.
struct ByteReader {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count <= rest.count else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count)) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        bytes(MemoryLayout<Value>.size).map { Value(littleEndian: $0.loadUnaligned(as: Value.self)) }
    }

    mutating func hash() -> UInt128? {
        guard let high = integer(UInt64.self), let low = integer(UInt64.self) else { return nil }
        return UInt128(high) << 64 | UInt128(low)
    }

    /// The outer optional tells whether the bytes suffice, the inner one is the value.
    private mutating func value() -> UnsafeRawBufferPointer?? {
        guard let count = integer(UInt32.self) else { return nil }
        if count == .max { return .some(nil) }
        return bytes(Int(count)).map { .some($0) }
    }

    /// False if the value is not complete.
    mutating func skip() -> Bool { value() != nil }

    mutating func data() -> Data?? { value().map { $0.map { Data($0) } } }

    mutating func string() -> String?? { value().map { $0.map { String(decoding: $0, as: UTF8.self) } } }
}
