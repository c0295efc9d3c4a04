internal import FoundationEssentials

/// The encoded entries that were read or stored last, with the status of their files.
///
/// A reader opens the file all the same, and reads it only if its status has changed. So an entry that was replaced or removed, by any
/// process, is noticed.
final class EncodedMemoryCache: Sendable {
    fileprivate struct Kept {
        var name: EntryName?
        var key = ImageKey(source: "")
        var entry: DiskCacheEntry?
        var status: FileStatus?
        /// The time of storing, in microseconds since 1970.
        var stored: Int64 = 0
        var cost = 0
    }

    fileprivate struct State {
        var slots: [Kept] = []
        var free: [Slot] = []
        var slotsOfNames: [EntryName: Slot] = [:]
        var links = SlotLinks()
        var order = SlotList()
        var bytes = 0
    }

    /// In bytes.
    let capacity: Int
    private let state = Lock(State())

    init(capacity: Int) { self.capacity = max(0, capacity) }

    /// The present number of entries and bytes.
    var usage: CacheUsage { state.withLock { CacheUsage(entries: $0.order.count, bytes: $0.bytes) } }

    /// The entry of a file, which counts as used; `nil` if it is not kept, or belongs to another key.
    func entry(_ name: EntryName, key: ImageKey) -> (entry: DiskCacheEntry, status: FileStatus, stored: Int64)? {
        state.withLock { state in
            guard let slot = state.slotsOfNames[name], state.slots[Int(slot)].key == key else { return nil }
            state.links.moveToFront(slot, of: &state.order)
            let kept = state.slots[Int(slot)]
            guard let entry = kept.entry, let status = kept.status else { return nil }
            return (entry, status, kept.stored)
        }
    }

    /// Keeps an entry, unless it would take more than a quarter of the room.
    func keep(_ entry: DiskCacheEntry, name: EntryName, key: ImageKey, status: FileStatus, stored: Int64) {
        let cost = Self.cost(of: entry, key)
        let isKept = cost <= capacity / 4
        let dropped = state.withLock { state in
            var dropped = [state.remove(name)]
            if isKept {
                state.insert(Kept(name: name, key: key, entry: entry, status: status, stored: stored, cost: cost))
            }
            while state.bytes > capacity { dropped.append(state.removeLast()) }
            return dropped
        }
        _ = dropped  // Freed outside the lock.
    }

    func removeAll() {
        let old = state.withLock { state in
            defer { state = State() }
            return state
        }
        _ = old
    }

    /// Purges the least recently used entries until the others take at most so many bytes.
    func trim(to bytes: Int) {
        let dropped = state.withLock { state in
            var dropped: [DiskCacheEntry?] = []
            while state.bytes > max(0, bytes) { dropped.append(state.removeLast()) }
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
        if let name = kept.name { slotsOfNames[name] = slot }
        links.prepend(slot, to: &order)
        bytes += kept.cost
    }

    fileprivate mutating func remove(_ name: EntryName) -> DiskCacheEntry? {
        guard let slot = slotsOfNames.removeValue(forKey: name) else { return nil }
        links.remove(slot, from: &order)
        free.append(slot)
        let kept = slots[Int(slot)]
        slots[Int(slot)] = EncodedMemoryCache.Kept()
        bytes -= kept.cost
        return kept.entry
    }

    fileprivate mutating func removeLast() -> DiskCacheEntry? {
        guard !order.isEmpty, let name = slots[Int(order.last)].name else { return nil }
        return remove(name)
    }
}
