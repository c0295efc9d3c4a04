internal import CSQLite

/// The connection that writes the index. Used by one thread at a time, within ``transaction(_:)``.
///
/// It knows rows only: the files of rows that it removes are for the caller to remove, after the transaction is
/// committed.
final class DiskIndex {
    private let database: Database
    private let find: Statement
    private let file: Statement
    private let keys: Statement
    private let insert: Statement
    private let delete: Statement
    private let touch: Statement
    private let clamp: Statement
    private let oldest: Statement
    private let readState: Statement
    private let addTotals: Statement
    private let setShards: Statement

    /// What the transaction that is under way, or the last one, changed.
    private(set) var change = Change()

    struct Change {
        /// By how much the totals change.
        var usage = CacheUsage()
        var inserted: [StoredFile] = []
        var removed: [StoredFile] = []
    }

    /// The file, to notice when somebody removes or replaces it.
    var inode: UInt64 = 0
    /// The table beside the index, unless there can be none.
    var table: EntryTable?
    var writeLock: WriteLock?
    /// The rows of files that this process stored since the last transaction.
    var stage: [Int64: IndexRow] = [:]

    init(_ database: Database) throws(SQLiteError) {
        self.database = database
        find = try database.prepare(
            "SELECT id, file_size, key, source, variant FROM entries WHERE key BETWEEN ?1 AND ?2")
        file = try database.prepare("SELECT id, file_size, key FROM entries WHERE id = ?1")
        // The index of the keys has both columns: nothing else is read.
        keys = try database.prepare("SELECT key, id FROM entries INDEXED BY entries_key")
        insert = try database.prepare(
            """
            INSERT INTO entries (\(DiskIndexSchema.columns), key)
            VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)
            """)
        delete = try database.prepare("DELETE FROM entries WHERE id = ?1")
        touch = try database.prepare("UPDATE entries SET accessed = ?2 WHERE id = ?1 AND accessed < ?2")
        clamp = try database.prepare("UPDATE entries SET accessed = ?1 WHERE accessed > ?1")
        oldest = try database.prepare(
            "SELECT id, file_size, key FROM entries WHERE id <> ?1 ORDER BY accessed LIMIT ?2")
        readState = try database.prepare("SELECT entries, bytes, rebuild_shard, orphan_shard FROM state")
        addTotals = try database.prepare("UPDATE state SET entries = entries + ?1, bytes = bytes + ?2")
        setShards = try database.prepare("UPDATE state SET rebuild_shard = ?1, orphan_shard = ?2")
    }

    /// What is in the one row of the table of that name.
    struct State: Equatable {
        var usage = CacheUsage()
        /// The next directory whose files are to be put into a new index; ``DiskIndexSchema/shards`` when that is done.
        var rebuildShard = DiskIndexSchema.shards
        /// The next directory to search for files that the index does not know.
        var orphanShard: Int64 = 0
    }

