/// A place, out of several, of a scan that are decoded in turns, so that a processor has something to do while it waits for a table: a
/// lookup takes about 20 cycles, and its successor needs the length that it finds.
///
/// A record is 16 or 32 bytes, with coefficient k of a block at byte k before its end, as far as it's needed. Records are written downwards, so
/// that an entry's excess is overwritten by the next entry.
struct ScanStream {
    /// The place of the next bit.
    var byte = 0
    var bit: UInt64 = 0
    /// The end of the record, plus 256 for each block of the MCU before it: the inverted state takes those off again.
    var out = 0
    /// The next table.
    var base: UInt64 = 0
    /// The block of the MCU and the last coefficient, inverted: see ``ScanCoding``.
    var state = 0

    /// The next bit, counted from the start of the data.
    var position: Int { byte * 8 + Int(bit) }
    var isAtMCU: Bool { state == 0 }
    var block: Int { (~state + 1) >> 8 }
    /// The end of the next record, or of the present record.
    var recordEnd: Int { out - 256 * block }

    /// The most bits that a group of lookups takes, also if a single symbol takes the place of the last.
    static let groupBits = 72
    /// The number of lookups of a group: the symbols of three fit into 64 bits.
    private static let lookups = 3

    /// Does three lookups.
    /// - Parameter isLong: true if records have 32 bytes.
    /// - Returns: false if a stream met a symbol that no entry holds; the symbols before it are done.
    @inline(__always)
    mutating func advance(
        _ data: RawSpan, _ entries: Span<UInt64>, _ steps: Span<UInt64>, _ records: inout MutableRawSpan, isLong: Bool
    ) -> Bool {
        var bits = UInt64(bigEndian: data.unsafeLoadUnaligned(fromByteOffset: byte, as: UInt64.self)) &<< bit
        var used = bit
        for lookup in 0..<Self.lookups {
            let index = UInt16(truncatingIfNeeded: base | bits &>> UInt64(64 - EntropyTables.indexBits))
            let entry = entries[Int(index)]
            let next = state &- Int(UInt8(truncatingIfNeeded: entry &>> 8))
            // A position of 64 to 127 in a block is none: the entry is unusable, or goes beyond the end.
            if next & 64 == 0 {
                finish(used)
                return false
            }
            let values = SIMD2<UInt64>(0, entry & ~0xFFFF)
            records.storeBytes(of: values, toByteOffset: out &+ state &- 16, as: SIMD2<UInt64>.self)
            if isLong {
                records.storeBytes(of: SIMD2(0, 0), toByteOffset: out &+ state &- 32, as: SIMD2<UInt64>.self)
            }
            used &+= entry
            if lookup < Self.lookups - 1 { bits = bits &<< (entry & 63) }
            let step = steps[next & (ScanCoding.stepCount - 1)]
            base = step & 0xFFFF
            state = Int(Int16(truncatingIfNeeded: step &>> 16))
            out &+= Int(Int32(truncatingIfNeeded: step &>> 32))
        }
        finish(used)
        return true
    }

    @inline(__always)
    private mutating func finish(_ used: UInt64) {
        // Lengths were added up with everything else that entries hold. Theirs is the lowest byte.
        byte &+= Int(UInt8(truncatingIfNeeded: used) &>> 3)
        bit = used & 7
    }
}

/// Streams that run in turns, for some groups of lookups, or until one meets a symbol that no entry holds.
///
/// The streams are copied to variables, and the sizes of tables are checked before the loop. Then no index of 16 bits needs a check, and
/// states stay in registers.
struct ScanLoop {
    var a: ScanStream, b = ScanStream(), c = ScanStream()
    /// The number of groups that are left.
    var left: Int
    /// The stream that has met such a symbol.
    var stopped: Int?

    /// - Parameter count: the number of streams, a constant: each has a loop of its own.
    @inline(__always)
    func run(
        _ count: Int, _ data: RawSpan, _ entries: Span<UInt64>, _ steps: Span<UInt64>,
        _ records: inout MutableRawSpan, isLong: Bool
    ) -> ScanLoop {
        precondition(entries.count == EntropyTables.size && steps.count == ScanCoding.stepCount)
        var records = records._mutatingExtracting(...)
        var (a, b, c, left) = (a, b, c, left)
        while left > 0 {
            left &-= 1
            guard a.advance(data, entries, steps, &records, isLong: isLong) else {
                return ScanLoop(a: a, b: b, c: c, left: left, stopped: 0)
            }
            guard count < 2 || b.advance(data, entries, steps, &records, isLong: isLong) else {
                return ScanLoop(a: a, b: b, c: c, left: left, stopped: 1)
            }
            guard count < 3 || c.advance(data, entries, steps, &records, isLong: isLong) else {
                return ScanLoop(a: a, b: b, c: c, left: left, stopped: 2)
            }
        }
        return ScanLoop(a: a, b: b, c: c, left: left, stopped: nil)
    }
}
