/// Decides which entry of a memory cache has to go next. It knows entries by their slots only; every call is O(1).
protocol EvictionPolicy {
    init()
    /// There is a slot more than before.
    mutating func grow()
    mutating func inserted(_ slot: Slot, cost: Int)
    mutating func used(_ slot: Slot)
    mutating func removed(_ slot: Slot)
    /// The entry to evict next, which stays where it is until it is removed; `nil` if there is none.
    mutating func victim() -> Slot?
}

/// The entry that was not used for the longest time goes first.
struct LeastRecentlyUsed: EvictionPolicy {
    private var links = SlotLinks()
    private var order = SlotList()

    mutating func grow() { links.grow() }
    mutating func inserted(_ slot: Slot, cost: Int) { links.prepend(slot, to: &order) }
    @inline(__always)
    mutating func used(_ slot: Slot) { links.moveToFront(slot, of: &order) }
    mutating func removed(_ slot: Slot) { links.remove(slot, from: &order) }
    mutating func victim() -> Slot? { order.isEmpty ? nil : order.last }
}
