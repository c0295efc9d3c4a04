@testable import TintypeCaching

/// First in, first out, but what was used since it was looked at stays for another round.
struct Clock: EvictionPolicy {
    private var links = SlotLinks()
    private var queue = SlotList()
    private var wasUsed: [Bool] = []

    mutating func grow() {
        links.grow()
        wasUsed.append(false)
    }
    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        links.prepend(slot, to: &queue)
        wasUsed[Int(slot)] = false
    }
    mutating func used(_ slot: Slot) { wasUsed[Int(slot)] = true }
    mutating func removed(_ slot: Slot) { links.remove(slot, from: &queue) }
    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        while !queue.isEmpty {
            let slot = queue.last
            guard wasUsed[Int(slot)] else {
                links.remove(slot, from: &queue)
                return slot
            }
            wasUsed[Int(slot)] = false
            links.moveToFront(slot, of: &queue)
        }
        return nil
    }
}
