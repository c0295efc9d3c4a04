@testable import TintypeCaching

/// One queue in the order of arrival and a hand that passes over what was used (Zhang et al., NSDI 2024).
struct Sieve: EvictionPolicy {
    private var links = SlotLinks()
    private var queue = SlotList()
    private var wasUsed: [Bool] = []
    private var hand = SlotList.end

    mutating func grow() {
        links.grow()
        wasUsed.append(false)
    }
    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        links.prepend(slot, to: &queue)
        wasUsed[Int(slot)] = false
    }
    mutating func used(_ slot: Slot) { wasUsed[Int(slot)] = true }
    mutating func removed(_ slot: Slot) {
        if hand == slot { hand = links.previous(before: slot) }
        links.remove(slot, from: &queue)
    }
    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        guard !queue.isEmpty else { return nil }
        var slot = hand == SlotList.end ? queue.last : hand
        while wasUsed[Int(slot)] {
            wasUsed[Int(slot)] = false
            slot = links.previous(before: slot)
            if slot == SlotList.end { slot = queue.last }
        }
        hand = slot
        removed(slot)
        return slot
    }
}
