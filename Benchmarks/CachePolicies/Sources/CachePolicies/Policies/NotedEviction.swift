@testable import TintypeCaching

/// The adaptive policy as the memory cache calls it: uses are noted, once for each entry, and told when something comes, in
/// the order in which the entries were used last.
struct NotedEviction: EvictionPolicy {
    private var policy = AdaptiveEviction()
    private var notes: [Slot: (time: Int, count: Int32)] = [:]
    private var time = 0

    mutating func grow() { policy.grow() }

    mutating func used(_ slot: Slot) {
        time += 1
        notes[slot, default: (0, 0)].time = time
        notes[slot, default: (0, 0)].count += 1
    }

    private mutating func tell() {
        for (slot, note) in notes.sorted(by: { $0.value.time < $1.value.time }) {
            policy.used(slot, times: min(note.count, 1_000))
        }
        notes.removeAll(keepingCapacity: true)
    }

    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        tell()
        policy.inserted(slot, key: key, cost: cost)
    }

    mutating func removed(_ slot: Slot) {
        tell()
        policy.removed(slot)
    }

    mutating func evict(room: Room, newcomer: Slot?) -> Slot? { policy.evict(room: room, newcomer: newcomer) }
}
