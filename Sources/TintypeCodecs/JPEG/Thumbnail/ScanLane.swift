internal import CKernels

/// A stream with the part of the scan that it decodes, and its place for records.
struct ScanLane {
    var stream = ScanStream()
    /// The first record ends at `top`, and the last starts at `low` or above.
    let top: Int
    let low: Int
    /// The number of records that there is room for.
    let capacity: Int
    private let recordSize: Int
    /// The bits of the part. For a guess, the start moves to the MCU that was found.
    var begin = 0
    var end = 0
    /// The coefficients that don't fit into a byte.
    var large: [ccoefficients_large] = []
    /// True if a code was met that doesn't exist.
    var hasFailed = false
    /// The number of complete MCUs that count: none if another stream has taken the part over.
    var mcus = 0

    /// Entries store up to this number of bytes below the record that they are for.
    private static let margin = 128
    /// No more coefficients than these may be large; a picture has few.
    private static let mostLarge = 1 << 15

    /// - Parameters:
    ///   - records: where the records are.
    ///   - recordSize: see ``BlockFormat/recordSize(last:)``.
    init(records: Range<Int>, recordSize: Int) {
        self.recordSize = recordSize
        top = records.upperBound
        low = records.lowerBound + Self.margin
        capacity = (top - low) / recordSize
    }

    /// The number of complete records.
    var records: Int { (top - stream.recordEnd) / recordSize }
    private var room: Int { capacity - records }

    /// Starts at a bit, as if an MCU did.
    mutating func restart(at bit: Int) {
        stream.byte = bit >> 3
        stream.bit = UInt64(bit & 7)
        stream.state = ScanCoding.beginning(of: 0)
        stream.base = UInt64(EntropyTables.base(coding: 0, .difference))
        stream.out = top
        large.removeAll(keepingCapacity: true)
        hasFailed = false
    }

    /// Forgets the records so far.
    mutating func forget() {
        stream.out = top + 256 * stream.block
        large.removeAll(keepingCapacity: true)
    }

    /// The groups of lookups that may be done before the stream can pass a bit, or runs out of room.
    func groups(to bit: Int) -> Int {
        max(0, min((bit - stream.position) / ScanStream.groupBits, room / 3 - 8))
    }

    /// Decodes a single symbol, of any length.
    /// - Returns: false if the code is invalid, or something else is wrong.
    @inline(never)
    mutating func step(_ coding: ScanCoding, _ data: RawSpan, _ records: inout MutableRawSpan) -> Bool {
        let block = stream.block
        // -1 at the start of a block.
        let position = ~stream.state - block << 8
        let end = stream.recordEnd
        guard stream.byte >= 0, stream.byte + 8 <= data.byteCount, room > 0 else { return false }
        let bits =
            UInt64(bigEndian: data.unsafeLoadUnaligned(fromByteOffset: stream.byte, as: UInt64.self)) << stream.bit
        guard let symbol = coding.symbol(at: bits, block: block, isDifference: position < 0) else { return false }
        let (run, size) = (symbol.value >> 4, symbol.value & 15)
        guard size <= (position < 0 ? 11 : 10) else { return false }
        var next = position + run + 1
        if position >= 0, size == 0 {
            // Of the symbols without a value, these two have a meaning (F.1.2.2.1).
            guard run == 0 || run == 15 else { return false }
            if run == 0 { next = position + EntropyTables.endOfBlock }
        }
        guard next <= 63 || size == 0 && run == 0 else { return false }
        // As in ``ScanStream``, the coefficients behind are zero until they come: so many as a record has at most, and ``margin`` allows.
        if next <= 63 {
            let zeros = SIMD4<UInt64>(repeating: 0)
            records.storeBytes(of: zeros, toByteOffset: end - 1 - position - 32, as: SIMD4<UInt64>.self)
        }
        if size > 0, next <= coding.last[block] {
            let bits = Int((bits << UInt64(symbol.length)) >> UInt64(64 - size))
            let value = EntropyTables.extended(bits, size)
            if let byte = Int8(exactly: value) {
                records.storeBytes(of: byte, toByteOffset: end - 1 - next, as: Int8.self)
            } else {
                guard large.count < Self.mostLarge else { return false }
                large.append(
                    ccoefficients_large(record: Int32(self.records), position: Int16(next), value: Int16(value)))
            }
        }
        let step = coding.steps[~(block << 8 + min(next, 255)) & (ScanCoding.stepCount - 1)]
        stream.base = step & 0xFFFF
        stream.state = Int(Int16(truncatingIfNeeded: step >> 16))
        stream.out += Int(Int32(truncatingIfNeeded: step >> 32))
        let used = Int(stream.bit) + symbol.length + size
        stream.byte += used >> 3
        stream.bit = UInt64(used & 7)
        return true
    }
}
