/// Files of entries that are none any more, evicted or replaced, and that nobody waits for: to remove one takes as long as to
/// write it, and a store that evicts some hundred would wait for all.
///
/// A process that is killed leaves them as files that nobody knows, which are found later.
struct DoomedFiles {
    /// When more wait, whoever dooms files removes them: what is on disk is not to grow far beyond what is counted.
    static let maximum = 4_096

    private var files: [StoredFile] = []
    private var isScheduled = false

    /// Whether some wait, or are being removed.
    var isBusy: Bool { isScheduled || !files.isEmpty }

    /// - Returns: false if too many wait already.
    mutating func add(_ added: [StoredFile]) -> Bool {
        guard files.count + added.count <= Self.maximum else { return false }
        files += added
        return true
    }

    /// Gives up to `limit` files to remove; none when nobody is left, and nobody is scheduled any more.
    mutating func take(limit: Int) -> ArraySlice<StoredFile> {
        let taken = files.suffix(limit)
        files.removeLast(taken.count)
        if taken.isEmpty { isScheduled = false }
        return taken
    }

    /// Whether somebody has to be found who removes them; true once, until all are gone.
    mutating func schedule() -> Bool {
        guard !files.isEmpty, !isScheduled else { return false }
        isScheduled = true
        return true
    }
}

extension DiskStore {
    /// So few are removed at once, in some 10 ms. Small caches never have more.
    static let fewFiles = 256

    func removeFiles(_ removed: some Sequence<StoredFile>) {
        // What cannot be removed now is found as a file without a row later.
        for file in removed { try? files.remove(layout.file(file.id)) }
    }

    /// Removes files at once if they are few, or if many wait already; else leaves them to ``removeDoomed(limit:)``.
    func doom(_ removed: [StoredFile]) {
        let isLeft = removed.count > Self.fewFiles && doomed.withLock { $0.add(removed) }
        if !isLeft { removeFiles(removed) }
    }

    var hasDoomed: Bool { doomed.withLock { $0.isBusy } }

    /// Removes up to `limit` of the files that wait; false if none did, and none is being removed.
    func removeDoomed(limit: Int) -> Bool {
        doomedRemoval.withLock { _ in
            let taken = doomed.withLock { $0.take(limit: limit) }
            removeFiles(taken)
            return !taken.isEmpty
        }
    }
}
