/// The recent uses of entries, sorted by time.
///
/// Its memory is reused, so that a hit that has the records taken allocates nothing.
struct RecentUses {
    private var uses: [MemoryReader.Use] = []
    private var sorted: [MemoryReader.Use] = []
    private var starts = [Int](repeating: 0, count: 257)

    var count: Int { uses.count }
    subscript(position: Int) -> MemoryReader.Use { uses[position] }

    /// Replaces the contents with the records of all processors.
    /// - Complexity: O(n) for n records, times about log₂₅₆ of the time that they span.
    mutating func take(from entries: MemoryEntries) {
        uses.removeAll(keepingCapacity: true)
        entries.takeUses(&uses)
        if uses.count > 32 { sortByDigits() } else { sortByInsertion() }
    }

    private mutating func sortByInsertion() {
        guard uses.count > 1 else { return }
        for end in 1..<uses.count {
            let use = uses[end]
            var position = end
            while position > 0, uses[position - 1].tick > use.tick {
                uses[position] = uses[position - 1]
                position -= 1
            }
            uses[position] = use
        }
    }

    /// Sorts by one byte of the ticks after another, beginning with the lowest.
    private mutating func sortByDigits() {
        let first = uses.reduce(UInt64.max) { min($0, $1.tick) }
        let span = uses.reduce(0) { max($0, $1.tick - first) }
        if sorted.count < uses.count {
            sorted = [MemoryReader.Use](repeating: uses[0], count: uses.capacity)
        }
        var shift: UInt64 = 0
        while shift < 64, span >> shift > 0 {
            for digit in starts.indices { starts[digit] = 0 }
            for use in uses { starts[Int((use.tick - first) >> shift & 255) + 1] += 1 }
            for digit in 1...256 { starts[digit] += starts[digit - 1] }
            for use in uses {
                let digit = Int((use.tick - first) >> shift & 255)
                sorted[starts[digit]] = use
                starts[digit] += 1
            }
            for position in uses.indices { uses[position] = sorted[position] }
            shift += 8
        }
    }
}
