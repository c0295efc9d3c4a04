internal import Synchronization

/// The entries of a memory cache, which threads can look up without waiting for each other.
///
/// There is a lock for each processor. A lookup takes the lock of the processor it runs on, so there is usually no contention,
/// and the lock's memory stays in the processor's own cache. A thread that changes the table takes all locks. So lookups on two
/// processors share nothing but the image that both find.
///
/// Any thread may look up entries. Entries are inserted and removed only under the lock of ``MemoryStore``, which is always
/// taken before these locks, never after. So the store's knowledge of its entries stays valid while it works, and it may read
/// the table without a lock here.
// Sendable: the table is read under the lock of one processor or of the store, and changed under all of them.
final class MemoryEntries: @unchecked Sendable {
    /// The position of an entry in the table.
    typealias Place = MemoryTable.Index

    /// The result of a quick lookup.
    enum Lookup {
        case hit(Image.Storage)
        /// A hit, after which there are enough records of uses that they should be taken.
        case fullHit(Image.Storage)
        case miss
        /// There is an entry, but it may have expired, or the cache has only a weak reference to its image.
        case unsure
    }

    private let readers: StripedLock<MemoryReader>
    private let stripes = ProcessorStripes()
    private let table: UnsafeMutablePointer<MemoryTable>
    /// A bit for each processor that has recorded uses.
    private let noted = Atomic<UInt64>(0)

    init() {
        readers = StripedLock(count: stripes.count) { MemoryReader() }
        table = .allocate(capacity: 1)
        table.initialize(to: MemoryTable())
    }

    deinit {
        table.deinitialize(count: 1)
        table.deallocate()
    }

    /// The lock to take. The thread may have moved to another processor by then, which does no harm.
    @inline(__always)
    private var reader: Int { stripes.current }

    // MARK: For all threads

    @inline(__always)
    func lookUp(_ key: ImageKey, now: () -> Int64) -> Lookup {
        let index = reader
        return readers.withLock(index) { reader in
            guard let cell = table.pointee.find(key) else {
                reader.misses += 1
                return .miss
            }
            guard let image = table.pointee.image(cell) else { return .unsure }
            let deadline = table.pointee.deadline(cell)
            guard deadline == MemoryTable.forever || deadline > now() else { return .unsure }
            reader.hits += 1
            if reader.noteCount == 0 { noted.bitwiseOr(1 << UInt64(index), ordering: .relaxed) }
            reader.noteUse(cell)
            return reader.isFull ? .fullHit(image) : .hit(image)
        }
    }

    /// Returns true if there is certainly an entry, false if there is certainly none, and `nil` if only the store can tell.
    func contains(_ key: ImageKey, now: () -> Int64) -> Bool? {
        readers.withLock(reader) { _ in
            guard let cell = table.pointee.find(key) else { return false }
            guard table.pointee.image(cell) != nil else { return nil }
            let deadline = table.pointee.deadline(cell)
            return deadline == MemoryTable.forever || deadline > now()
        }
    }

    /// The hits and misses of all lookups.
    var counts: (hits: Int, misses: Int) {
        var counts = (hits: 0, misses: 0)
        for index in 0..<readers.count {
            readers.withLock(index) { reader in
                counts.hits += reader.hits
                counts.misses += reader.misses
            }
        }
        return counts
    }

    func countHit() { readers.withLock(reader) { $0.hits += 1 } }
    func countMiss() { readers.withLock(reader) { $0.misses += 1 } }

    // MARK: For the store

    /// Returns the position of the entry of a key, and its slot.
    func find(_ key: ImageKey) -> (place: Place, slot: Slot)? {
        table.pointee.find(key).map { ($0, table.pointee.slot($0)) }
    }

    func image(_ place: Place) -> Image.Storage? { table.pointee.image(place) }

    func insert(_ key: ImageKey, _ image: Image.Storage?, deadline: Int64, slot: Slot) -> Place {
        readers.withAll { forEach in
            let place = table.pointee.insert(key, image, deadline: deadline, slot: slot)
            let capacity = table.pointee.capacity
            forEach { $0.reserve(capacity) }
            return place
        }
    }

    /// Replaces an entry with another one of the same key, and returns the old image, which the caller releases.
    func replace(_ place: Place, _ image: Image.Storage?, deadline: Int64, slot: Slot) -> Image.Storage? {
        readers.withAll { forEach in
            forEach { $0.dropNote(place) }
            return table.pointee.replace(place, image, deadline: deadline, slot: slot)
        }
    }

    /// Removes and returns the image of an entry, which stays in the table.
    func takeImage(_ place: Place) -> Image.Storage? {
        readers.withAll { forEach in
            forEach { $0.dropNote(place) }
            return table.pointee.takeImage(place)
        }
    }

    /// Removes an entry, and returns its image, which the caller releases.
    func remove(_ place: Place) -> Image.Storage? {
        readers.withAll { forEach in
            forEach { $0.dropNote(place) }
            return table.pointee.remove(place)
        }
    }

    /// Moves the records of all uses to the end of an array, in no particular order.
    func takeUses(_ uses: inout [MemoryReader.Use]) {
        var remaining = noted.exchange(0, ordering: .relaxed)
        while remaining != 0 {
            let index = remaining.trailingZeroBitCount
            remaining &= remaining - 1
            readers.withLock(index) { reader in reader.takeUses(&uses) { table.pointee.slot($0) } }
        }
    }
}
