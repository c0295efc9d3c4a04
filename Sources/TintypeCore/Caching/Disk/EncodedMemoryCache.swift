internal import FoundationEssentials

/// The encoded entries that were read or stored last, by the ids of their files.
///
/// Whether an entry is still there is for the ``EntryTable`` to say, which all processes share: one that was replaced or
/// removed, by whomever, is not asked for by its id any more.
final class EncodedMemoryCache: Sendable {
    fileprivate struct Kept {
        var id: Int64 = 0
        var key = ImageKey(source: "")
        var entry: DiskCacheEntry?
        var cost = 0
    }

    fileprivate struct State {
        var slots: [Kept] = []
        var free: [Slot] = []
        var slotsOfIDs: [Int64: Slot] = [:]
        var links = SlotLinks()
        var order = SlotList()
        var bytes = 0
    }

    /// In bytes.
    let capacity: Int
    private let state = Lock(State())

    init(capacity: Int) { self.capacity = max(0, capacity) }

    /// What is kept now.
    var usage: CacheUsage { state.withLock { CacheUsage(entries: $0.order.count, bytes: $0.bytes) } }

    /// The entry of a file, which counts as used; `nil` if it is not kept, or is another key's.
    func entry(_ id: Int64, key: ImageKey) -> DiskCacheEntry? {
        state.withLock { state in
            guard let slot = state.slotsOfIDs[id], state.slots[Int(slot)].key == key else { return nil }
            state.links.moveToFront(slot, of: &state.order)
            return state.slots[Int(slot)].entry
        }
    }

    /// Keeps an entry, unless it would take more than a quarter of the room.
    func keep(_ entry: DiskCacheEntry, id: Int64, key: ImageKey) {
        let cost = Self.cost(of: entry, key)
        guard cost <= capacity / 4 else { return }
        let dropped = state.withLock { state in
            var dropped = [state.take(id)]
            state.insert(Kept(id: id, key: key, entry: entry, cost: cost))
            while state.bytes > capacity { dropped.append(state.takeLast()) }
            return dropped
        }
        _ = dropped  // Given back outside the lock.
    }

    func remove(_ ids: [Int64]) {
        guard !ids.isEmpty else { return }
        let dropped = state.withLock { state in ids.map { state.take($0) } }
        _ = dropped
    }

    func removeAll() {
        let old = state.withLock { state in
            defer { state = State() }
            return state
        }
        _ = old
    }

    /// Forgets what was not used for the longest time until what is left takes at most so many bytes.
    func trim(to bytes: Int) {
        let dropped = state.withLock { state in
            var dropped: [DiskCacheEntry?] = []
            while state.bytes > max(0, bytes) { dropped.append(state.takeLast()) }
            return dropped
        }
        _ = dropped
    }

    /// The bytes, and roughly what is around them.
    private static func cost(of entry: DiskCacheEntry, _ key: ImageKey) -> Int {
        entry.data.count + (entry.extendedData?.count ?? 0) + key.source.utf8.count + key.variant.description.utf8.count
            + 256
    }
}

extension EncodedMemoryCache.State {
    fileprivate mutating func insert(_ kept: EncodedMemoryCache.Kept) {
        let slot: Slot
        if let reused = free.popLast() {
            slot = reused
            slots[Int(slot)] = kept
        } else {
            slot = Slot(slots.count)
            slots.append(kept)
            links.grow()
        }
        slotsOfIDs[kept.id] = slot
        links.prepend(slot, to: &order)
        bytes += kept.cost
    }

    fileprivate mutating func take(_ id: Int64) -> DiskCacheEntry? {
        guard let slot = slotsOfIDs.removeValue(forKey: id) else { return nil }
        links.remove(slot, from: &order)
        free.append(slot)
        let kept = slots[Int(slot)]
        slots[Int(slot)] = EncodedMemoryCache.Kept()
        bytes -= kept.cost
        return kept.entry
    }

    fileprivate mutating func takeLast() -> DiskCacheEntry? {
        order.isEmpty ? nil : take(slots[Int(order.last)].id)
    }
}
