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

    mutating func value(_ value: (some Collection<UInt8>)?) {
        integer(value.map { UInt32(clamping: $0.count) } ?? .max)
        if let value { bytes.append(contentsOf: value) }
    }
}

/// Reads the bytes of a ``ByteWriter``. Where they end too early, all further values are zero or `nil`.
struct ByteReader {
    private var rest: UnsafeRawBufferPointer
    /// False if the bytes ended too early.
    private(set) var isComplete = true

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        isComplete = isComplete && count <= rest.count
        guard isComplete else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count)) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value {
        bytes(MemoryLayout<Value>.size).map { Value(littleEndian: $0.loadUnaligned(as: Value.self)) } ?? 0
    }

    mutating func hash() -> UInt128 { UInt128(integer(UInt64.self)) << 64 | UInt128(integer(UInt64.self)) }

    /// The bytes of a string or of data, which may be `nil` themselves.
    mutating func value() -> UnsafeRawBufferPointer? {
        let count = integer(UInt32.self)
        return count == .max ? nil : bytes(Int(count))
    }

    mutating func data() -> Data? { value().map { Data($0) } }

    mutating func string() -> String? { value().map { String(decoding: $0, as: UTF8.self) } }
}
