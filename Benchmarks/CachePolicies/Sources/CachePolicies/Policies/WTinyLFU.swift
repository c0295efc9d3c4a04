@testable import TintypeCaching

/// A window of 1 % in the order of use, and a segmented main part that takes from it what is asked for more often than
/// what would have to go (Einziger, Friedman and Manes, 2017).
struct WTinyLFU: EvictionPolicy {
    private enum Part { case window, probation, protected }
    private struct Entry {
        var key = 0
        var cost = 0
        var part = Part.window
    }
    private var entries: [Entry] = []
    private var links = SlotLinks()
    private var lists = [SlotList(), SlotList(), SlotList()]
    private var costs = [0, 0, 0]
    private var sketch = Sketch()

    private static func index(_ part: Part) -> Int { part == .window ? 0 : part == .probation ? 1 : 2 }

    mutating func grow() {
        links.grow()
        entries.append(Entry())
    }
    private mutating func add(_ slot: Slot, to part: Part) {
        entries[Int(slot)].part = part
        let index = Self.index(part)
        links.prepend(slot, to: &lists[index])
        costs[index] += entries[Int(slot)].cost
    }
    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        sketch.add(key, entries: entries.count)
        entries[Int(slot)] = Entry(key: key, cost: cost)
        add(slot, to: .window)
    }
    mutating func used(_ slot: Slot) {
        sketch.add(entries[Int(slot)].key, entries: entries.count)
        let part = entries[Int(slot)].part
        removed(slot)
        add(slot, to: part == .window ? .window : .protected)
        while costs[2] * 10 > 8 * (costs[1] + costs[2]), lists[2].count > 1 {
            let last = lists[2].last
            removed(last)
            add(last, to: .probation)
        }
    }
    mutating func removed(_ slot: Slot) {
        let index = Self.index(entries[Int(slot)].part)
        links.remove(slot, from: &lists[index])
        costs[index] -= entries[Int(slot)].cost
    }
    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        let total = costs[0] + costs[1] + costs[2]
        if costs[1] + costs[2] == 0 {
            while costs[0] > total / 100, lists[0].count > 1 {
                let last = lists[0].last
                removed(last)
                add(last, to: .probation)
            }
        }
        let main = !lists[1].isEmpty ? lists[1].last : lists[2].last
        guard costs[0] > total / 100, !lists[0].isEmpty else {
            guard main != SlotList.end else { return nil }
            removed(main)
            return main
        }
        let candidate = lists[0].last
        if main != SlotList.end, sketch.count(entries[Int(candidate)].key) > sketch.count(entries[Int(main)].key) {
            removed(candidate)
            add(candidate, to: .probation)
            removed(main)
            return main
        }
        removed(candidate)
        return candidate
    }
}

/// Four counters of four bits for each key, halved now and then.
private struct Sketch {
    private var counters: [UInt8] = []
    private var additions = 0

    mutating func add(_ key: Int, entries: Int) {
        let size = max(1024, entries * 8).nextPowerOfTwo
        if counters.count < size {
            counters = [UInt8](repeating: 0, count: size)
            additions = 0
        }
        for row in 0..<4 {
            let place = place(key, row)
            if counters[place] < 15 { counters[place] += 1 }
        }
        additions += 1
        guard additions > counters.count / 8 * 10 else { return }
        for index in counters.indices { counters[index] /= 2 }
        additions /= 2
    }
    func count(_ key: Int) -> UInt8 {
        (0..<4).map { counters[place(key, $0)] }.min() ?? 0
    }
    private func place(_ key: Int, _ row: Int) -> Int {
        Int(truncatingIfNeeded: Seeded.mix(UInt64(bitPattern: Int64(key)) &+ UInt64(row) << 32)) & (counters.count - 1)
    }
}

extension Int {
    fileprivate var nextPowerOfTwo: Int {
        var power = 1
        while power < self { power *= 2 }
        return power
    }
}
