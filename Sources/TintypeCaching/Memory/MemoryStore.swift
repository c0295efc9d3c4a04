/// The state of a memory cache: a dictionary of entries, and the order of their eviction.
///
/// A value without a lock or a clock. Methods that remove an image put it into `released`, so that its memory is freed after
/// the lock is released.
struct MemoryStore {
    private struct Entry {
        var key: ImageKey
        /// The image; `nil` in a slot that isn't in use.
        var image: Image.Storage?
        /// The bytes that the entry counts for.
        var cost: Int
        /// The time when the entry expires, in nanoseconds of the caller's clock.
        var deadline: Int64
    }

    /// An evicted entry, whose image another part of the program may still hold.
    struct EvictedEntry {
        weak var image: Image.Storage?
        var cost: Int
        var deadline: Int64
    }

    static let forever = Int64.max
    private static let unused = Entry(key: "", image: nil, cost: 0, deadline: forever)
    /// Keys up to this size don't count.
    private static let longestFreeKey = 1_024

    /// By the digest of their keys.
    private var slots: [UInt64: Slot] = [:]
    private var entries = [Entry](repeating: unused, count: EvictionOrder.firstSlot)
    /// The hash of the source of each slot, which an entry that was removed leaves behind.
    private var sources = [UInt64](repeating: 0, count: EvictionOrder.firstSlot)
    private var order: EvictionOrder
    private(set) var evicted: [ImageKey: EvictedEntry] = [:]
    /// The number of changes since `evicted` was last searched for images that are gone.
    private var changesSinceSweep = 0
    /// The slot that was last checked for expiration.
    private var expiryHand = 0

    private(set) var limits: MemoryCache.Configuration
    private(set) var statistics = CacheStatistics()
    /// Images that the caller releases, outside of any lock.
    var released: [Image.Storage?] = []

    init(limits: MemoryCache.Configuration) {
        self.limits = limits
        order = EvictionOrder(limits.policy, room: limits.room)
    }

    // MARK: Lookup

    /// Returns the image of a key if it is there and hasn't expired, and counts the use. Otherwise ``image(forKey:now:)`` finds out more.
    @inline(__always)
    mutating func hit(_ key: ImageKey, now: () -> Int64) -> Image.Storage? {
        guard let slot = find(key), isCurrent(entries[slot].deadline, now: now) else { return nil }
        statistics.hits += 1
        order.use(slot)
        return entries[slot].image
    }

    /// Returns the image of a key, even if it was evicted and is still in use, and counts a hit or a miss.
    mutating func image(forKey key: ImageKey, now: () -> Int64) -> Image.Storage? {
        if let image = hit(key, now: now) { return image }
        guard let entry = evicted[key], let image = entry.image, isCurrent(entry.deadline, now: now) else {
            remove(key)
            statistics.misses += 1
            return nil
        }
        statistics.hits += 1
        // The cache keeps it again, as the same image.
        if entry.cost <= largestEntry {
            evicted[key] = nil
            insert(Entry(key: key, image: image, cost: entry.cost, deadline: entry.deadline))
        }
        return image
    }

    func contains(_ key: ImageKey, now: () -> Int64) -> Bool {
        if let slot = find(key) { return isCurrent(entries[slot].deadline, now: now) }
        guard let entry = evicted[key], entry.image != nil else { return false }
        return isCurrent(entry.deadline, now: now)
    }

    @inline(__always)
    private func find(_ key: ImageKey) -> Slot? {
        guard let slot = slots[key.digest], entries[slot].key == key else { return nil }
        return slot
    }

    private func isCurrent(_ deadline: Int64, now: () -> Int64) -> Bool { deadline == Self.forever || deadline > now() }

    // MARK: Change