    /// Runs `body` in a transaction, which writes the totals too. While it runs no other process writes.
    func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try database.transaction { () throws(SQLiteError) in
            change = Change()
            let result = try body()
            if change.usage != CacheUsage() {
                addTotals.bind(1, change.usage.entries)
                addTotals.bind(2, change.usage.bytes)
                try addTotals.run()
            }
            return result
        }
    }

    /// The state as it will be when the transaction that is under way is committed.
    func state() throws(SQLiteError) -> State {
        defer { readState.reset() }
        guard try readState.step() else { return State() }
        return State(
            usage: CacheUsage(
                entries: Int(readState.integer(0)) + change.usage.entries,
                bytes: Int(readState.integer(1)) + change.usage.bytes),
            rebuildShard: readState.integer(2), orphanShard: readState.integer(3))
    }

    /// The state, outside a transaction.
    func committedState() throws(SQLiteError) -> State {
        change = Change()
        return try state()
    }

    func setShards(rebuild: Int64, orphan: Int64) throws(SQLiteError) {
        setShards.bind(1, rebuild)
        setShards.bind(2, orphan)
        try setShards.run()
    }

    /// How many pages are in the log and not, for all that is known, in the database.
    var logPages: Int { database.logPages }

    func checkpoint() throws(SQLiteError) { try database.checkpoint() }

    /// Reads the whole index.
    /// - Throws: an error of damage, if there is any.
    func check() throws(SQLiteError) {
        let statement = try database.prepare("PRAGMA quick_check(1)")
        guard try statement.step(), statement.isText(0, equalTo: "ok") else {
            throw SQLiteError(
                code: SQLITE_CORRUPT, message: statement.text(0) ?? "the check gave no answer")
        }
    }

    // MARK: Rows

    /// The files of a key: one, or none.
    func files(forKey key: ImageKey) throws(SQLiteError) -> [StoredFile] {
        let hash = DiskIndexSchema.hash(key)
        return try files(hash...hash) {
            $0.isText(3, equalTo: key.source) && $0.isText(4, equalTo: key.variant.description)
        }
    }

    func files(ofSource source: String) throws(SQLiteError) -> [StoredFile] {
        try files(DiskIndexSchema.hashes(ofSource: source)) { $0.isText(3, equalTo: source) }
    }

    private func files(
        _ range: ClosedRange<Int64>, where isWanted: (Statement) -> Bool
    ) throws(SQLiteError) -> [StoredFile] {
        defer { find.reset() }
        find.bind(1, range.lowerBound)
        find.bind(2, range.upperBound)
        var files: [StoredFile] = []
        while try find.step() {
            guard isWanted(find) else { continue }
            files.append(StoredFile(find))
        }
        return files
    }

    func file(_ id: Int64) throws(SQLiteError) -> StoredFile? {
        defer { file.reset() }
        file.bind(1, id)
        return try file.step() ? StoredFile(file) : nil
    }

    /// Goes through the hashes of all keys, with the ids of their files.
    func forEachFile(_ body: (_ id: Int64, _ hash: Int64) -> Void) throws(SQLiteError) {
        defer { keys.reset() }
        while try keys.step() { body(keys.integer(1), keys.integer(0)) }
    }

    func insert(_ row: IndexRow) throws(SQLiteError) {
        insert.bind(1, row.id)
        insert.bind(2, row.key.source)
        insert.bind(3, row.key.variant.description)
        insert.bind(4, row.payloadSize)
        insert.bind(5, row.fileSize)
        insert.bind(6, Int64(bitPattern: row.checksum))
        insert.bind(7, row.created)
        insert.bind(8, row.accessed)
        insert.bind(9, row.expires)
        insert.bind(10, row.mimeType)
        insert.bind(11, row.validators?.entityTag)
        insert.bind(12, row.validators?.lastModified)
        insert.bind(13, row.extendedData)
        insert.bind(14, row.lifetime)
        insert.bind(15, row.transform)
        insert.bind(16, DiskIndexSchema.hash(row.key))
        try insert.run()
        change.usage.entries += 1
        change.usage.bytes += row.fileSize
        change.inserted.append(StoredFile(id: row.id, size: row.fileSize, hash: DiskIndexSchema.hash(row.key)))
    }

    /// Removes a row; false if it is gone already.
    func remove(_ file: StoredFile) throws(SQLiteError) -> Bool {
        delete.bind(1, file.id)
        try delete.run()
        guard database.changes > 0 else { return false }
        change.usage.entries -= 1
        change.usage.bytes -= file.size
        change.removed.append(file)
        return true
    }

    /// Notes a file that has no row, or none any more, for the table.
    func noteGone(_ file: StoredFile) { change.removed.append(file) }

    /// Removes rows; tells those that were still there.
    func remove(_ files: [StoredFile]) throws(SQLiteError) -> [StoredFile] {
        var removed: [StoredFile] = []
        for file in files where try remove(file) { removed.append(file) }
        return removed
    }

    func removeAll() throws(SQLiteError) {
        let usage = try state().usage
        // Without a condition SQLite drops the pages as a whole.
        try database.execute("DELETE FROM entries")
        change.usage.entries -= usage.entries
        change.usage.bytes -= usage.bytes
    }

    /// Writes the times of reads, best in the order of the ids.
    func setAccessTimes(
        _ times: some Sequence<(key: Int64, value: Int64)>, now: Int64
    ) throws(SQLiteError) {
        for (id, time) in times { _ = try setAccessTime(id, time, now: now) }
        try clampAccessTimes(now: now)
    }

    /// Writes the time of a read; false if the index knows it, or a later one.
    func setAccessTime(_ id: Int64, _ time: Int64, now: Int64) throws(SQLiteError) -> Bool {
        touch.bind(1, id)
        touch.bind(2, min(time, now))
        try touch.run()
        return database.changes > 0
    }

    /// Makes times later than now, from before the clock was set back, now: else those entries would never be the oldest.
    func clampAccessTimes(now: Int64) throws(SQLiteError) {
        clamp.bind(1, now)
        try clamp.run()
    }

    /// The files that were not used for the longest time, oldest first, without one of them.
    func leastRecentlyUsed(limit: Int, except id: Int64) throws(SQLiteError) -> [StoredFile] {
        oldest.bind(1, id)
        oldest.bind(2, limit)
        return try rows(oldest)
    }

    func makeCreatedIndex() throws(SQLiteError) { try database.execute(DiskIndexSchema.createdIndex) }

    /// Files for which a condition holds on an indexed column.
    func files(where condition: String, _ value: Int64, limit: Int) throws(SQLiteError) -> [StoredFile] {
        let statement = try database.prepare("SELECT id, file_size, key FROM entries WHERE \(condition) LIMIT ?2")
        statement.bind(1, value)
        statement.bind(2, limit)
        return try rows(statement)
    }

    private func rows(_ statement: Statement) throws(SQLiteError) -> [StoredFile] {
        defer { statement.reset() }
        var files: [StoredFile] = []
        while try statement.step() {
            files.append(StoredFile(statement))
        }
        return files
    }
}

extension StoredFile {
    /// - Parameter statement: a row of `id`, `file_size` and `key`.
    fileprivate init(_ statement: Statement) {
        self.init(id: statement.integer(0), size: Int(statement.integer(1)), hash: statement.integer(2))
    }
}
