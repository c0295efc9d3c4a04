/// Work that reading leaves to the cache's threads: the uses of entries, and files to remove.
final class ReadNotes: Sendable {
    struct Discard {
        /// That of the file that was read. One that has its name since may even have its inode.
        var status: FileStatus
        var isDamaged: Bool
    }

    private struct State {
        /// The times of uses, in microseconds since 1970, that files and rows have to get.
        var uses: [EntryName: Int64] = [:]
        /// The time of the first of them.
        var firstUse: Int64 = 0
        /// The times of uses that are not much later than those of the files, which evictions alone ask for.
        var recentUses: [EntryName: Int64] = [:]
        var discards: [EntryName: Discard] = [:]
        /// True if there are files to remove, many uses, or uses of a minute ago.
        var isDue = false
    }

    /// The number of uses that are kept in memory, and the number that makes a batch.
    private static let (maximumUses, dueUses) = (16_384, 8_192)
    private let state = Lock(State())

    /// Notes that an entry was used.
    /// - Parameters:
    ///   - time: in microseconds since 1970.
    ///   - isRecent: true if the time of the file is precise enough.
    func noteUse(of name: EntryName, at time: Int64, isRecent: Bool) {
        state.withLock { state in
            guard !isRecent else {
                // What is lost here is less than a minute.
                if state.recentUses.count >= Self.maximumUses { state.recentUses.removeAll(keepingCapacity: true) }
                state.recentUses[name] = time
                return
            }
            guard state.uses.count < Self.maximumUses || state.uses[name] != nil else { return }
            if state.uses.isEmpty { state.firstUse = time }
            state.uses[name] = time
            // The clock may be set back.
            if state.uses.count >= Self.dueUses || !(0..<60_000_000).contains(time &- state.firstUse) {
                state.isDue = true
            }
        }
    }

    func discard(_ name: EntryName, _ status: FileStatus, isDamaged: Bool) {
        state.withLock { state in
            state.discards[name] = Discard(status: status, isDamaged: isDamaged)
            state.isDue = true
        }
    }

    /// Returns true, once, if the cache's threads should look at the notes now.
    func takeDue() -> Bool {
        state.withLock { state in
            guard state.isDue else { return false }
            state.isDue = false
            return true
        }
    }

    /// The time of the latest use that is not written yet.
    func lastUse(of name: EntryName) -> Int64? {
        state.withLock { state in
            guard let recent = state.recentUses[name] else { return state.uses[name] }
            return max(recent, state.uses[name] ?? 0)
        }
    }

    /// Takes the uses that files and rows have to get.
    func takeUses() -> [EntryName: Int64] {
        state.withLock { state in
            defer { state.uses = [:] }
            return state.uses
        }
    }

    /// Takes the uses that only rows have to get, before an eviction.
    func takeRecentUses() -> [EntryName: Int64] {
        state.withLock { state in
            defer { state.recentUses = [:] }
            return state.recentUses
        }
    }

    /// The files to remove. Each stays here until it is removed, so that whoever waits for all of them waits for those that another
    /// task is removing, too.
    var discards: [EntryName: Discard] { state.withLock { $0.discards } }

    /// Forgets a file that was removed.
    func finish(_ discard: Discard, of name: EntryName) {
        state.withLock { state in
            if state.discards[name]?.status == discard.status { state.discards[name] = nil }
        }
    }

    func clear() { state.withLock { $0 = State() } }
}
