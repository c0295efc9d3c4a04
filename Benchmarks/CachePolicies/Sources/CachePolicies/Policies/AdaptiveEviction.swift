@testable import TintypeCaching

/// The library's own policy. It numbers its entries itself.
struct AdaptiveEviction: EvictionPolicy {
    private var order = EvictionOrder(.adaptive, room: Room(bytes: .max))
    private var slots: [Int] = []
    private var outer: [Slot] = []

    mutating func grow() { slots.append(0) }

    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        let inner = order.insert(UInt64(bitPattern: Int64(key)), bytes: cost)
        while outer.count <= inner { outer.append(slot) }
        (slots[slot], outer[inner]) = (inner, slot)
    }

    mutating func used(_ slot: Slot) { order.use(slots[slot]) }
    mutating func removed(_ slot: Slot) { order.remove(slots[slot]) }

    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        order.room = room
        return order.evict(to: room, newcomer: newcomer.map { slots[$0] }).map { outer[$0] }
    }
}
