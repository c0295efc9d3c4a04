internal import FoundationEssentials

/// The entries that are on their way to the disk. Reads find them at once, and removals cancel them.
final class StagedEntries: Sendable {
    private struct State {
        var tickets = 0
        /// The newest entry of each key that is not written yet.
        var newest: [ImageKey: (ticket: Int, entry: DiskCacheEntry)] = [:]
        /// All stores under way.
        var keys: [Int: ImageKey] = [:]
        /// The stores under way that a removal or a later store overtook.
        var cancelled: Set<Int> = []
    }

    private let state = Lock(State())

    /// Registers a store.
    /// - Returns: the ticket of the store.
    func begin(_ entry: DiskCacheEntry, forKey key: ImageKey) -> Int {
        state.withLock { state in
            state.tickets += 1
            state.newest[key] = (state.tickets, entry)
            state.keys[state.tickets] = key
            return state.tickets
        }
    }

    /// Ends a store. A later one of the same key stays.
    func end(_ ticket: Int) {
        let old = state.withLock { state -> DiskCacheEntry? in
            state.cancelled.remove(ticket)
            guard let key = state.keys.removeValue(forKey: ticket), state.newest[key]?.ticket == ticket else {
                return nil
            }
            return state.newest.removeValue(forKey: key)?.entry
        }
        _ = old  // Freed outside the lock.
    }

    /// False if a removal or a later store of the key overtook the store, so that it must not write any more. A store that is about to
    /// write overtakes those that began before it.
    func claimWrite(_ ticket: Int) -> Bool {
        state.withLock { state in
            guard !state.cancelled.contains(ticket) else { return false }
            if state.keys.count > 1, let key = state.keys[ticket] {
                for (other, otherKey) in state.keys where other < ticket && otherKey == key {
                    state.cancelled.insert(other)
                }
            }
            return true
        }
    }

    /// The entry that is on its way under a key.
    @inline(__always)
    func entry(forKey key: ImageKey) -> DiskCacheEntry? {
        state.withLock { $0.newest.isEmpty ? nil : $0.newest[key]?.entry }
    }

    /// The variants of a source that are on their way.
    func variants(ofSource source: String) -> [ImageVariant] {
        state.withLock { $0.newest.keys.filter { $0.source == source }.map(\.variant) }
    }

    /// Cancels the stores of some keys.
    func cancel(where isConcerned: (ImageKey) -> Bool) {
        let old = state.withLock { state in
            for (ticket, key) in state.keys where isConcerned(key) { state.cancelled.insert(ticket) }
            let keys = state.newest.keys.filter(isConcerned)
            return keys.map { state.newest.removeValue(forKey: $0)?.entry }
        }
        _ = old
    }
}
