/// The state of a memory cache: entries in slots, found by key and by source, and the policy that evicts them.
///
/// A value without a lock or a clock. Methods that remove an image put it into `discarded`, so that its memory is freed after
/// the lock is released.
struct MemoryStore {
    /// An evicted image that another part of the program may still hold.
    private final class WeakImage {
        weak var storage: Image.Storage?
        init(_ storage: Image.Storage) { self.storage = storage }
    }

    private struct Entry {
        var key: ImageKey
        var place: MemoryEntries.Place
        /// The weak reference to the image of an evicted entry; otherwise the image is in the table.
        var held: WeakImage?
        /// The bytes that the entry counts for, or would count for if its image were kept.
        var cost: Int
        /// The time when the entry expires, in nanoseconds of the caller's clock.
        var deadline: Int64
    }

    /// The table that lookups read.
    private let entries: MemoryEntries
    private var uses = RecentUses()
    private var slots: [Entry?] = []
    private var free: [Slot] = []
    private var policy: ConfiguredEviction
    private var classes: SizeClasses
    /// The slot that was last checked for expiration.
    private var expiryHand = 0
    /// True if any entry may have a deadline.
    private var hasDeadlines = false
    /// Entries with only a weak reference to their image, the latest first.
    private var heldLinks = SlotLinks()
    private var heldList = SlotList()
    /// The variants of each source. Originals are found by their key.
    private var variantLinks = SlotLinks()
    private var variants: [String: SlotList] = [:]

    private(set) var limits: MemoryCache.Configuration
    /// The statistics except hits and misses, which lookups count.
    private var counts = CacheStatistics()
    /// Images that the caller releases, outside of any lock.
    var discarded: [Image.Storage] = []

    init(limits: MemoryCache.Configuration, entries: MemoryEntries) {
        self.limits = limits
        self.entries = entries
        policy = ConfiguredEviction(limits.policy)
        classes = SizeClasses(limits.sizeClasses)
    }

    /// The number of entries with only a weak reference, including those whose image is gone.
    var heldCount: Int { heldList.count }
    var statistics: CacheStatistics {
        var statistics = counts
        (statistics.hits, statistics.misses) = entries.counts
        return statistics
    }

    // MARK: Lookup

    /// Tells the policy about the recorded uses. Called before each decision of the policy.
    mutating func noteUses() {
        uses.take(from: entries)
        for position in 0..<uses.count {
            let use = uses[position]
            policy.used(use.slot, times: use.count)
            if !classes.isEmpty { classes.used(use.slot) }
        }
    }

    /// Returns the image under a key when the quick lookup could not give the complete answer.
    mutating func image(forKey key: ImageKey, now: () -> Int64) -> Image? {
        noteUses()
        guard let (place, slot) = entries.find(key), let storage = live(slot, place, now: now) else {
            if let slot = entries.find(key)?.slot { remove(slot) }
            entries.countMiss()
            return nil
        }
        entries.countHit()
        if slots[Int(slot)]?.held == nil {
            policy.used(slot, times: 1)
            if !classes.isEmpty { classes.used(slot) }
        } else if let entry = slots[Int(slot)], entry.cost <= largestEntry {
            // Another part of the program still holds it: the cache keeps it again, as the same image.
            leave(slot)
            insert(storage, forKey: key, cost: entry.cost, deadline: entry.deadline, replacing: slot)
        }
        return Image(storage: storage)
    }

    func contains(_ key: ImageKey, now: () -> Int64) -> Bool {
        entries.find(key).map { live($0.slot, $0.place, now: now) != nil } ?? false
    }

    private func live(_ slot: Slot, _ place: MemoryEntries.Place, now: () -> Int64) -> Image.Storage? {
        guard let entry = slots[Int(slot)] else { return nil }
        if entry.deadline != MemoryTable.forever, entry.deadline <= now() { return nil }
        return entry.held.map(\.storage) ?? entries.image(place)
    }

    // MARK: Change

    /// - Parameter cost: the bytes that the image counts for; `nil` for the size of its pixels.
    mutating func store(_ image: Image, forKey key: ImageKey, cost: Int? = nil, now: () -> Int64) {
        noteUses()
        let old = entries.find(key)?.slot
        if let old { leave(old) }
        counts.stores += 1
        let deadline = limits.timeToLive.map { Self.sum(now(), $0.inNanoseconds) } ?? MemoryTable.forever
        let cost = Self.sum(max(0, cost ?? image.memoryCost), Self.cost(of: key))
        if cost <= largestEntry {
            insert(image.storage, forKey: key, cost: cost, deadline: deadline, replacing: old)
        } else if keepsWeakReference(key) {
            let slot = makeSlot(key: key, image: nil, cost: cost, deadline: deadline, replacing: old)
            hold(image.storage, at: slot)
        } else if let old {
            forget(old)
        }
        sweepHeld(2)
        sweepExpired(2, now: now)
    }

    /// Returns the bytes that a key counts for: none for a name or an ordinary URL; for a longer one, such as a `data:` URL
    /// that contains the image, the bytes of both stored copies.
    private static func cost(of key: ImageKey) -> Int {
        let bytes = key.source.utf8.count + key.variant.description.utf8.count
        return bytes <= longestFreeKey ? 0 : 2 * bytes
    }

