internal import Glibc
internal import Synchronization

/// The entries of a memory cache, divided by the hashes of their keys, so that threads that look something up seldom meet.
///
/// Anybody may look up. Entries come and go only under the lock of ``MemoryStore``, which is taken before that of a shard,
/// never after it; so what the store knows of its entries stays true while it works.
final class MemoryShards: Sendable {
    /// Where an entry is.
    struct Place {
        var shard: Int32
        var cell: MemoryShard.Index
    }

    private let shards: StripedLock<MemoryShard>
    private let mask: UInt64
    /// A bit for each shard that has notes of uses.
    private let noted = Atomic<UInt64>(0)

    init() {
        // Four for each processor: two threads out of so many meet in one shard once in some hundred lookups.
        let wanted = 4 * max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))
        var count = 8
        while count < wanted, count < 64 { count *= 2 }
        shards = StripedLock(count: count) { MemoryShard() }
        mask = UInt64(count - 1)
    }

    @inline(__always)
    private func shard(_ key: ImageKey) -> Int { Int(key.digest & mask) }

    // MARK: For everybody

    @inline(__always)
    func lookUp(_ key: ImageKey, now: () -> Int64) -> MemoryShard.Lookup {
        let index = shard(key)
        return shards.withLock(index) { shard in
            let count = shard.noteCount
            let result = shard.lookUp(key, now: now)
            if count == 0, shard.noteCount > 0 { noted.bitwiseOr(1 << UInt64(index), ordering: .relaxed) }
            return result
        }
    }

    /// Whether there is an entry for certain, or for certain none; `nil` where that takes a closer look.
    func contains(_ key: ImageKey, now: () -> Int64) -> Bool? {
        shards.withLock(shard(key)) { shard in
            guard let cell = shard.find(key) else { return false }
            guard shard.image(cell) != nil else { return nil }
            let deadline = shard.deadline(cell)
            return deadline == MemoryShard.forever || deadline > now()
        }
    }

    /// Hits and misses of all lookups.
    var counts: (hits: Int, misses: Int) {
        var counts = (hits: 0, misses: 0)
        for index in 0..<shards.count {
            shards.withLock(index) { shard in
                counts.hits += shard.hits
                counts.misses += shard.misses
            }
        }
        return counts
    }

    // MARK: For the store

    /// Where the entry of a key is, and what slot it has.
    func find(_ key: ImageKey) -> (place: Place, slot: Slot)? {
        let index = shard(key)
        return shards.withLock(index) { shard in
            shard.find(key).map { (Place(shard: Int32(index), cell: $0), shard.slot($0)) }
        }
    }

    func insert(_ key: ImageKey, _ image: Image.Storage?, deadline: Int64, slot: Slot) -> Place {
        let index = shard(key)
        return shards.withLock(index) { shard in
            Place(shard: Int32(index), cell: shard.insert(key, image, deadline: deadline, slot: slot))
        }
    }

    /// Puts another entry of the same key in the place of one; the image of that is the caller's to release.
    func replace(_ place: Place, _ image: Image.Storage?, deadline: Int64, slot: Slot) -> Image.Storage? {
        withShard(place) { $0.replace(place.cell, image, deadline: deadline, slot: slot) }
    }

    func image(_ place: Place) -> Image.Storage? { withShard(place) { $0.image(place.cell) } }

    /// Takes the image out of an entry, which stays.
    func takeImage(_ place: Place) -> Image.Storage? { withShard(place) { $0.takeImage(place.cell) } }

    /// Removes an entry; the image is the caller's to release.
    func remove(_ place: Place) -> Image.Storage? { withShard(place) { $0.remove(place.cell) } }

    func countHit(_ key: ImageKey) { shards.withLock(shard(key)) { $0.countHit() } }
    func countMiss(_ key: ImageKey) { shards.withLock(shard(key)) { $0.countMiss() } }

    /// Moves the notes of all uses to the end of an array, in no order.
    func takeUses(_ uses: inout [MemoryShard.Use]) {
        var remaining = noted.exchange(0, ordering: .relaxed)
        while remaining != 0 {
            let index = remaining.trailingZeroBitCount
            remaining &= remaining - 1
            shards.withLock(index) { $0.takeUses(&uses) }
        }
    }

    @inline(__always)
    private func withShard<Result>(_ place: Place, _ body: (inout MemoryShard) -> Result) -> Result {
        shards.withLock(Int(place.shard), body)
    }
}
