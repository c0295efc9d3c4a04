@testable import TintypeCaching

/// What brings the least per byte goes first, its worth being its uses times what a miss costs, by its size; and all
/// age (Cherkasova, 1998). Here a miss costs the time that it takes, or the same for all.
struct GDSF<Cost: MissCost>: EvictionPolicy {
    private var heap = SlotHeap()
    private var entries: [(cost: Int, uses: Int)] = []
    private var age = 0.0

    mutating func grow() {
        heap.grow()
        entries.append((0, 0))
    }
    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        entries[Int(slot)] = (cost, 1)
        heap.insert(slot, priority: worth(slot))
    }
    mutating func used(_ slot: Slot) {
        entries[Int(slot)].uses += 1
        heap.raise(slot, to: worth(slot))
    }
    mutating func removed(_ slot: Slot) { heap.remove(slot) }
    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        guard let (slot, priority) = heap.popLowest() else { return nil }
        age = priority
        return slot
    }
    private func worth(_ slot: Slot) -> Double {
        let (cost, uses) = entries[Int(slot)]
        return age + Double(uses) * Cost.miss(cost) / Double(max(1, cost))
    }
}

protocol MissCost { static func miss(_ size: Int) -> Double }
enum MissCount: MissCost { static func miss(_ size: Int) -> Double { 1 } }
enum MissTime: MissCost { static func miss(_ size: Int) -> Double { Misses.time(size) } }
enum MissLoadTime: MissCost { static func miss(_ size: Int) -> Double { Misses.loadTime(size) } }
