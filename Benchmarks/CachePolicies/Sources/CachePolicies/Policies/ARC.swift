@testable import TintypeCaching

/// Adaptive replacement: what came once and what came again, in the order of use, and ghosts of both that move the
/// border between them (Megiddo and Modha, FAST 2003); here in bytes.
struct ARC: EvictionPolicy {
    private struct Entry {
        var key = 0
        var cost = 0
        var isFrequent = false
    }
    private var entries: [Entry] = []
    private var links = SlotLinks()
    private var once = SlotList()
    private var frequent = SlotList()
    private var onceCost = 0
    private var frequentCost = 0
    private var onceGhosts = Ghosts()
    private var frequentGhosts = Ghosts()
    private var target = 0.0

    mutating func grow() {
        links.grow()
        entries.append(Entry())
    }
    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        entries[Int(slot)] = Entry(key: key, cost: cost)
        let ratio = Double(max(1, frequentGhosts.cost)) / Double(max(1, onceGhosts.cost))
        if onceGhosts.take(key) != nil {
            target = min(Double(onceCost + frequentCost), target + Double(cost) * max(1, ratio))
            addToFrequent(slot)
        } else if frequentGhosts.take(key) != nil {
            target = max(0, target - Double(cost) * max(1, 1 / ratio))
            addToFrequent(slot)
        } else {
            links.prepend(slot, to: &once)
            onceCost += cost
        }
    }
    private mutating func addToFrequent(_ slot: Slot) {
        entries[Int(slot)].isFrequent = true
        links.prepend(slot, to: &frequent)
        frequentCost += entries[Int(slot)].cost
    }
    mutating func used(_ slot: Slot) {
        removed(slot)
        addToFrequent(slot)
    }
    mutating func removed(_ slot: Slot) {
        let entry = entries[Int(slot)]
        if entry.isFrequent {
            links.remove(slot, from: &frequent)
            frequentCost -= entry.cost
        } else {
            links.remove(slot, from: &once)
            onceCost -= entry.cost
        }
    }
    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        let takesOnce = frequent.isEmpty || (!once.isEmpty && Double(onceCost) > target)
        let slot = takesOnce ? once.last : frequent.last
        guard slot != SlotList.end else { return nil }
        removed(slot)
        let entry = entries[Int(slot)]
        if takesOnce {
            onceGhosts.add(entry.key, cost: entry.cost)
        } else {
            frequentGhosts.add(entry.key, cost: entry.cost)
        }
        onceGhosts.limit(count: .max, cost: max(0, room.bytes - onceCost))
        frequentGhosts.limit(
            count: .max, cost: max(0, 2 * room.bytes - onceCost - frequentCost - onceGhosts.cost))
        return slot
    }
}
