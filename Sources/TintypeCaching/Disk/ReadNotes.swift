/// Work that reading leaves to the cache's threads: the times of uses, and files to remove.
final class ReadNotes: Sendable {
    struct Discard {
        /// The status of the file that was read. A later file of its name may even have its inode.
        var status: FileStatus
        var isDamaged: Bool
    }

    private struct State {
        /// The times of uses, in microseconds since 1970, that files have to get.
        var uses: [EntryName: Int64] = [:]
        var discards: [EntryName: Discard] = [:]
        /// True if there is work that nobody has taken.
        var isDue = false
    }

    private static let maximumUses = 16_384
    private let state = Lock(State())

    /// Notes that the time of an entry's file is to be renewed.
    func noteUse(of name: EntryName, at time: Int64) {
        state.withLock { state in
            guard state.uses.count < Self.maximumUses || state.uses[name] != nil else { return }
            state.uses[name] = time
            state.isDue = true
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
            defer { state.isDue = false }
            return state.isDue
        }
    }

    /// The time of the latest use that the file doesn't have yet.
    func lastUse(of name: EntryName) -> Int64? { state.withLock { $0.uses[name] } }

    var uses: [EntryName: Int64] { state.withLock { $0.uses } }

    /// Forgets a use whose time the file has.
    func finishUse(of name: EntryName, at time: Int64) {
        state.withLock { state in
            if state.uses[name] == time { state.uses[name] = nil }
        }
    }

    /// The files to remove. Each stays here until it is removed, so that whoever waits for all of them also waits for the removals of
    /// other tasks.
    var discards: [EntryName: Discard] { state.withLock { $0.discards } }

    /// Forgets a file that was removed.
    func finish(_ discard: Discard, of name: EntryName) {
        state.withLock { state in
            if state.discards[name]?.status == discard.status { state.discards[name] = nil }
        }
    }

    func clear() { state.withLock { $0 = State() } }
}
