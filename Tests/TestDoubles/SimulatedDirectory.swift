import FoundationEssentials
import TintypeTesting

@testable import TintypeCaching
@testable import TintypeImages

/// The entries of a cache, in memory: names, sizes, and times.
struct SimulatedDirectory {
    private(set) var folders = [[EntryName: (size: Int, modified: Int64)]](repeating: [:], count: EntryName.folders)
    private(set) var usage = CacheUsage()

    subscript(name: EntryName) -> (size: Int, modified: Int64)? { folders[name.folder][name] }

    mutating func put(_ name: EntryName, size: Int, at time: Int64) {
        remove(name)
        folders[name.folder][name] = (size, time)
        usage.entries += 1
        usage.bytes += size
    }

    mutating func remove(_ name: EntryName) {
        guard let old = folders[name.folder].removeValue(forKey: name) else { return }
        usage.entries -= 1
        usage.bytes -= old.size
    }

    mutating func renew(_ name: EntryName, at time: Int64) { folders[name.folder][name]?.modified = time }

    func list(_ folder: Int) -> [EvictionHand.Listed] {
        folders[folder].map { EvictionHand.Listed(name: $0.key, size: $0.value.size, modified: $0.value.modified) }
    }
}

/// A process that reads and stores in a simulated directory, as a disk cache does.
struct SimulatedProcess {
    var hand: EvictionHand
    let capacity: Int
    private(set) var hits = 0
    private(set) var listed = 0
    private(set) var evicted = 0

    init(capacity: Int, using generator: inout SeededRandom) {
        self.capacity = capacity
        hand = EvictionHand(order: (0..<EntryName.folders).shuffled(using: &generator))
    }

    /// Reads an entry, or stores it if it is missing.
    mutating func request(_ name: EntryName, size: Int, in directory: inout SimulatedDirectory, at time: Int64) {
        guard let found = directory[name] else { return store(name, size: size, in: &directory, at: time) }
        hits += 1
        let age = time - found.modified
        if !(0...hand.renewalAge).contains(age) { directory.renew(name, at: time) }
    }

    private mutating func store(_ name: EntryName, size: Int, in directory: inout SimulatedDirectory, at time: Int64) {
        guard size <= capacity else { return }
        let old = directory[name]?.size ?? 0
        directory.put(name, size: size, at: time)
        if let visit = hand.noteStore(of: size, replacing: old, in: name.folder) {
            look(visit, in: directory, at: time)
        }
        var listed = 0
        let limits = CacheUsage(entries: .max, bytes: capacity)
        while let step = hand.nextStep(toMeet: limits, listed: &listed, now: time) {
            switch step {
            case .list(let visit): look(visit, in: directory, at: time)
            case .evict(let entry):
                guard directory[entry.name]?.modified == entry.modified else {
                    hand.noteFailedEviction(of: entry)
                    continue
                }
                directory.remove(entry.name)
                evicted += 1
                listed = 0
                hand.noteEviction(of: entry, now: time)
            }
        }
    }

    private mutating func look(_ visit: EvictionHand.Visit, in directory: SimulatedDirectory, at time: Int64) {
        let entries = directory.list(visit.folder)
        listed += entries.count
        hand.noteListing(entries, of: visit, now: time)
    }
}
