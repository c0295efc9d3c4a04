/// Decodes a scan of a progressive file (ITU-T T.81, annex G), a row of blocks at a time.
///
/// Of each block, the coefficients that a thumbnail needs are stored where the resampler expects them. Of all others, a bit says if they
/// are zero: that is all that the bits of refinements depend on. These bits are at half the place of the coefficients, for 16 bytes of
/// these at least need 8.
struct ProgressiveScan {
    /// The state between two rows.
    struct State {
        var reader = ScanBits()
        /// The number of blocks to come that have nothing new.
        var run = 0
        /// The last mean of each component.
        var means = SIMD4<Int32>(repeating: 0)
    }

    /// A row of blocks of a component, as places in memory, in bytes.
    struct Row {
        var blocks: Int
        /// The coefficients of the first block, and the distance to the next.
        var place: Int
        var step: Int
        /// The component, as a position in the scan.
        var component = 0
    }

    let header: JPEGScans.Scan
    /// The places of a block's coefficients by position in zigzag order, in bytes. Those that aren't needed have a place that isn't used.
    let places: [Int]
    /// The coefficients of the scan that are needed.
    let needed: UInt64
    /// For each component of the scan.
    let tables: [ProgressiveTable]
    /// The entries of all tables.
    let entries: [UInt32]

    /// No block starts where its reader is beyond this byte: that is up to 8 bytes ahead.
    private static func limit(_ data: RawSpan) -> Int { data.byteCount - ScanBytes.padding + 8 }

    /// The first bits of coefficients (G.1.2.2).
    @inline(never)
    func readCoefficients(
        _ start: State, _ row: Row, _ data: RawSpan, _ rows: inout MutableRawSpan, _ masks: inout MutableRawSpan
    ) throws(NotForThumbnails) -> State {
        let table = tables[0]
        let (entries, places) = (self.entries.span, self.places.span)
        precondition(entries.count == ProgressiveTable.size && places.count == 64)
        var (reader, run) = (start.reader, start.run)
        let (first, last) = (header.band.lowerBound, header.band.upperBound)
        let shift = Int16(header.missingBits)
        let limit = Self.limit(data)
        var block = 0
        while block < row.blocks {
            if run > 0 {
                let skipped = min(run, row.blocks - block)
                run -= skipped
                block += skipped
                continue
            }
            guard reader.byte <= limit else { throw NotForThumbnails() }
            let values = row.place &+ block &* row.step
            var position = first - 1
            var mask: UInt64 = 0
            while true {
                reader.refill(data)
                var entry = entries[Int(truncatingIfNeeded: reader.bits &>> UInt64(64 - EntropyTables.indexBits))]
                if entry == 0 { entry = try table.entry(&reader) }
                position &+= Int(entry &>> 8 & 31)
                guard entry & ProgressiveTable.hasValue != 0 else {
                    reader.skip(Int(entry & 15))
                    if entry & ProgressiveTable.endsBlock != 0 {
                        run = Int(entry &>> 16)
                        break
                    }
                    // Sixteen zeros, and more to come.
                    guard position < last else { throw NotForThumbnails() }
                    continue
                }
                guard position <= last else { throw NotForThumbnails() }
                mask |= 1 &<< UInt64(position)
                let place = values &+ places[position & 63]
                rows.storeBytes(
                    of: Int16(truncatingIfNeeded: entry &>> 16) &<< shift, toByteOffset: place, as: Int16.self)
                if position == last {
                    // An end that follows is the next block's.
                    reader.skip(Int(entry & 15) &- Int(entry &>> 4 & 15))
                    break
                }
                reader.skip(Int(entry & 15))
                if entry & ProgressiveTable.endsBlock != 0 { break }
            }
            let known = masks.unsafeLoad(fromByteOffset: values &>> 1, as: UInt64.self)
            masks.storeBytes(of: known | mask, toByteOffset: values &>> 1, as: UInt64.self)
            block += 1
        }
        return State(reader: reader, run: run, means: start.means)
    }

