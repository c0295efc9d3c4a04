@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

/// What ``AdaptiveEviction`` decides, written down with arrays and searches instead of lists and heaps.
struct AdaptiveModel {
    private struct Entry {
        var key: Int
        var bytes: Int
        var uses: Int
        var worth = 0.0
        var density: Double { LossComparison.timeOfMiss(bytes: bytes) / Double(bytes) }
    }

    // Each with the latest last.
    private var window: [Entry] = []
    private var main: [Entry] = []
    private var windowGhosts: [Entry] = []
    private var mainGhosts: [Entry] = []
    /// What LRU would hold.
    private var recent: [(key: Int, bytes: Int)] = []
    /// What LRU dropped and the cache holds.
    private var stale: [Int] = []
    private var target = 0.0
    private var age = 0.0
    private var comparison = LossComparison()
    private var room = Room(bytes: .max)
    private(set) var changes = 0

    var heldBytes: Int { bytes(window) + bytes(main) }
    var prefersLRU: Bool { comparison.prefersLRU }
    private var held: [Entry] { window + main }
    private func bytes(_ entries: [Entry]) -> Int { entries.reduce(0) { $0 + $1.bytes } }

    private mutating func note(_ bytes: Int, byPolicy: Bool, byLRU: Bool) {
        let before = prefersLRU
        let fill = held.reduce(0) { $0 + LossComparison.timeOfMiss(bytes: $1.bytes) }
        comparison.missed(LossComparison.timeOfMiss(bytes: bytes), byPolicy: byPolicy, byLRU: byLRU, fill: fill)
        if prefersLRU != before { changes += 1 }
    }

    private mutating func load(_ key: Int, _ bytes: Int) {
        stale.removeAll { $0 == key }
        recent.removeAll { $0.key == key }
        recent.append((key, bytes))
    }

    private mutating func limitRecent(_ room: Room) {
        while recent.reduce(0, { $0 + $1.bytes }) > room.bytes || recent.count > room.count, !recent.isEmpty {
            let dropped = recent.removeFirst().key
            if held.contains(where: { $0.key == dropped }) { stale.append(dropped) }
        }
    }

    private mutating func addToMain(_ entry: Entry) {
        var entry = entry
        entry.worth = age + Double(entry.uses) * entry.density
        main.append(entry)
    }

    mutating func inserted(_ key: Int, cost: Int) {
        if let index = windowGhosts.firstIndex(where: { $0.key == key }) {
            target += Double(cost) * max(1, Double(bytes(mainGhosts)) / Double(bytes(windowGhosts)))
            target = min(target, Double(heldBytes))
            addToMain(Entry(key: key, bytes: cost, uses: min(15, windowGhosts.remove(at: index).uses + 1)))
        } else if let index = mainGhosts.firstIndex(where: { $0.key == key }) {
            target -= Double(cost) * max(1, Double(bytes(windowGhosts)) / Double(bytes(mainGhosts)))
            target = min(max(0, target), Double(heldBytes))
            addToMain(Entry(key: key, bytes: cost, uses: min(15, mainGhosts.remove(at: index).uses + 1)))
        } else {
            window.append(Entry(key: key, bytes: cost, uses: 1))
        }
        note(cost, byPolicy: true, byLRU: !recent.contains { $0.key == key })
        load(key, cost)
    }

    mutating func used(_ key: Int) {
        var cost = 0
        if let index = window.firstIndex(where: { $0.key == key }) {
            window[index].uses = min(15, window[index].uses + 1)
            cost = window[index].bytes
        } else if let index = main.firstIndex(where: { $0.key == key }) {
            main[index].uses = min(15, main[index].uses + 1)
            main[index].worth = age + Double(main[index].uses) * main[index].density
            cost = main[index].bytes
        }
        let wasRecent = recent.contains { $0.key == key }
        if !wasRecent { note(cost, byPolicy: false, byLRU: true) }
        load(key, cost)
        if !wasRecent {
            limitRecent(Room(bytes: max(room.bytes, heldBytes), count: max(room.count, held.count)))
        }
    }

    mutating func removed(_ key: Int) {
        window.removeAll { $0.key == key }
        main.removeAll { $0.key == key }
        recent.removeAll { $0.key == key }
        stale.removeAll { $0 == key }
    }

    mutating func evict(room: Room, newcomer: Int?) -> Int? {
        self.room = room
        limitRecent(room)
        guard let key = victim(room, newcomer) else { return nil }
        stale.removeAll { $0 == key }
        if let index = window.firstIndex(where: { $0.key == key }) {
            windowGhosts.append(window.remove(at: index))
        } else if let index = main.firstIndex(where: { $0.key == key }) {
            mainGhosts.append(main.remove(at: index))
        }
        while bytes(windowGhosts) + bytes(mainGhosts) > room.bytes {
            let dropsWindow = mainGhosts.isEmpty || bytes(window) + bytes(windowGhosts) > room.bytes
            let dropped =
                dropsWindow && !windowGhosts.isEmpty ? windowGhosts.removeFirst() : mainGhosts.removeFirst()
            recent.removeAll { $0.key == dropped.key }
        }
        return key
    }

    private mutating func victim(_ room: Room, _ newcomer: Int?) -> Int? {
        if prefersLRU, let oldest = stale.first { return oldest }
        if let entry = held.first(where: { $0.key == newcomer }), entry.uses == 1, entry.bytes > room.bytes / 4 {
            return newcomer
        }
        while let oldest = window.first, main.isEmpty || Double(bytes(window)) > target {
            guard oldest.uses > 1 else { return oldest.key }
            addToMain(window.removeFirst())
        }
        guard let least = main.min(by: { $0.worth < $1.worth }) else { return nil }
        age = max(age, least.worth)
        return least.key
    }
}
