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
/// - A second order is by last use. It is split where a plain LRU cache would be full: LRU would hold the *recent* entries and would have
///   dropped the *stale* entries. The recent part also has entries that were evicted; such an entry that is stored again keeps its visits.
/// - So each miss and each hit tells how LRU would have done. While LRU would have cost less, the oldest stale entry is evicted instead
///   (``LossComparison``).
/// - A new entry that needs more than a quarter of the capacity is evicted before any other. If it is soon stored again, it stays.
///
/// With ``MemoryCache/Policy/leastRecentlyUsed``, the last entry of the second order goes. It is stale, and so isn't kept.
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
    /// The place in the order of uses between the recent and the stale entries.
    private static let border: Slot = 1
    /// The first slot of an entry.
    static let firstSlot: Slot = 2

    var policy: MemoryCache.Policy
    var room: Room

    private var nodes = [Node](repeating: Node(digest: 0, bytes: 0, isPresent: false), count: firstSlot)
    private var free: [Slot] = []
    private var evicted: [UInt64: Slot] = [:]
    /// The newest first.
    private var arrivals = SlotRing()
    private var hand = SlotRing.ends
    /// The latest first.
    private var uses = SlotRing()
    private var recent = Room(bytes: 0, count: 0)
    private(set) var comparison = LossComparison()
    /// The time to load everything in the cache, in milliseconds.
    private var fill = 0.0

    init(_ policy: MemoryCache.Policy, room: Room) {
        self.policy = policy
        self.room = room
        arrivals.grow()
        uses.grow()
        uses.insert(Self.border)
    }

    /// The entries, the latest use first.
    var latestFirst: [Slot] {
        var (slots, slot) = ([Slot](), uses.next(after: SlotRing.ends))
        while slot != SlotRing.ends {
            if nodes[slot].isPresent { slots.append(slot) }
            slot = uses.next(after: slot)
        }
        return slots
    }

    /// Adds an entry.
    /// - Parameters:
    ///   - digest: the hash of its key, which recognizes it after its eviction. No other entry has it.
    ///   - bytes: the bytes that it counts for.
    /// - Returns: its slot, until it is removed or evicted.
    mutating func insert(_ digest: UInt64, bytes: Int) -> Slot {
        var node = Node(digest: digest, bytes: max(1, bytes))
        let earlier = evicted.removeValue(forKey: digest)
        if let earlier {
            node.visits = min(Self.mostVisits, nodes[earlier].visits + 1)
            forget(earlier)
        }
        let slot = free.popLast() ?? nodes.count
        if slot == nodes.count {
            nodes.append(node)
            arrivals.grow()
            uses.grow()
        } else {
            nodes[slot] = node
        }
        let time = LossComparison.timeOfMiss(bytes: node.bytes)
        fill += time
        comparison.missed(time, byPolicy: true, byLRU: earlier == nil, fill: fill)
        arrivals.insert(slot)
        becomeRecent(slot)
        return slot
    }

    /// Records a use of an entry.
    @inline(__always)
    mutating func use(_ slot: Slot) {
        if nodes[slot].visits < Self.mostVisits { nodes[slot].visits += 1 }
        uses.remove(slot)
        if nodes[slot].isRecent { uses.insert(slot) } else { useStale(slot) }
    }

    /// Records a use that LRU would have missed.
    @inline(never)
    private mutating func useStale(_ slot: Slot) {
        let time = LossComparison.timeOfMiss(bytes: nodes[slot].bytes)
        comparison.missed(time, byPolicy: false, byLRU: true, fill: fill)
        becomeRecent(slot)
    }

    private mutating func becomeRecent(_ slot: Slot) {
        nodes[slot].isRecent = true
        uses.insert(slot)
        recent.bytes += nodes[slot].bytes
        recent.count += 1
        limitRecent(to: room)
    }

    /// Drops the entries that a plain LRU cache of this size would evict.
    private mutating func limitRecent(to room: Room) {
        while recent.count > 0, recent.bytes > room.bytes || recent.count > room.count {
            let slot = uses.previous(before: Self.border)
            if nodes[slot].isPresent {
                unlinkUse(slot)
                uses.insert(slot, after: Self.border)
            } else {
                evicted[nodes[slot].digest] = nil
                forget(slot)
            }
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
        // The entries that exceed the limits are stale, so there are some with LRU.
        let last = uses.previous(before: SlotRing.ends)
        if last != Self.border, policy == .leastRecentlyUsed || comparison.prefersLRU { return last }
        if let newcomer, nodes[newcomer].bytes > room.bytes / 4, nodes[newcomer].visits == 0 { return newcomer }
        var slot = hand == SlotRing.ends ? arrivals.previous(before: SlotRing.ends) : hand
        guard slot != SlotRing.ends else { return nil }
        while nodes[slot].visits > 0 {
            nodes[slot].visits -= 1
            slot = arrivals.previous(before: slot)
            if slot == SlotRing.ends { slot = arrivals.previous(before: slot) }
        }
        hand = slot
        return slot
    }

    /// Removes an entry from the queue, and moves the hand on if it was there.
    private mutating func leave(_ slot: Slot) {
        if hand == slot { hand = arrivals.previous(before: slot) }
        arrivals.remove(slot)
        // Rounding errors of the sum add up, so an empty cache resets it.
        let isEmpty = arrivals.next(after: SlotRing.ends) == SlotRing.ends
        fill = isEmpty ? 0 : max(0, fill - LossComparison.timeOfMiss(bytes: nodes[slot].bytes))
    }

    /// Frees a slot that is in neither the queue nor the table of evicted entries.
    private mutating func forget(_ slot: Slot) {
        unlinkUse(slot)
        free.append(slot)
    }

    private mutating func unlinkUse(_ slot: Slot) {
        uses.remove(slot)
        guard nodes[slot].isRecent else { return }
        nodes[slot].isRecent = false
        recent.bytes -= nodes[slot].bytes
        recent.count -= 1
    }
}
