@testable import TintypeCaching

/// What ``EvictionOrder`` decides, written down with arrays and searches instead of lists.
struct EvictionModel {
    private struct Entry {
        var key: Int
        var bytes: Int
        var credit = 0
    }

    // Each with the latest first.
    private var queue: [Entry] = []
    /// What LRU would hold, with ghosts.
    private var recent: [Entry] = []
    private var stale: [Int] = []
    /// The entry from which the search goes on; `nil` for the oldest.
    private var hand: Int?
    private var comparison = LossComparison()
    var room: Room

    init(room: Room) { self.room = room }

    var bytes: Int { queue.reduce(0) { $0 + $1.bytes } }
    var prefersLRU: Bool { comparison.prefersLRU }

    private func place(_ key: Int) -> Int? { queue.firstIndex { $0.key == key } }

    private mutating func note(_ bytes: Int, byPolicy: Bool, byLRU: Bool) {
        let fill = queue.reduce(0) { $0 + LossComparison.timeOfMiss(bytes: $1.bytes) }
        comparison.missed(LossComparison.timeOfMiss(bytes: bytes), byPolicy: byPolicy, byLRU: byLRU, fill: fill)
    }

    private mutating func limit(to room: Room) {
        while recent.reduce(0, { $0 + $1.bytes }) > room.bytes || recent.count > room.count {
            let dropped = recent.removeLast()
            if place(dropped.key) != nil { stale.insert(dropped.key, at: 0) }
        }
    }

    mutating func insert(_ key: Int, bytes: Int) {
        let ghost = recent.firstIndex { $0.key == key }.map { recent.remove(at: $0) }
        let entry = Entry(key: key, bytes: bytes, credit: ghost.map { min(3, $0.credit + 1) } ?? 0)
        queue.insert(entry, at: 0)
        note(bytes, byPolicy: true, byLRU: ghost == nil)
        recent.insert(entry, at: 0)
        limit(to: room)
    }

    mutating func use(_ key: Int) {
        guard let place = place(key) else { return }
        queue[place].credit = min(3, queue[place].credit + 1)
        let isStale = stale.contains(key)
        if isStale { note(queue[place].bytes, byPolicy: false, byLRU: true) }
        forget(key)
        recent.insert(queue[place], at: 0)
        if isStale { limit(to: room) }
    }

    private mutating func forget(_ key: Int) {
        recent.removeAll { $0.key == key }
        stale.removeAll { $0 == key }
    }

    mutating func remove(_ key: Int) {
        leave(key)
        forget(key)
    }

    @discardableResult private mutating func leave(_ key: Int) -> Entry? {
        guard let place = place(key) else { return nil }
        if hand == key { hand = place == 0 ? nil : queue[place - 1].key }
        return queue.remove(at: place)
    }

    mutating func evict(to room: Room, newcomer: Int?) -> Int? {
        limit(to: room)
        guard let key = victim(room, newcomer), let entry = leave(key) else { return nil }
        stale.removeAll { $0 == key }
        if let place = recent.firstIndex(where: { $0.key == key }) { recent[place].credit = entry.credit }
        return key
    }

    private mutating func victim(_ room: Room, _ newcomer: Int?) -> Int? {
        if prefersLRU, let oldest = stale.last { return oldest }
        if let newcomer, let place = place(newcomer), queue[place].bytes > room.bytes / 4, queue[place].credit == 0 {
            return newcomer
        }
        var place = hand.flatMap { self.place($0) } ?? queue.count - 1
        while queue[place].credit > 0 {
            queue[place].credit -= 1
            place = place == 0 ? queue.count - 1 : place - 1
        }
        hand = queue[place].key
        return queue[place].key
    }
}
