/// When entries were read, until the index knows: in microseconds since 1970, by the id of their files.
///
/// They are written together, because to write one takes as long as to read a small image. An entry that is read again
/// meanwhile is written once.
struct AccessTimes {
    /// So many are written together.
    static let batch = 8_192
    /// When nobody can write, the times of further entries are what is lost.
    static let maximum = 16_384
    /// After so long fewer are written too, for the other processes that use the directory. In microseconds.
    static let longestWait: Int64 = 300_000_000

    private var noted: [Int64: Int64] = [:]
    private var writing: [Int64: Int64] = [:]
    /// When the first of those that were noted was.
    private var start: Int64 = 0

    mutating func note(_ id: Int64, at time: Int64) {
        guard noted.count < Self.maximum || noted[id] != nil else { return }
        if noted.isEmpty { start = time }
        noted[id] = time
    }

    subscript(id: Int64) -> Int64? { noted[id] ?? writing[id] }

    mutating func remove(_ id: Int64) -> Int64? {
        // From both, so that an older one does not come back.
        let old = writing.removeValue(forKey: id)
        return noted.removeValue(forKey: id) ?? old
    }

    /// Whether it is time to write them.
    func areDue(at time: Int64) -> Bool {
        // A clock that was set back makes them due: how long they have waited is not known then.
        noted.count >= Self.batch || !noted.isEmpty && !(0..<Self.longestWait).contains(time &- start)
    }

    /// Gives all that are to be written, which stay known until ``endWriting()``.
    mutating func beginWriting() -> [Int64: Int64] {
        if writing.isEmpty {
            writing = noted
        } else {
            writing.merge(noted) { max($0, $1) }
        }
        noted = [:]
        return writing
    }

    mutating func endWriting() { writing = [:] }
}

extension DiskStore {
    /// So many access times share a transaction, for which a store may have to wait.
    static let accessSlice = 1_024

    func noteAccess(_ id: Int64) {
        let time = time
        chores.withLock { $0.accessTimes.note(id, at: time) }
    }

    var areAccessTimesDue: Bool {
        let time = time
        return chores.withLock { $0.accessTimes.areDue(at: time) }
    }

    /// The access times that are to be written, in the order of the index, in which neighbours share pages.
    func beginWritingAccessTimes() -> [(key: Int64, value: Int64)] {
        chores.withLock { $0.accessTimes.beginWriting() }.sorted { $0.key < $1.key }
    }

    func writeAccessTimes(_ slice: ArraySlice<(key: Int64, value: Int64)>) throws(ImageError) {
        guard (try? files.status(layout.index)) != nil else { return }
        try withIndex { index throws(DiskFailure) in
            try change(index) { () throws(DiskFailure) in
                try indexed { () throws(SQLiteError) in try index.setAccessTimes(slice, now: time) }
            }
        }
    }

    func endWritingAccessTimes() { chores.withLock { $0.accessTimes.endWriting() } }
}
