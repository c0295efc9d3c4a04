/// The state of a memory cache: entries in slots, found by key and by source, and the policy that evicts them.
///
/// A value without a lock or a clock. Whatever takes an image out hands it back in `discarded`, so that its memory is
/// given back after the lock is left.
struct MemoryStore {
    /// An image that was evicted, and that somebody else may still hold.
    private final class WeakImage {
        weak var storage: Image.Storage?
        init(_ storage: Image.Storage) { self.storage = storage }
    }

    private struct Entry {
        var key: ImageKey
        var place: MemoryEntries.Place
        /// The image, if only somebody else may keep it; else the table has it.
        var held: WeakImage?
        /// The bytes that the entry counts, or would count if it were kept.
        var cost: Int
        /// When the entry ends, in nanoseconds by the clock of the caller.
        var deadline: Int64
    }

    /// The entries as lookups see them.
    private let entries: MemoryEntries
    private var uses = RecentUses()
    private var slots: [Entry?] = []
    private var free: [Slot] = []
    private var policy: ConfiguredEviction
    private var classes: SizeClasses
    /// The slot that was last looked at for having expired.
    private var expiryHand = 0
    /// Whether an entry may have a deadline.
    private var hasDeadlines = false
    /// Entries that only somebody else may keep, the latest first.
    private var heldLinks = SlotLinks()
    private var heldList = SlotList()
    /// The variants of each source; originals are found by their key.
    private var variantLinks = SlotLinks()
    private var variants: [String: SlotList] = [:]

    private(set) var limits: MemoryCache.Configuration
    /// All but hits and misses, which lookups count.
    private var counts = CacheStatistics()
    /// Images that are to be released by the caller, outside of any lock.
    var discarded: [Image.Storage] = []

    init(limits: MemoryCache.Configuration, entries: MemoryEntries) {
        self.limits = limits
        self.entries = entries
        policy = ConfiguredEviction(limits.policy)
        classes = SizeClasses(limits.sizeClasses)
    }

    /// Entries that are reachable only through a weak reference, dead ones included.
    var heldCount: Int { heldList.count }
    var statistics: CacheStatistics {
        var statistics = counts
        (statistics.hits, statistics.misses) = entries.counts
        return statistics
    }

    // MARK: Lookup

    /// Tells the policy of the uses that lookups have noted. Before the policy is asked for anything.
    mutating func noteUses() {
        uses.take(from: entries)
        for position in 0..<uses.count {
            let use = uses[position]
            policy.used(use.slot, times: use.count)
            if !classes.isEmpty { classes.used(use.slot) }
        }
    }

    /// The image under a key for which there was an entry, but not one that lookups can tell all of.
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
            // Somebody held it all the time: it is kept again, as the image it was.
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

    /// - Parameter cost: the bytes that the image counts; `nil` for those of its pixels.
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

    /// The bytes that a key counts: nothing for a name or an ordinary URL, and for a longer one, such as a `data:` URL with the image
    /// in it, both copies that are kept.
    private static func cost(of key: ImageKey) -> Int {
        let bytes = key.source.utf8.count + key.variant.description.utf8.count
        return bytes <= longestFreeKey ? 0 : 2 * bytes
    }

    private static let longestFreeKey = 1_024

    /// Whether an entry whose image had to go stays as long as somebody else holds the image. Its key counts nothing then, so a
    /// long one does not stay.
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

    /// - Returns: false if there was nothing.
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
    mutating func removeExpired(now: () -> Int64) -> CacheSweep {
        noteUses()
        let before = counts
        sweepExpired(slots.count, now: now)
        return CacheSweep(files: before.entries - counts.entries, bytes: before.bytes - counts.bytes)
    }

    /// Looks at the next slots in turn and removes the entries that have expired. With two for each store, expired images
    /// leave memory while others come, and none costs more than O(1).
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

    /// The largest image that is kept.
    private var largestEntry: Int {
        min(limits.capacity, limits.maximumEntryBytes ?? .unlimited, classes.largestEntry ?? .unlimited).bytes
    }

    /// Puts other limits in force. What no longer fits goes at once.
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

    /// Hands all entries to the policy and the size classes that are configured now, in the order in which they would
    /// have had to go.
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

    /// Tells the policy of an entry, and lets go of another one of its size class if there are too many.
    private mutating func addToOrder(_ slot: Slot, key: ImageKey, cost: Int) {
        policy.inserted(slot, key: Int(truncatingIfNeeded: key.digest), cost: cost)
        guard let surplus = classes.inserted(slot, cost: cost) else { return }
        policy.removed(surplus)
        demote(surplus)
    }

    /// Evicts until all limits hold. A purge leaves one image that fits, even if it is over the lower watermark: else
    /// the image that was just stored would be gone at once.
    private mutating func enforceLimits(newcomer: Slot? = nil) {
        let capacity = limits.capacity.bytes
        let maximumCount = max(0, limits.maximumCount ?? .max)
        if counts.bytes > capacity {
            // If the policy turns the newcomer away, nothing else has to go.
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
        // Who trims wants memory back, the few bytes of dead entries too.
        sweepHeld(heldList.count)
    }

    private mutating func evictOne(_ room: Room, newcomer: Slot? = nil) -> Slot? {
        guard let slot = policy.evict(room: room, newcomer: newcomer) else { return nil }
        demote(slot)
        return slot
    }

    /// Keeps an entry no longer than somebody else keeps its image. The policy knows of it.
    private mutating func demote(_ slot: Slot) {
        counts.evictions += 1
        classes.removed(slot)
        let cost = slots[Int(slot)]?.cost ?? 0
        counts.entries -= 1
        counts.bytes -= cost
        // Taken out of the table, so that the reference here is the only one if nobody else has the image.
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

    /// - Parameter old: the entry that was under the key; it has left all lists.
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
        // Lookups find the old image or the new one, never none.
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

    /// Removes an entry of either kind.
    private mutating func remove(_ slot: Slot) {
        leave(slot)
        forget(slot)
    }

    /// Takes an entry of either kind out of the order it is in.
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

    /// Takes a slot that is in no list any more out of the tables.
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

    // MARK: Images that somebody else holds

    private mutating func hold(_ storage: Image.Storage, at slot: Slot) {
        slots[Int(slot)]?.held = WeakImage(storage)
        heldLinks.prepend(slot, to: &heldList)
        sweepHeld(2)
    }

    /// Looks at the entries that were looked at longest ago and removes those whose image is gone. With two for each
    /// one that is added, dead entries never outnumber the living by much, and none costs more than O(1).
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