    /// Another bit of coefficients (G.1.2.3): of those that aren't zero, and of those that become 1 or -1 by it.
    @inline(never)
    func refineCoefficients(
        _ start: State, _ row: Row, _ data: RawSpan, _ rows: inout MutableRawSpan, _ masks: inout MutableRawSpan
    ) throws(NotForThumbnails) -> State {
        let table = tables[0]
        let (entries, places) = (self.entries.span, self.places.span)
        precondition(entries.count == ProgressiveTable.size && places.count == 64)
        var (reader, run) = (start.reader, start.run)
        let (band, needed, bit) = (header.coefficients, self.needed, Int16(1) &<< Int16(header.missingBits))
        let limit = Self.limit(data)
        for block in 0..<row.blocks {
            let values = row.place &+ block &* row.step
            let known = masks.unsafeLoad(fromByteOffset: values &>> 1, as: UInt64.self)
            let history = known & band
            guard reader.byte <= limit else { throw NotForThumbnails() }
            // The positions that are still ahead, and the positions of new coefficients.
            var ahead = band
            var new: UInt64 = 0
            while run == 0, ahead != 0 {
                reader.refill(data)
                var entry = entries[Int(truncatingIfNeeded: reader.bits &>> UInt64(64 - EntropyTables.indexBits))]
                if entry == 0 { entry = try table.entry(&reader) }
                reader.skip(Int(entry & 15))
                let (zeros, size) = (Int(entry &>> 12 & 15), Int(entry &>> 8 & 15))
                if size == 0, zeros < 15 {
                    run = 1 &<< zeros &+ reader.next(zeros)
                    break
                }
                guard size <= 1 else { throw NotForThumbnails() }
                let isNegative = reader.bits &>> 63 == 0
                reader.skip(size)
                // Passes as many zeros, and arrives at the next: bits of nonzero coefficients come in between.
                var free = ahead & ~known
                for _ in 0..<zeros { free &= free &- 1 }
                let arrived = free & (0 &- free)
                guard arrived != 0 else { throw NotForThumbnails() }
                let passed = arrived | (arrived &- 1)
                Self.correct(&reader, history & ahead & passed, needed, bit, data, values, places, &rows)
                ahead &= ~passed
                guard size == 1 else { continue }
                new |= arrived
                if arrived & needed != 0 {
                    rows.storeBytes(
                        of: isNegative ? 0 &- bit : bit,
                        toByteOffset: values &+ places[arrived.trailingZeroBitCount & 63], as: Int16.self)
                }
            }
            masks.storeBytes(of: known | new, toByteOffset: values &>> 1, as: UInt64.self)
            guard run > 0 else { continue }
            run &-= 1
            Self.correct(&reader, history & ahead, needed, bit, data, values, places, &rows)
        }
        return State(reader: reader, run: run, means: start.means)
    }

    /// Adds a bit to each of some coefficients; the needed coefficients come first.
    @inline(__always)
    private static func correct(
        _ reader: inout ScanBits, _ coefficients: UInt64, _ needed: UInt64, _ bit: Int16, _ data: RawSpan,
        _ values: Int, _ places: Span<Int>, _ rows: inout MutableRawSpan
    ) {
        guard coefficients != 0 else { return }
        reader.refill(data)
        var left = coefficients & needed
        var bits = reader.bits
        while left != 0 {
            if bits &>> 63 != 0 {
                let place = values &+ places[left.trailingZeroBitCount & 63]
                let value = rows.unsafeLoad(fromByteOffset: place, as: Int16.self)
                rows.storeBytes(of: value &+ (value < 0 ? 0 &- bit : bit), toByteOffset: place, as: Int16.self)
            }
            bits &<<= 1
            left &= left &- 1
        }
        let count = coefficients.nonzeroBitCount
        reader.skip(min(count, 32))
        guard count > 32 else { return }
        reader.refill(data)
        reader.skip(count &- 32)
    }

    /// The means of the blocks of some MCUs (G.1.2.1).
    @inline(never)
    func readMeans(
        _ start: State, mcus: Int, _ blocks: Span<Row>, _ data: RawSpan, _ rows: inout MutableRawSpan
    ) throws(NotForThumbnails) -> State {
        var (reader, means) = (start.reader, start.means)
        let (isRefinement, shift) = (header.isRefinement, Int32(header.missingBits))
        let entries = self.entries.span
        let limit = Self.limit(data)
        for mcu in 0..<mcus {
            guard reader.byte <= limit else { throw NotForThumbnails() }
            for index in blocks.indices {
                let block = blocks[index]
                let place = block.place &+ mcu &* block.step
                reader.refill(data)
                var value: Int32
                if isRefinement {
                    value = Int32(rows.unsafeLoad(fromByteOffset: place, as: Int16.self))
                    value |= Int32(truncatingIfNeeded: reader.bits &>> 63) &<< shift
                    reader.skip(1)
                } else {
                    let index = Int(truncatingIfNeeded: reader.bits &>> UInt64(64 - EntropyTables.indexBits))
                    var entry = entries[block.component &* ProgressiveTable.size &+ index]
                    if entry == 0 { entry = try tables[block.component].entry(&reader) }
                    reader.skip(Int(entry & 15))
                    means[block.component] &+= Int32(Int16(truncatingIfNeeded: entry &>> 16))
                    value = means[block.component] &<< shift
                }
                // libjpeg cuts larger values off.
                guard let value = Int16(exactly: value) else { throw NotForThumbnails() }
                rows.storeBytes(of: value, toByteOffset: place, as: Int16.self)
            }
        }
        return State(reader: reader, run: start.run, means: means)
    }
}