    private static let longestFreeKey = 1_024

    /// Returns true if an evicted entry stays while another part of the program holds its image. The keys of such entries don't
    /// count, so entries with a long key don't stay.
    private func keepsWeakReference(_ key: ImageKey) -> Bool {
        limits.keepsWeakReferences && Self.cost(of: key) == 0
    }

    private static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    private static func sum(_ time: Int64, _ duration: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(duration)
        return overflow ? MemoryTable.forever : sum
    }

    mutating func remove(_ key: ImageKey) -> Bool {
        guard let slot = entries.find(key)?.slot else { return false }
        let existed = isAlive(slot)
        remove(slot)
        return existed
    }

    mutating func removeAll(ofSource source: String) -> Int {
        var count = remove(ImageKey(source: source)) ? 1 : 0
        while let slot = variants[source]?.first {
            if isAlive(slot) { count += 1 }
            remove(slot)
        }
        return count
    }

    private func isAlive(_ slot: Slot) -> Bool {
        guard let entry = slots[Int(slot)] else { return false }
        return entry.held == nil || entry.held?.storage != nil
    }

    /// - Returns: false if there was nothing to remove.
    mutating func removeAll() -> Bool {
        let wasThere = counts.entries > 0 || slots.indices.contains { isAlive(Slot($0)) }
        for case let entry? in slots {
            if let storage = entries.remove(entry.place) { discarded.append(storage) }
        }
        var empty = MemoryStore(limits: limits, entries: entries)
        empty.discarded = discarded
        empty.counts = counts
        empty.counts.entries = 0
        empty.counts.bytes = 0
        self = empty
        return wasThere
    }

    // MARK: Expiry

    /// Removes every entry that has expired.
    mutating func removeExpired(now: () -> Int64) -> CacheUsage {
        noteUses()
        let before = counts
        sweepExpired(slots.count, now: now)
        return CacheUsage(entries: before.entries - counts.entries, bytes: before.bytes - counts.bytes)
    }

    /// Checks the next slots in turn and removes expired entries. Two checks for each store remove expired images gradually, at
    /// O(1) each.
    private mutating func sweepExpired(_ count: Int, now: () -> Int64) {
        guard hasDeadlines, !slots.isEmpty else { return }
        let time = now()
        for _ in 0..<min(count, slots.count) {
            expiryHand = (expiryHand + 1) % slots.count
            guard let entry = slots[expiryHand], entry.deadline <= time else { continue }
            remove(Slot(expiryHand))
        }
    }

    // MARK: Limits

    /// The largest image that can be stored.
    private var largestEntry: Int {
        min(limits.capacity, limits.maximumEntryBytes ?? .unlimited, classes.largestEntry ?? .unlimited).bytes
    }

    /// Applies new limits. Entries that exceed them are evicted at once.
    mutating func change(limits new: MemoryCache.Configuration) {
        noteUses()
        let old = limits
        limits = new
        if new.policy != old.policy || new.sizeClasses != old.sizeClasses { rebuildOrder() }
        let largest = largestEntry
        for slot in slots.indices {
            guard let entry = slots[slot], entry.held == nil, entry.cost > largest else { continue }
            policy.removed(Slot(slot))
            demote(Slot(slot))
        }
        if !limits.keepsWeakReferences {
            while !heldList.isEmpty { remove(heldList.last) }
        }
        enforceLimits()
    }

    /// Passes all entries to the configured policy and size classes, in the order in which they would have been evicted.
    private mutating func rebuildOrder() {
        var order: [Slot] = []
        while let slot = policy.evict(room: Room(bytes: 0, count: 0), newcomer: nil) { order.append(slot) }
        policy = ConfiguredEviction(limits.policy)
        classes = SizeClasses(limits.sizeClasses)
        for _ in slots {
            policy.grow()
            classes.grow()
        }
        for slot in order {
            guard let entry = slots[Int(slot)] else { continue }
            addToOrder(slot, key: entry.key, cost: entry.cost)
        }
    }

    /// Tells the policy about an entry, and evicts another one of its size class if the class is full.
    private mutating func addToOrder(_ slot: Slot, key: ImageKey, cost: Int) {
        policy.inserted(slot, key: Int(truncatingIfNeeded: key.digest), cost: cost)
        guard let surplus = classes.inserted(slot, cost: cost) else { return }
        policy.removed(surplus)
        demote(surplus)
    }

    /// Evicts entries until all limits hold. A purge keeps one image that fits the capacity, even if it exceeds the lower
    /// watermark. Otherwise an image could be evicted as soon as it is stored.
    private mutating func enforceLimits(newcomer: Slot? = nil) {
        let capacity = limits.capacity.bytes
        let maximumCount = max(0, limits.maximumCount ?? .max)
        if counts.bytes > capacity {
            // If the policy rejects the new entry, no other needs to be evicted.
            let first = evictOne(Room(bytes: capacity, count: maximumCount), newcomer: newcomer)
            if first == newcomer, counts.bytes <= capacity { return }
            let target = min(capacity, limits.capacityAfterPurge?.bytes ?? capacity)
            let room = Room(bytes: target, count: maximumCount)
            while counts.bytes > target, counts.entries > 1 || counts.bytes > capacity,
                evictOne(room) != nil
            {}
        }
        let room = Room(bytes: capacity, count: maximumCount)
        while counts.entries > maximumCount, evictOne(room) != nil {}
    }

