/// The state of a memory cache: entries in slots, found by key and by source, and the policy that evicts them.
///
/// A value without a lock or a clock. Whatever takes an image out hands it back in `discarded`, so that its memory is
/// given back after the lock is left.
struct MemoryStore<Policy: EvictionPolicy> {
    /// An image that somebody else may still hold after the cache has let go of it.
    private final class HeldImage {
        weak var storage: Image.Storage?
        init(_ storage: Image.Storage) { self.storage = storage }
    }

    private struct Entry {
        var key: ImageKey
        /// The image, if only somebody else may keep it.
        var held: HeldImage?
        var cost: Int
        /// When the entry ends, by the clock of the caller.
        var deadline: Duration?
    }

    /// The images that the cache itself keeps. Apart from the rest of the entries, because a hit needs nothing else of
    /// them.
    private var images: [Image.Storage?] = []
    private var slots: [Entry?] = []
    /// Entries with a deadline; as long as there are none, a hit asks no clock.
    private var timedCount = 0
    private var free: [Slot] = []
    private var table: [ImageKey: Slot] = [:]
    private var policy = Policy()
    /// Entries that only somebody else may keep, the latest first.
    private var heldLinks = SlotLinks()
    private var heldList = SlotList()
    /// The variants of each source; originals are found by their key.
    private var variantLinks = SlotLinks()
    private var variants: [String: SlotList] = [:]

    var limits: MemoryCache.Configuration
    private(set) var statistics = CacheStatistics()
    /// Images that are to be released by the caller, outside of any lock.
    var discarded: [Image.Storage] = []

    init(limits: MemoryCache.Configuration) { self.limits = limits }

    /// Entries that are reachable only through a weak reference, dead ones included.
    var heldCount: Int { heldList.count }

    // MARK: Lookup

    /// What a lookup that has to be quick can tell.
    enum Lookup {
        case hit(Image), miss
        /// There is an entry, but with a deadline, or only somebody else keeps its image.
        case unsure
    }

    @inline(__always)
    mutating func lookUp(_ key: ImageKey) -> Lookup {
        guard let slot = table[key] else {
            statistics.misses += 1
            return .miss
        }
        guard timedCount == 0, let storage = images[Int(slot)] else { return .unsure }
        statistics.hits += 1
        policy.used(slot)
        return .hit(Image(storage: storage))
    }

    /// The image under a key, whatever its entry is like.
    mutating func image(forKey key: ImageKey, now: () -> Duration) -> Image? {
        guard let slot = table[key] else {
            statistics.misses += 1
            return nil
        }
        guard let storage = live(slot, now: now) else {
            remove(slot)
            statistics.misses += 1
            return nil
        }
        statistics.hits += 1
        if images[Int(slot)] != nil {
            policy.used(slot)
        } else if storage.memoryCost <= largestEntry {
            // Somebody held it all the time: it is kept again, as the image it was.
            let deadline = slots[Int(slot)]?.deadline
            remove(slot)
            insert(storage, forKey: key, deadline: deadline)
        }
        return Image(storage: storage)
    }

    func contains(_ key: ImageKey, now: () -> Duration) -> Bool {
        table[key].map { live($0, now: now) != nil } ?? false
    }

    private func live(_ slot: Slot, now: () -> Duration) -> Image.Storage? {
        guard let entry = slots[Int(slot)] else { return nil }
        if let deadline = entry.deadline, deadline <= now() { return nil }
        return images[Int(slot)] ?? entry.held?.storage
    }

    // MARK: Change

    mutating func store(_ image: Image, forKey key: ImageKey, now: () -> Duration) {
        if let old = table[key] { remove(old) }
        statistics.stores += 1
        let deadline = limits.timeToLive.map { now() + $0 }
        if image.memoryCost <= largestEntry {
            insert(image.storage, forKey: key, deadline: deadline)
        } else {
            let slot = makeSlot(key: key, cost: 0, deadline: deadline)
            hold(image.storage, at: slot)
        }
        sweepHeld(2)
    }

    mutating func remove(_ key: ImageKey) -> Bool {
        guard let slot = table[key] else { return false }
        let existed = isAlive(slot)
        remove(slot)
        return existed
    }

    mutating func removeAll(source: String) -> Int {
        var count = remove(ImageKey(source: source)) ? 1 : 0
        while let slot = variants[source]?.first {
            if isAlive(slot) { count += 1 }
            remove(slot)
        }
        return count
    }

    private func isAlive(_ slot: Slot) -> Bool { images[Int(slot)] != nil || slots[Int(slot)]?.held?.storage != nil }

