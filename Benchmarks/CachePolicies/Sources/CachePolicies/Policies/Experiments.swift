@testable import TintypeCore

/// ARC in bytes: window (seen once) and main (again), ghosts of both.
struct ARC: EvictionPolicy {
    private struct Entry {
        var key = 0
        var cost = 0
        var isMain = false
    }
    private var entries: [Entry] = []
    private var links = SlotLinks()
    private var recent = SlotList()
    private var main = SlotList()
    private var recentCost = 0
    private var mainCost = 0
    private var b1 = Ghosts()
    private var b2 = Ghosts()
    private var target = 0.0
    private var keepTarget = false

    mutating func grow() { links.grow(); entries.append(Entry()) }
    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        entries[Int(slot)] = Entry(key: key, cost: cost)
        let total = Double(recentCost + mainCost)
        if b1.take(key) != nil {
            target = min(total, target + Double(cost) * max(1, Double(b2.cost) / Double(max(1, b1.cost))))
            addMain(slot)
        } else if b2.take(key) != nil {
            target = max(0, target - Double(cost) * max(1, Double(b1.cost) / Double(max(1, b2.cost))))
            addMain(slot)
        } else {
            links.prepend(slot, to: &recent)
            recentCost += cost
        }
    }
    private mutating func addMain(_ slot: Slot) {
        entries[Int(slot)].isMain = true
        links.prepend(slot, to: &main)
        mainCost += entries[Int(slot)].cost
    }
    mutating func used(_ slot: Slot) {
        removed(slot)
        addMain(slot)
    }
    mutating func removed(_ slot: Slot) {
        let e = entries[Int(slot)]
        if e.isMain {
            links.remove(slot, from: &main); mainCost -= e.cost
        } else {
            links.remove(slot, from: &recent); recentCost -= e.cost
        }
    }
    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        guard recentCost + mainCost > 0 else { return nil }
        let total = recentCost + mainCost
        let fromRecent = main.isEmpty || (!recent.isEmpty && Double(recentCost) > target)
        let slot = fromRecent ? recent.last : main.last
        removed(slot)
        let e = entries[Int(slot)]
        if fromRecent { b1.add(e.key, cost: e.cost) } else { b2.add(e.key, cost: e.cost) }
        b1.limit(count: .max, cost: max(0, total - recentCost))
        b2.limit(count: .max, cost: max(0, 2 * total - recentCost - mainCost - b1.cost))
        return slot
    }
}

/// ARC whose main part is GDSF by time, frequency remembered in ghosts.
struct ARCGDSF: EvictionPolicy {
    private struct Entry {
        var key = 0
        var cost = 0
        var uses = 0
        var isMain = false
    }
    private var entries: [Entry] = []
    private var links = SlotLinks()
    private var recent = SlotList()
    private var heap = SlotHeap()
    private var recentCost = 0
    private var mainCost = 0
    private var b1 = Ghosts()
    private var b2 = Ghosts()
    private var uses: [Int: Int] = [:]
    private var target = 0.0
    private var age = 0.0

    mutating func grow() { links.grow(); heap.grow(); entries.append(Entry()) }
    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        entries[Int(slot)] = Entry(key: key, cost: cost, uses: 1)
        let total = Double(recentCost + mainCost)
        if b1.take(key) != nil {
            target = min(total, target + Double(cost) * max(1, Double(b2.cost) / Double(max(1, b1.cost))))
            entries[Int(slot)].uses = 1 + (uses.removeValue(forKey: key) ?? 1)
            addMain(slot)
        } else if b2.take(key) != nil {
            target = max(0, target - Double(cost) * max(1, Double(b1.cost) / Double(max(1, b2.cost))))
            entries[Int(slot)].uses = 1 + (uses.removeValue(forKey: key) ?? 1)
            addMain(slot)
        } else {
            links.prepend(slot, to: &recent)
            recentCost += cost
        }
    }
    private func worth(_ slot: Slot) -> Double {
        let e = entries[Int(slot)]
        return age + Double(e.uses) * Misses.time(e.cost) / Double(e.cost)
    }
    private mutating func addMain(_ slot: Slot) {
        entries[Int(slot)].isMain = true
        heap.insert(slot, priority: worth(slot))
        mainCost += entries[Int(slot)].cost
    }
    mutating func used(_ slot: Slot) {
        entries[Int(slot)].uses += 1
        if entries[Int(slot)].isMain { heap.raise(slot, to: worth(slot)); return }
        removed(slot)
        addMain(slot)
    }
    mutating func removed(_ slot: Slot) {
        let e = entries[Int(slot)]
        if e.isMain {
            heap.remove(slot); mainCost -= e.cost
        } else {
            links.remove(slot, from: &recent); recentCost -= e.cost
        }
    }
    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        guard recentCost + mainCost > 0 else { return nil }
        let total = recentCost + mainCost
        let fromRecent = heap.isEmpty || (!recent.isEmpty && Double(recentCost) > target)
        let slot: Slot
        if fromRecent {
            slot = recent.last; removed(slot)
        } else {
            guard let (s, p) = heap.lowest() else { return nil }
            slot = s; age = p
            removed(slot)
        }
        let e = entries[Int(slot)]
        uses[e.key] = e.uses
        if fromRecent { b1.add(e.key, cost: e.cost) } else { b2.add(e.key, cost: e.cost) }
        b1.limit(count: .max, cost: max(0, total - recentCost))
        b2.limit(count: .max, cost: max(0, 2 * total - recentCost - mainCost - b1.cost))
        return slot
    }
}

/// GDSF by time plus remembered frequency: ghosts of one capacity.
struct GDSFPlus: EvictionPolicy {
    private var heap = SlotHeap()
    private var entries: [(key: Int, cost: Int, uses: Int)] = []
    private var age = 0.0
    private var ghosts = Ghosts()
    private var uses: [Int: Int] = [:]
    private var total = 0
    mutating func grow() { heap.grow(); entries.append((0, 0, 0)) }
    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        entries[Int(slot)] = (key, cost, 1)
        if ghosts.take(key) != nil { entries[Int(slot)].uses += uses.removeValue(forKey: key) ?? 0 }
        total += cost
        heap.insert(slot, priority: worth(slot))
    }
    mutating func used(_ slot: Slot) {
        entries[Int(slot)].uses += 1
        heap.raise(slot, to: worth(slot))
    }
    mutating func removed(_ slot: Slot) { heap.remove(slot); total -= entries[Int(slot)].cost }
    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        guard let (slot, priority) = heap.lowest() else { return nil }
        age = priority
        removed(slot)
        ghosts.add(entries[Int(slot)].key, cost: entries[Int(slot)].cost)
        uses[entries[Int(slot)].key] = entries[Int(slot)].uses
        ghosts.limit(count: .max, cost: 2 * total)
        return slot
    }
    private func worth(_ slot: Slot) -> Double {
        let e = entries[Int(slot)]
        return age + Double(e.uses) * Misses.time(e.cost) / Double(e.cost)
    }
}
