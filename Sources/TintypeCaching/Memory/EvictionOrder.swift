/// The number of an entry in the arrays of a memory cache.
typealias Slot = Int

/// The limits that a memory cache keeps to while it evicts.
struct Room {
    var bytes: Int
    var count = Int.max
}

/// Decides which entry of a memory cache to evict next: by SIEVE, or by LRU where that works better.
///
/// - **SIEVE** (Zhang et al., 2024): new entries join a queue. A hand moves through it from the oldest entry to the newest. It evicts
///   the first entry without visits, and takes a visit from each entry that it passes. Each use is a visit; three at most count.
/// - A second list is in the order of last use. It is split where a plain LRU cache would be full: LRU would hold the *recent* entries and
///   would have dropped the *stale* entries. The recent part also has entries that were evicted; such an entry that is stored again keeps
///   its visits.
/// - So each miss and each hit tells how LRU would have done. While LRU would have cost less, the oldest stale entry is evicted instead
///   (``LossComparison``).
/// - A new entry that needs more than a quarter of the capacity is evicted before any other. If it is soon stored again, it stays.
///
/// With ``MemoryCache/Policy/leastRecentlyUsed``, the order keeps no evicted entries, and the last entry of the second list goes.
///
/// `Documentation/development/cache-policy.md` has the measurements.
///
/// - Complexity: a use is O(1), everything else O(1), amortized. About 100 bytes for each entry, present or evicted.
struct EvictionOrder {
    private struct Node {
        var digest: UInt64
        var bytes: Int
        var visits: UInt8 = 0
        /// False for an entry that was evicted.
        var isPresent = true
        /// True if LRU would hold it.
        var isRecent = false
    }

    private static let mostVisits: UInt8 = 3

    var policy: MemoryCache.Policy
    var room: Room

    private var nodes: [Node] = []
    private var free: [Slot] = []
    private var evicted: [UInt64: Slot] = [:]
    private var arrivalLinks = SlotLinks()
    private var arrivals = SlotList()
    private var hand = SlotList.end
    private var useLinks = SlotLinks()
    private var recent = SlotList()
    private var recentBytes = 0
    private var stale = SlotList()
    private var comparison = LossComparison()
    /// The time to load everything in the cache, in milliseconds.
    private var fill = 0.0

    init(_ policy: MemoryCache.Policy, room: Room) {
        self.policy = policy
        self.room = room
    }

    /// True while LRU is followed; for tests.
    var prefersLRU: Bool { comparison.prefersLRU }

    /// The entries, the latest use first.
    var latestFirst: [Slot] {
        var slots: [Slot] = []
        for list in [recent, stale] {
            var slot = list.first
            while slot != SlotList.end {
                if nodes[slot].isPresent { slots.append(slot) }
                slot = useLinks.next(after: slot)
            }
        }
        return slots
    }

    /// Adds an entry.
    /// - Parameters:
    ///   - digest: the hash of its key, which recognizes it after its eviction. No other entry has it.
    ///   - bytes: the bytes that it counts for.
    /// - Returns: its slot, until it is removed or evicted.
    mutating func insert(_ digest: UInt64, bytes: Int) -> Slot {
        let bytes = max(1, bytes)
        let time = LossComparison.timeOfMiss(bytes: bytes)
        let earlier = evicted.removeValue(forKey: digest)
        var node = Node(digest: digest, bytes: bytes)
        if let earlier {
            node.visits = min(Self.mostVisits, nodes[earlier].visits + 1)
            forget(earlier)
        }
        let slot = makeSlot(node)
        fill += time
        comparison.missed(time, byPolicy: true, byLRU: earlier == nil, fill: fill)
        arrivalLinks.prepend(slot, to: &arrivals)
        becomeRecent(slot)
        return slot
    }

    private mutating func makeSlot(_ node: Node) -> Slot {
        if let slot = free.popLast() {
            nodes[slot] = node
            return slot
        }
        nodes.append(node)
        arrivalLinks.grow()
        useLinks.grow()
        return nodes.count - 1
    }

