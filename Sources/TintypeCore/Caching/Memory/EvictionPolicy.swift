/// Decides which entry of a memory cache has to go next. It knows entries by their slots only.
protocol EvictionPolicy {
    init()
    /// There is a slot more than before.
    mutating func grow()
    /// - Parameters:
    ///   - key: a hash by which the policy may know the entry again after it was evicted.
    ///   - cost: its bytes.
    mutating func inserted(_ slot: Slot, key: Int, cost: Int)
    /// The entry was asked for. O(1), for this is on the way of every hit.
    mutating func used(_ slot: Slot)
    /// The program took the entry out.
    mutating func removed(_ slot: Slot)
    /// Takes out the entry that has to go; `nil` if there is none.
    /// - Parameters:
    ///   - room: what is to be left.
    ///   - newcomer: the entry that has just come, if that is why one has to go. It may be the one.
    mutating func evict(room: Room, newcomer: Slot?) -> Slot?
}

/// What the entries of a cache may take.
struct Room {
    var bytes: Int
    var count = Int.max
}

/// The entry that was not used for the longest time goes first. Everything is O(1).
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