    /// - Parameter cost: the bytes that the image counts for; `nil` for the size of its pixels.
    mutating func store(_ image: Image, forKey key: ImageKey, cost: Int? = nil, now: () -> Int64) {
        // Also an entry of another key with the same digest, since a digest has a single slot.
        if let old = slots[key.digest] { remove(entries[old].key) }
        remove(key)
        statistics.stores += 1
        let deadline = limits.timeToLive.map { now() + min($0.inNanoseconds, .max / 4) } ?? Self.forever
        // Sums stay in range, with as many entries as memory can have.
        let cost = min(max(0, cost ?? image.memoryCost), 1 << 40) + Self.cost(of: key)
        let entry = Entry(key: key, image: image.storage, cost: cost, deadline: deadline)
        if cost <= largestEntry { insert(entry) } else { keepWeakly(entry) }
        noteChange()
        sweepExpired(2, now: now)
    }

    /// Returns the bytes that a key counts for: none for a name or an ordinary URL, all for a longer key, such as a `data:` URL
    /// that contains the image.
    private static func cost(of key: ImageKey) -> Int {
        let bytes = key.source.utf8.count + key.variant.description.utf8.count
        return bytes <= longestFreeKey ? 0 : bytes
    }

    private mutating func insert(_ entry: Entry) {
        let slot = order.insert(entry.key.digest, bytes: entry.cost)
        let source = KeyedHash.hash(entry.key.source)
        if slot == entries.count {
            entries.append(entry)
            sources.append(source)
        } else {
            (entries[slot], sources[slot]) = (entry, source)
        }
        slots[entry.key.digest] = slot
        statistics.entries += 1
        statistics.bytes += entry.cost
        enforceSizeClasses()
        enforceLimits(newcomer: slot)
    }

    /// - Returns: false if there was none, or the program no longer holds it.
    @discardableResult mutating func remove(_ key: ImageKey) -> Bool {
        if let slot = find(key) {
            order.remove(slot)
            released.append(take(slot).image)
            return true
        }
        return evicted.removeValue(forKey: key)?.image != nil
    }

    /// - Complexity: O(n) with the number of images, but a scan of hashes: 1 µs among 1,000 images, 4 µs among 10,000, and 30 µs among 100,000.
    ///   Images that were evicted while the program holds them take 7 ns each.
    mutating func removeAll(ofSource source: String) -> Int {
        let hash = KeyedHash.hash(source)
        var keys = evicted.keys.filter { $0.source == source }
        for slot in sources.indices where sources[slot] == hash && entries[slot].key.source == source {
            keys.append(entries[slot].key)
        }
        return keys.count { remove($0) }
    }

    /// - Returns: false if there was nothing to remove.
    mutating func removeAll() -> Bool {
        let wasThere = !slots.isEmpty || evicted.values.contains { $0.image != nil }
        var empty = MemoryStore(limits: limits)
        empty.released = released + entries.map(\.image)
        empty.statistics = statistics
        (empty.statistics.entries, empty.statistics.bytes) = (0, 0)
        self = empty
        return wasThere
    }

    /// Empties a slot that the order no longer has.
    private mutating func take(_ slot: Slot) -> Entry {
        let entry = entries[slot]
        entries[slot] = Self.unused
        slots[entry.key.digest] = nil
        statistics.entries -= 1
        statistics.bytes -= entry.cost
        return entry
    }

    // MARK: Expiry

    /// Removes every entry that has expired.
    mutating func removeExpired(now: () -> Int64) -> CacheUsage {
        let before = statistics
        sweepExpired(entries.count, now: now)
        return CacheUsage(entries: before.entries - statistics.entries, bytes: before.bytes - statistics.bytes)
    }

    /// Checks the next slots in turn and removes expired entries. Two checks for each store remove expired images gradually, at O(1) each.
    private mutating func sweepExpired(_ count: Int, now: () -> Int64) {
        for _ in 0..<min(count, entries.count) {
            expiryHand = (expiryHand + 1) % entries.count
            if !isCurrent(entries[expiryHand].deadline, now: now) { remove(entries[expiryHand].key) }
        }
    }

    // MARK: Limits

    /// The largest image that can be stored; negative without capacity, where an image that counts nothing isn't stored either.
    private var largestEntry: Int {
        guard limits.capacity.bytes > 0 else { return -1 }
        let largestClass = limits.sizeClasses.keys.max() ?? .unlimited
        return max(0, min(limits.capacity, limits.maximumEntryBytes ?? .unlimited, largestClass).bytes)
    }