    /// Records a use of an entry.
    @inline(__always)
    mutating func use(_ slot: Slot) {
        if nodes[slot].visits < Self.mostVisits { nodes[slot].visits += 1 }
        if nodes[slot].isRecent { useLinks.moveToFront(slot, of: &recent) } else { useStale(slot) }
    }

    /// Records a use that LRU would have missed.
    @inline(never)
    private mutating func useStale(_ slot: Slot) {
        let time = LossComparison.timeOfMiss(bytes: nodes[slot].bytes)
        comparison.missed(time, byPolicy: false, byLRU: true, fill: fill)
        useLinks.remove(slot, from: &stale)
        becomeRecent(slot)
    }

    private mutating func becomeRecent(_ slot: Slot) {
        nodes[slot].isRecent = true
        useLinks.prepend(slot, to: &recent)
        recentBytes += nodes[slot].bytes
        limitRecent(to: room)
    }

    /// Drops the entries that a plain LRU cache of this size would evict.
    private mutating func limitRecent(to room: Room) {
        while recentBytes > room.bytes || recent.count > room.count, !recent.isEmpty {
            let slot = recent.last
            guard nodes[slot].isPresent else {
                evicted[nodes[slot].digest] = nil
                forget(slot)
                continue
            }
            unlinkUse(slot)
            useLinks.prepend(slot, to: &stale)
        }
    }

    /// Removes an entry on behalf of the program.
    mutating func remove(_ slot: Slot) {
        leave(slot)
        forget(slot)
    }

    /// Removes the entry to evict and returns its slot; `nil` if there is none.
    /// - Parameters:
    ///   - room: the limits to keep to.
    ///   - newcomer: the new entry that exceeded the capacity, if any. It may be evicted itself.
    mutating func evict(to room: Room, newcomer: Slot? = nil) -> Slot? {
        limitRecent(to: room)
        guard let slot = victim(room, newcomer) else { return nil }
        leave(slot)
        if policy == .adaptive, nodes[slot].isRecent {
            nodes[slot].isPresent = false
            evicted[nodes[slot].digest] = slot
        } else {
            forget(slot)
        }
        return slot
    }

    private mutating func victim(_ room: Room, _ newcomer: Slot?) -> Slot? {
        guard !arrivals.isEmpty else { return nil }
        if !stale.isEmpty, policy == .leastRecentlyUsed || comparison.prefersLRU { return stale.last }
        if policy == .leastRecentlyUsed {
            forgetEvicted()
            return recent.last
        }
        if let newcomer, nodes[newcomer].bytes > room.bytes / 4, nodes[newcomer].visits == 0 { return newcomer }
        var slot = hand == SlotList.end ? arrivals.last : hand
        while nodes[slot].visits > 0 {
            nodes[slot].visits -= 1
            slot = arrivalLinks.previous(before: slot)
            if slot == SlotList.end { slot = arrivals.last }
        }
        hand = slot
        return slot
    }

    /// Removes an entry from the queue, and moves the hand on if it was there.
    private mutating func leave(_ slot: Slot) {
        if hand == slot { hand = arrivalLinks.previous(before: slot) }
        arrivalLinks.remove(slot, from: &arrivals)
        // Rounding errors of the sum add up, so an empty cache resets it.
        fill = arrivals.isEmpty ? 0 : max(0, fill - LossComparison.timeOfMiss(bytes: nodes[slot].bytes))
    }

    private mutating func forgetEvicted() {
        for slot in evicted.values { forget(slot) }
        evicted = [:]
    }

    /// Frees a slot that is in neither the queue nor the table of evicted entries.
    private mutating func forget(_ slot: Slot) {
        unlinkUse(slot)
        free.append(slot)
    }

    private mutating func unlinkUse(_ slot: Slot) {
        guard nodes[slot].isRecent else { return useLinks.remove(slot, from: &stale) }
        nodes[slot].isRecent = false
        recentBytes -= nodes[slot].bytes
        useLinks.remove(slot, from: &recent)
    }
}
