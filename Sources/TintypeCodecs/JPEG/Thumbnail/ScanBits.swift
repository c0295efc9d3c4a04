/// The bits of a scan in order, where there are branches to wait for anyway: see ``ScanStream`` for the opposite.
struct ScanBits {
    /// The next bits, from the top down.
    private(set) var bits: UInt64 = 0
    /// The number of those that count. The following bits are already right, so that loading them once more changes nothing.
    private var count = 0
    /// The next byte to load.
    private(set) var byte = 0

    /// The next bit, counted from the start of the data.
    var position: Int { byte * 8 - count }

    /// Makes sure of 56 bits.
    @inline(__always)
    mutating func refill(_ data: RawSpan) {
        bits |= UInt64(bigEndian: data.unsafeLoadUnaligned(fromByteOffset: byte, as: UInt64.self)) &>> UInt64(count)
        byte &+= (63 &- count) &>> 3
        count |= 56
    }

    /// - Parameter length: at most 63 bits.
    @inline(__always)
    mutating func skip(_ length: Int) {
        bits &<<= UInt64(length)
        count &-= length
    }

    /// Returns the next 0 to 16 bits as a number.
    @inline(__always)
    mutating func next(_ length: Int) -> Int {
        let value = Int((bits &>> 1) &>> UInt64(63 &- length))
        skip(length)
        return value
    }
}