    mutating func removeAll() {
        discarded = images.compactMap { $0 }
        let statistics = statistics
        self = MemoryStore(limits: limits, discarded: discarded)
        self.statistics = statistics
        self.statistics.entries = 0
        self.statistics.bytes = 0
    }

    private init(limits: MemoryCache.Configuration, discarded: [Image.Storage]) {
        self.limits = limits
        self.discarded = discarded
    }

    // MARK: Limits

    /// The largest image that is kept.
    private var largestEntry: Int { min(limits.capacity, limits.maximumEntryBytes ?? limits.capacity).bytes }

    /// Evicts until all limits hold. A purge leaves one image that fits, even if it is over the lower watermark: else
    /// the image that was just stored would be gone at once.
    mutating func enforceLimits() {
        let capacity = limits.capacity.bytes
        if statistics.bytes > capacity {
            let target = min(capacity, limits.capacityAfterPurge?.bytes ?? capacity)
            while statistics.bytes > target, statistics.entries > 1 || statistics.bytes > capacity, evictOne() {}
        }
        if let maximumCount = limits.maximumCount {
            while statistics.entries > max(0, maximumCount), evictOne() {}
        }
    }

    mutating func trim(to bytes: Int) {
        while statistics.bytes > bytes, evictOne() {}
        // Who trims wants memory back, the few bytes of dead entries too.
        sweepHeld(heldList.count)
    }

    private mutating func evictOne() -> Bool {
        guard let slot = policy.victim() else { return false }
        statistics.evictions += 1
        policy.removed(slot)
        let cost = slots[Int(slot)]?.cost ?? 0
        statistics.entries -= 1
        statistics.bytes -= cost
        // Taken out of the slot, so that the reference here is the only one if nobody else has the image.
        guard var storage = images[Int(slot)].take() else { return true }
        if isKnownUniquelyReferenced(&storage) {
            forget(slot)
        } else {
            hold(storage, at: slot)
        }
        discarded.append(storage)
        return true
    }

    // MARK: Slots

    private mutating func insert(_ storage: Image.Storage, forKey key: ImageKey, deadline: Duration?) {
        let cost = storage.memoryCost
        let slot = makeSlot(key: key, cost: cost, deadline: deadline)
        images[Int(slot)] = storage
        statistics.entries += 1
        statistics.bytes += cost
        policy.inserted(slot, cost: cost)
        enforceLimits()
    }

    private mutating func makeSlot(key: ImageKey, cost: Int, deadline: Duration?) -> Slot {
        let entry = Entry(key: key, cost: cost, deadline: deadline)
        let slot: Slot
        if let reused = free.popLast() {
            slot = reused
            slots[Int(slot)] = entry
        } else {
            slot = Slot(slots.count)
            slots.append(entry)
            images.append(nil)
            policy.grow()
            heldLinks.grow()
            variantLinks.grow()
        }
        table[key] = slot
        if deadline != nil { timedCount += 1 }
        if !key.variant.isOriginal { variantLinks.prepend(slot, to: &variants[key.source, default: SlotList()]) }
        return slot
    }

    /// Removes an entry of either kind.
    private mutating func remove(_ slot: Slot) {
        guard let entry = slots[Int(slot)] else { return }
        if let storage = images[Int(slot)].take() {
            policy.removed(slot)
            statistics.entries -= 1
            statistics.bytes -= entry.cost
            discarded.append(storage)
        } else {
            heldLinks.remove(slot, from: &heldList)
        }
        forget(slot)
    }

    /// Takes a slot that is in no list any more out of the tables.
    private mutating func forget(_ slot: Slot) {
        guard let entry = slots[Int(slot)] else { return }
        let key = entry.key
        if entry.deadline != nil { timedCount -= 1 }
        slots[Int(slot)] = nil
        free.append(slot)
        table[key] = nil
        guard !key.variant.isOriginal, var list = variants.removeValue(forKey: key.source) else { return }
        variantLinks.remove(slot, from: &list)
        if !list.isEmpty { variants[key.source] = list }
    }

    // MARK: Images that somebody else holds

    private mutating func hold(_ storage: Image.Storage, at slot: Slot) {
        slots[Int(slot)]?.held = HeldImage(storage)
        slots[Int(slot)]?.cost = 0
        heldLinks.prepend(slot, to: &heldList)
        sweepHeld(2)
    }

    /// Looks at the entries that were looked at longest ago and forgets those whose image is gone. With two for each
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