    mutating func trim(to bytes: Int) {
        noteUses()
        while counts.bytes > bytes, evictOne(Room(bytes: max(0, bytes))) != nil {}
        // A trim also frees the few bytes of entries whose image is gone.
        sweepHeld(heldList.count)
    }

    private mutating func evictOne(_ room: Room, newcomer: Slot? = nil) -> Slot? {
        guard let slot = policy.evict(room: room, newcomer: newcomer) else { return nil }
        demote(slot)
        return slot
    }

    /// Replaces the image of an entry with a weak reference. The policy has already removed the entry.
    private mutating func demote(_ slot: Slot) {
        counts.evictions += 1
        classes.removed(slot)
        let cost = slots[Int(slot)]?.cost ?? 0
        counts.entries -= 1
        counts.bytes -= cost
        // Removed from the table, so that this reference is the only one if no other part of the program holds the image.
        guard let place = slots[Int(slot)]?.place, var storage = entries.takeImage(place) else { return }
        let isWanted = slots[Int(slot)].map { keepsWeakReference($0.key) } ?? false
        if !isWanted || isKnownUniquelyReferenced(&storage) {
            forget(slot)
        } else {
            hold(storage, at: slot)
        }
        discarded.append(storage)
    }

    // MARK: Slots

    /// - Parameter old: the previous entry under the key, which has already been removed from all lists.
    private mutating func insert(
        _ storage: Image.Storage, forKey key: ImageKey, cost: Int, deadline: Int64, replacing old: Slot?
    ) {
        let slot = makeSlot(key: key, image: storage, cost: cost, deadline: deadline, replacing: old)
        counts.entries += 1
        counts.bytes += cost
        addToOrder(slot, key: key, cost: cost)
        enforceLimits(newcomer: slot)
    }

    private mutating func makeSlot(
        key: ImageKey, image: Image.Storage?, cost: Int, deadline: Int64, replacing old: Slot?
    ) -> Slot {
        if deadline != MemoryTable.forever { hasDeadlines = true }
        // Lookups find either the old or the new image at any time.
        if let old, let place = slots[Int(old)]?.place {
            if let storage = entries.replace(place, image, deadline: deadline, slot: old) { discarded.append(storage) }
            slots[Int(old)] = Entry(key: key, place: place, cost: cost, deadline: deadline)
            return old
        }
        let slot = free.popLast() ?? Slot(slots.count)
        let place = entries.insert(key, image, deadline: deadline, slot: slot)
        let entry = Entry(key: key, place: place, cost: cost, deadline: deadline)
        if Int(slot) < slots.count {
            slots[Int(slot)] = entry
        } else {
            slots.append(entry)
            policy.grow()
            classes.grow()
            heldLinks.grow()
            variantLinks.grow()
        }
        if !key.variant.isOriginal { variantLinks.prepend(slot, to: &variants[key.source, default: SlotList()]) }
        return slot
    }

    /// Removes an entry, with or without a weak reference.
    private mutating func remove(_ slot: Slot) {
        leave(slot)
        forget(slot)
    }

    /// Removes an entry from the order of eviction or from the list of weak references.
    private mutating func leave(_ slot: Slot) {
        guard let entry = slots[Int(slot)] else { return }
        if entry.held == nil {
            policy.removed(slot)
            classes.removed(slot)
            counts.entries -= 1
            counts.bytes -= entry.cost
        } else {
            heldLinks.remove(slot, from: &heldList)
        }
    }

    /// Frees a slot that is no longer in any list.
    private mutating func forget(_ slot: Slot) {
        guard let entry = slots[Int(slot)] else { return }
        let key = entry.key
        if let storage = entries.remove(entry.place) { discarded.append(storage) }
        slots[Int(slot)] = nil
        free.append(slot)
        guard !key.variant.isOriginal, var list = variants.removeValue(forKey: key.source) else { return }
        variantLinks.remove(slot, from: &list)
        if !list.isEmpty { variants[key.source] = list }
    }

    // MARK: Weak references

    private mutating func hold(_ storage: Image.Storage, at slot: Slot) {
        slots[Int(slot)]?.held = WeakImage(storage)
        heldLinks.prepend(slot, to: &heldList)
        sweepHeld(2)
    }

    /// Checks the entries that were checked the longest time ago, and removes those whose image is gone. Two checks for each
    /// new entry keep the number of dead entries low, at O(1) each.
    private mutating func sweepHeld(_ count: Int) {
        for _ in 0..<min(count, heldList.count) {
            let slot = heldList.last
            if slots[Int(slot)]?.held?.storage == nil {
                heldLinks.remove(slot, from: &heldList)
                forget(slot)
            } else {
                heldLinks.moveToFront(slot, of: &heldList)
            }
        }
    }
}
