@testable import TintypeCaching

/// Decides which entry of a cache to evict next. It knows entries only by their slots.
protocol EvictionPolicy {
    init()
    /// Makes room for one more slot.
    mutating func grow()
    /// Records a new entry.
    /// - Parameters:
    ///   - slot: the slot of the entry.
    ///   - key: a hash by which the policy can recognize the entry after its eviction.
    ///   - cost: the bytes of the entry.
    mutating func inserted(_ slot: Slot, key: Int, cost: Int)
    /// Records a use of the entry. O(1), because every hit calls it.
    mutating func used(_ slot: Slot)
    /// Records that the program removed the entry.
    mutating func removed(_ slot: Slot)
    /// Removes and returns the entry to evict; `nil` if there is none.
    /// - Parameters:
    ///   - room: the capacity to keep to.
    ///   - newcomer: the new entry that exceeded the capacity, if there is one. It may be evicted itself.
    mutating func evict(room: Room, newcomer: Slot?) -> Slot?
}

/// Evicts the least recently used entry first. Everything is O(1).
struct LeastRecentlyUsed: EvictionPolicy {
    private var links = SlotLinks()
    private var order = SlotList()

    mutating func grow() { links.grow() }
    mutating func inserted(_ slot: Slot, key: Int, cost: Int) { links.prepend(slot, to: &order) }
    @inline(__always)
    mutating func used(_ slot: Slot) { links.moveToFront(slot, of: &order) }
    mutating func removed(_ slot: Slot) { links.remove(slot, from: &order) }
    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        guard !order.isEmpty else { return nil }
        let slot = order.last
        links.remove(slot, from: &order)
        return slot
    }
}
