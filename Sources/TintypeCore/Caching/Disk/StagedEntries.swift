internal import FoundationEssentials

/// The entries that are on their way to the disk: who looks for one of them has it at once.
final class StagedEntries: Sendable {
    private struct State {
        var entries: [ImageKey: (ticket: Int, entry: DiskCacheEntry)] = [:]
        var tickets = 0
    }

    private let state = Lock(State())

    /// Puts an entry in place of the one under the key. Gives the ticket to take it away by.
    func add(_ entry: DiskCacheEntry, forKey key: ImageKey) -> Int {
        state.withLock { state in
            state.tickets += 1
            state.entries[key] = (state.tickets, entry)
            return state.tickets
        }
    }

    /// Takes an entry away that has arrived, or will not; a later one under its key stays.
    func end(_ ticket: Int, forKey key: ImageKey) {
        let old = state.withLock { state in
            state.entries[key]?.ticket == ticket ? state.entries.removeValue(forKey: key)?.entry : nil
        }
        _ = old  // Given back outside the lock.
    }

    /// Whether an entry has neither arrived nor been removed or replaced.
    func isCurrent(_ ticket: Int, forKey key: ImageKey) -> Bool { state.withLock { $0.entries[key]?.ticket == ticket } }

    @inline(__always)
    func entry(forKey key: ImageKey) -> DiskCacheEntry? {
        state.withLock { $0.entries.isEmpty ? nil : $0.entries[key]?.entry }
    }

    /// The variants of a source that are on their way.
    func variants(ofSource source: String) -> [ImageVariant] {
        state.withLock { $0.entries.keys.filter { $0.source == source }.map(\.variant) }
    }

    /// Lets nobody see the entries any more that a removal concerns, though they are still written before it.
    func forget(where isConcerned: (ImageKey) -> Bool) {
        let old = state.withLock { state in
            let keys = state.entries.keys.filter(isConcerned)
            return keys.map { state.entries.removeValue(forKey: $0)?.entry }
        }
        _ = old
    }
}
