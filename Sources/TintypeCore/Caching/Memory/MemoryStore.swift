/// The state of a memory cache: entries in slots, found by key and by source, and the policy that evicts them.
///
/// A value without a lock or a clock. Whatever takes an image out hands it back in `discarded`, so that its memory is
/// given back after the lock is left.
struct MemoryStore {
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
    private var policy: ConfiguredEviction
    private var classes: SizeClasses
    /// Entries that only somebody else may keep, the latest first.
    private var heldLinks = SlotLinks()
    private var heldList = SlotList()
    /// The variants of each source; originals are found by their key.
    private var variantLinks = SlotLinks()
    private var variants: [String: SlotList] = [:]

    private(set) var limits: MemoryCache.Configuration
    private(set) var statistics = CacheStatistics()
    /// Images that are to be released by the caller, outside of any lock.
    var discarded: [Image.Storage] = []

    init(limits: MemoryCache.Configuration) {
        self.limits = limits
        policy = ConfiguredEviction(limits.policy)
        classes = SizeClasses(limits.sizeClasses)
    }

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
        if !classes.isEmpty { classes.used(slot) }
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
            if !classes.isEmpty { classes.used(slot) }
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
        discarded += images.compactMap { $0 }
        let statistics = statistics
        let discarded = discarded
        self = MemoryStore(limits: limits)
        self.discarded = discarded
        self.statistics = statistics
        self.statistics.entries = 0
        self.statistics.bytes = 0
    }

    // MARK: Limits

    /// The largest image that is kept.
    private var largestEntry: Int {
        min(limits.capacity, limits.maximumEntryBytes ?? .unlimited, classes.largestEntry ?? .unlimited).bytes
    }

    /// Puts other limits in force. What no longer fits goes at once.
    mutating func change(limits new: MemoryCache.Configuration) {
        let old = limits
        limits = new
        if new.policy != old.policy || new.sizeClasses != old.sizeClasses { rebuildOrder() }
        let largest = largestEntry
        for slot in slots.indices where images[slot] != nil && (slots[slot]?.cost ?? 0) > largest {
            policy.removed(Slot(slot))
            letGo(Slot(slot))
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
        policy.inserted(slot, key: key.hashValue, cost: cost)
        guard let surplus = classes.inserted(slot, cost: cost) else { return }
        policy.removed(surplus)
        letGo(surplus)
    }

    /// Evicts until all limits hold. A purge leaves one image that fits, even if it is over the lower watermark: else
    /// the image that was just stored would be gone at once.
    private mutating func enforceLimits(newcomer: Slot? = nil) {
        let capacity = limits.capacity.bytes
        let maximumCount = max(0, limits.maximumCount ?? .max)
        if statistics.bytes > capacity {
            // If the policy turns the newcomer away, nothing else has to go.
            let first = evictOne(Room(bytes: capacity, count: maximumCount), newcomer: newcomer)
            if first == newcomer, statistics.bytes <= capacity { return }
            let target = min(capacity, limits.capacityAfterPurge?.bytes ?? capacity)
            let room = Room(bytes: target, count: maximumCount)
            while statistics.bytes > target, statistics.entries > 1 || statistics.bytes > capacity,
                evictOne(room) != nil
            {}
        }
        let room = Room(bytes: capacity, count: maximumCount)
        while statistics.entries > maximumCount, evictOne(room) != nil {}
    }

    mutating func trim(to bytes: Int) {
        while statistics.bytes > bytes, evictOne(Room(bytes: max(0, bytes))) != nil {}
        // Who trims wants memory back, the few bytes of dead entries too.
        sweepHeld(heldList.count)
    }

    private mutating func evictOne(_ room: Room, newcomer: Slot? = nil) -> Slot? {
        guard let slot = policy.evict(room: room, newcomer: newcomer) else { return nil }
        letGo(slot)
        return slot
    }

    /// Keeps an entry no longer than somebody else does. The policy knows of it.
    private mutating func letGo(_ slot: Slot) {
        statistics.evictions += 1
        classes.removed(slot)
        let cost = slots[Int(slot)]?.cost ?? 0
        statistics.entries -= 1
        statistics.bytes -= cost
        // Taken out of the slot, so that the reference here is the only one if nobody else has the image.
        guard var storage = images[Int(slot)].take() else { return }
        if isKnownUniquelyReferenced(&storage) {
            forget(slot)
        } else {
            hold(storage, at: slot)
        }
        discarded.append(storage)
    }

    // MARK: Slots

    private mutating func insert(_ storage: Image.Storage, forKey key: ImageKey, deadline: Duration?) {
        let cost = storage.memoryCost
        let slot = makeSlot(key: key, cost: cost, deadline: deadline)
        images[Int(slot)] = storage
        statistics.entries += 1
        statistics.bytes += cost
        addToOrder(slot, key: key, cost: cost)
        enforceLimits(newcomer: slot)
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
            classes.grow()
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
            classes.removed(slot)
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