    /// Applies new limits. Entries that exceed them are evicted at once.
    mutating func change(limits new: MemoryCache.Configuration) {
        limits = new
        order.policy = new.policy
        order.room = new.room
        let largest = largestEntry
        for slot in entries.indices where entries[slot].image != nil && entries[slot].cost > largest { evict(slot) }
        if !limits.keepsWeakReferences {
            for key in evicted.keys { remove(key) }
        }
        enforceSizeClasses()
        enforceLimits()
    }

    /// Evicts entries until all limits hold. A purge keeps a single image that fits the capacity, even if it exceeds the lower
    /// watermark. Otherwise an image could be evicted as soon as it is stored.
    private mutating func enforceLimits(newcomer: Slot? = nil) {
        let room = limits.room
        if statistics.bytes > room.bytes {
            // If the new entry is rejected, no other needs to be evicted.
            let first = evictOne(room, newcomer: newcomer)
            if first == newcomer, statistics.bytes <= room.bytes { return }
            let target = Room(bytes: min(room.bytes, limits.capacityAfterPurge?.bytes ?? room.bytes), count: room.count)
            while statistics.bytes > target.bytes, statistics.entries > 1 || statistics.bytes > room.bytes,
                evictOne(target) != nil
            {}
        }
        while statistics.entries > room.count, evictOne(room) != nil {}
    }

    /// Evicts the least recently used images of each size class that has too many.
    private mutating func enforceSizeClasses() {
        guard !limits.sizeClasses.isEmpty else { return }
        let classes = limits.sizeClasses.sorted { $0.key < $1.key }
        var counts = [Int](repeating: 0, count: classes.count)
        for slot in order.latestFirst {
            let cost = entries[slot].cost
            guard let index = classes.firstIndex(where: { cost <= $0.key.bytes }) else { continue }
            counts[index] += 1
            if counts[index] > classes[index].value { evict(slot) }
        }
    }

    /// Evicts entries until the others use at most half of the capacity under a warning, and a tenth under critical pressure.
    mutating func trim(under level: MemoryPressure.Level) {
        // Without a capacity, the fraction applies to the present size.
        let capacity = limits.capacity == .unlimited ? statistics.bytes : limits.capacity.bytes
        trim(to: capacity / (level == .warning ? 2 : 10))
    }

    mutating func trim(to bytes: Int) {
        while statistics.bytes > bytes, evictOne(Room(bytes: max(0, bytes))) != nil {}
        // A trim also frees the few bytes of entries whose image is gone.
        sweepEvicted()
    }

    private mutating func evictOne(_ room: Room, newcomer: Slot? = nil) -> Slot? {
        guard let slot = order.evict(to: room, newcomer: newcomer) else { return nil }
        demote(slot)
        return slot
    }

    private mutating func evict(_ slot: Slot) {
        order.remove(slot)
        demote(slot)
    }

    /// Replaces an entry that the order no longer has with a weak reference to its image.
    private mutating func demote(_ slot: Slot) {
        var entry = take(slot)
        statistics.evictions += 1
        // Taken from the table, so that this reference is the only reference if no other part of the program holds the image.
        if !isKnownUniquelyReferenced(&entry.image) { keepWeakly(entry) }
        released.append(entry.image)
    }

    // MARK: Weak references

    /// Keeps a weak reference, unless the program doesn't want that. Keys of such entries don't count, so those with a long key don't stay.
    private mutating func keepWeakly(_ entry: Entry) {
        guard limits.keepsWeakReferences, Self.cost(of: entry.key) == 0 else { return }
        evicted[entry.key] = EvictedEntry(image: entry.image, cost: entry.cost, deadline: entry.deadline)
        noteChange()
    }

    /// Searches for images that are gone after half as many changes as there are weak references, so that a change is O(1), amortized.
    private mutating func noteChange() {
        guard !evicted.isEmpty else { return }
        changesSinceSweep += 1
        if changesSinceSweep > evicted.count / 2 { sweepEvicted() }
    }

    private mutating func sweepEvicted() {
        changesSinceSweep = 0
        evicted = evicted.filter { $0.value.image != nil }
    }
}
