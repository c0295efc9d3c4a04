@testable import TintypeCaching

/// A small queue for what is new, a main one for what was used again, and keys remembered (Yang et al., SOSP 2023).
struct S3FIFO: EvictionPolicy {
    private struct Entry {
        var key = 0
        var cost = 0
        var uses = 0
        var isMain = false
    }
    private var entries: [Entry] = []
    private var links = SlotLinks()
    private var small = SlotList()
    private var main = SlotList()
    private var smallCost = 0
    private var mainCost = 0
    private var ghosts = Ghosts()

    mutating func grow() {
        links.grow()
        entries.append(Entry())
    }
    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        entries[Int(slot)] = Entry(key: key, cost: cost)
        if ghosts.take(key) != nil {
            addToMain(slot)
        } else {
            links.prepend(slot, to: &small)
            smallCost += cost
        }
    }
    mutating func used(_ slot: Slot) { entries[Int(slot)].uses = min(3, entries[Int(slot)].uses + 1) }
    mutating func removed(_ slot: Slot) {
        let entry = entries[Int(slot)]
        if entry.isMain {
            links.remove(slot, from: &main)
            mainCost -= entry.cost
        } else {
            links.remove(slot, from: &small)
            smallCost -= entry.cost
        }
    }
    private mutating func addToMain(_ slot: Slot) {
        entries[Int(slot)].isMain = true
        links.prepend(slot, to: &main)
        mainCost += entries[Int(slot)].cost
    }
    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        while true {
            if !small.isEmpty, main.isEmpty || smallCost * 10 > smallCost + mainCost {
                let slot = small.last
                let entry = entries[Int(slot)]
                removed(slot)
                if entry.uses > 1 {
                    entries[Int(slot)].uses = 0
                    addToMain(slot)
                    continue
                }
                ghosts.add(entry.key, cost: entry.cost)
                ghosts.limit(count: .max, cost: mainCost)
                return slot
            }
            guard !main.isEmpty else { return nil }
            let slot = main.last
            if entries[Int(slot)].uses == 0 {
                removed(slot)
                return slot
            }
            entries[Int(slot)].uses -= 1
            links.moveToFront(slot, of: &main)
        }
    }
}
