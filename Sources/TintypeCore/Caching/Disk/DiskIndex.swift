internal import CSQLite
internal import FoundationEssentials

/// The index of the entries: an SQLite database that tells which entries were used least recently, and how much all take.
///
/// It is derived from the files, and may be thrown away. It has a rollback journal, because the index of a write-ahead log is
/// mapped memory that other processes change. One thread at a time uses it.
final class DiskIndex {
    static let file = "index.sqlite"
    /// The files that SQLite reads beside it.
    static let sideFiles = ["-journal", "-wal", "-shm"].map { file + $0 }
    /// "Tint", so that a database of another program is not taken for ours.
    static let applicationID: Int64 = 0x5469_6E74
    /// Versions 1 and 2 belong to the ``LegacyLayout``.
    static let version: Int64 = 3

    /// An entry. `id` grows with the time of storing: microseconds since 1970, shifted by 12 bits that keep ids apart.
    struct Row: Equatable {
        var name: EntryName
        var id: Int64
        /// The space that the file takes on the disk.
        var size: Int
        /// Times in microseconds since 1970.
        var accessed: Int64
        var created: Int64
        var expires: Int64?
        /// The time after the last use at which the entry expires, in microseconds.
        var lifetime: Int64?
    }

    struct State: Equatable {
        var usage = CacheUsage()
        /// The next folder to compare with the index, after the index was made or the computer lost power;
        /// ``EntryName/folders`` if that is done.
        var nextFolder = EntryName.folders
        /// The next folder to compare with the index when entries expire.
        var sweepFolder = 0
        /// True if the last writer closed the index.
        var isClosed = true
        /// The identity of the system's run.
        var boot = ""
    }

    /// Needed only where age counts from creation: each index makes a batch write more pages.
    private static let createdIndex = "CREATE INDEX IF NOT EXISTS entries_created ON entries (created)"

    private static let columns =
        "id, source_high, source_low, variant, size, accessed, created, expires, lifetime"

    /// True for an index that nobody can write to.
    let isReadOnly: Bool
    private let database: Database
    private let find: Statement
    private let insert: Statement
    private let update: Statement
    private let delete: Statement
    private let touch: Statement
    private let isTaken: Statement
    private let readState: Statement
    private let writeState: Statement
    /// The state as the transaction that is under way leaves it.
    var state = State()

    init(_ database: Database, isReadOnly: Bool) throws(SQLiteError) {
        self.isReadOnly = isReadOnly
        if !isReadOnly { try Self.configure(database) }
        self.database = database
        let name = "source_high = ?1 AND source_low = ?2 AND variant = ?3"
        find = try database.prepare("SELECT \(Self.columns) FROM entries WHERE \(name)")
        insert = try database.prepare("INSERT INTO entries (\(Self.columns)) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)")
        update = try database.prepare(
            "UPDATE entries SET size = ?2, accessed = ?3, created = ?4, expires = ?5, lifetime = ?6 WHERE id = ?1")
        delete = try database.prepare("DELETE FROM entries WHERE id = ?1")
        touch = try database.prepare("UPDATE entries SET accessed = ?4 WHERE \(name) AND accessed < ?4")
        isTaken = try database.prepare("SELECT 1 FROM entries WHERE id = ?1")
        readState = try database.prepare(
            "SELECT entries, bytes, next_folder, sweep_folder, closed, boot FROM state")
        writeState = try database.prepare(
            "UPDATE state SET entries=?1, bytes=?2, next_folder=?3, sweep_folder=?4, closed=?5, boot=?6")
        state = try committedState()
    }

    /// The state in the database.
    func committedState() throws(SQLiteError) -> State {
        defer { readState.reset() }
        guard try readState.step() else {
            throw SQLiteError(code: SQLITE_CORRUPT, message: "the index has no totals")
        }
        let read = State(
            usage: CacheUsage(entries: Int(readState.integer(0)), bytes: Int(readState.integer(1))),
            nextFolder: Int(readState.integer(2)), sweepFolder: Int(readState.integer(3)),
            isClosed: readState.integer(4) != 0, boot: readState.text(5) ?? "")
        try Self.check(read.usage)
        let folders = 0...EntryName.folders
        guard folders.contains(read.nextFolder), folders.contains(read.sweepFolder) else { throw Self.damage }
        return read
    }

    /// More than any disk has.
    private static let largestTotal = 1 << 60
    private static let damage = SQLiteError(code: SQLITE_CORRUPT, message: "the index has totals that can't be right")

    /// SQLite doesn't notice a flipped bit in a number.
    private static func check(_ usage: CacheUsage) throws(SQLiteError) {
        guard (0...largestTotal).contains(usage.entries), (0...largestTotal).contains(usage.bytes) else { throw damage }
    }

    /// Counts all rows, in the transaction that is under way.
    /// - Complexity: O(*n*) in the number of entries.
    func recount() throws(SQLiteError) {
        let statement = try database.prepare("SELECT count(*), total(size) FROM entries")
        guard try statement.step() else { return }
        let usage = CacheUsage(entries: Int(statement.integer(0)), bytes: Int(statement.integer(1)))
        try Self.check(usage)
        state.usage = usage
    }

    /// Runs a closure in a transaction that no other process writes beside, and writes the changed state with it.
    ///
    /// The closure may set ``State/isClosed``, which any other transaction clears.
    func transaction<Result>(
        _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        let before = state
        do throws(SQLiteError) {
            return try database.transaction { () throws(SQLiteError) in
                state = try committedState()
                let committed = state
                state.isClosed = false
                let result = try body()
                if state != committed { try save() }
                return result
            }
        } catch {
            state = before
            throw error
        }
    }

    private func save() throws(SQLiteError) {
        writeState.bind(1, state.usage.entries)
        writeState.bind(2, state.usage.bytes)
        writeState.bind(3, state.nextFolder)
        writeState.bind(4, state.sweepFolder)
        writeState.bind(5, state.isClosed ? 1 : 0)
        writeState.bind(6, state.boot)
        try writeState.run()
    }

    // MARK: Rows

    private func bind(_ name: EntryName, to statement: Statement) {
        statement.bind(1, Int64(bitPattern: name.sourceHigh))
        statement.bind(2, Int64(bitPattern: name.sourceLow))
        statement.bind(3, Int64(bitPattern: name.variant))
    }

    private func row(_ statement: Statement) -> Row {
        Row(
            name: EntryName(
                sourceHigh: UInt64(bitPattern: statement.integer(1)),
                sourceLow: UInt64(bitPattern: statement.integer(2)), variant: UInt64(bitPattern: statement.integer(3))),
            id: statement.integer(0), size: min(max(0, Int(statement.integer(4))), Self.largestTotal),
            accessed: statement.integer(5),
            created: statement.integer(6), expires: statement.isNull(7) ? nil : statement.integer(7),
            lifetime: statement.isNull(8) ? nil : statement.integer(8))
    }

    func row(_ name: EntryName) throws(SQLiteError) -> Row? {
        defer { find.reset() }
        bind(name, to: find)
        return try find.step() ? row(find) : nil
    }

    /// Inserts a row, in place of the one that the entry has.
    func put(_ new: Row) throws(SQLiteError) {
        var new = new
        if let old = try row(new.name) {
            state.usage.bytes += new.size - old.size
            try Self.check(state.usage)
            if old.id == new.id {
                update.bind(1, new.id)
                update.bind(2, new.size)
                update.bind(3, new.accessed)
                update.bind(4, new.created)
                update.bind(5, new.expires)
                update.bind(6, new.lifetime)
                return try update.run()
            }
            try delete(id: old.id)
        } else {
            state.usage.entries += 1
            state.usage.bytes += new.size
            try Self.check(state.usage)
        }
        while try isTaken(new.id) { new.id += 1 }
        insert.bind(1, new.id)
        insert.bind(2, Int64(bitPattern: new.name.sourceHigh))
        insert.bind(3, Int64(bitPattern: new.name.sourceLow))
        insert.bind(4, Int64(bitPattern: new.name.variant))
        insert.bind(5, new.size)
        insert.bind(6, new.accessed)
        insert.bind(7, new.created)
        insert.bind(8, new.expires)
        insert.bind(9, new.lifetime)
        try insert.run()
    }

    private func isTaken(_ id: Int64) throws(SQLiteError) -> Bool {
        defer { isTaken.reset() }
        isTaken.bind(1, id)
        return try isTaken.step()
    }

    /// Removes a row, if there is one.
    func remove(_ name: EntryName) throws(SQLiteError) { if let row = try row(name) { try remove(row) } }

    func remove(_ row: Row) throws(SQLiteError) {
        try delete(id: row.id)
        guard database.changes > 0 else { return }
        state.usage.entries -= 1
        state.usage.bytes -= row.size
        try Self.check(state.usage)
    }

    private func delete(id: Int64) throws(SQLiteError) {
        delete.bind(1, id)
        try delete.run()
    }

    func removeAll() throws(SQLiteError) {
        try database.execute("DELETE FROM entries")
        state.usage = CacheUsage()
        // There is nothing left to compare.
        state.nextFolder = EntryName.folders
    }

    /// Notes that an entry was used.
    func setAccessTime(_ time: Int64, of name: EntryName) throws(SQLiteError) {
        bind(name, to: touch)
        touch.bind(4, time)
        try touch.run()
    }

    // MARK: Queries

    /// Rows in the order of storing.
    func rows(after id: Int64, limit: Int) throws(SQLiteError) -> [Row] {
        try rows(where: "id > ?1 ORDER BY id", id, limit: limit)
    }

    /// The names of the rows of one folder.
    func names(inFolder folder: Int) throws(SQLiteError) -> [EntryName] {
        let first = Int64(bitPattern: UInt64(folder) << 56)
        let statement = try database.prepare(
            "SELECT source_high, source_low, variant FROM entries WHERE source_high BETWEEN ?1 AND ?2")
        statement.bind(1, first)
        statement.bind(2, first | 0xFF_FFFF_FFFF_FFFF)
        var names: [EntryName] = []
        while try statement.step() {
            names.append(
                EntryName(
                    sourceHigh: UInt64(bitPattern: statement.integer(0)),
                    sourceLow: UInt64(bitPattern: statement.integer(1)),
                    variant: UInt64(bitPattern: statement.integer(2))))
        }
        return names
    }

    /// The rows that were used least recently. Of rows with equal times, those that were stored first.
    /// - Parameter time: the present; later times count as this.
    func leastRecentlyUsed(now time: Int64, limit: Int) throws(SQLiteError) -> [Row] {
        // A little before the present: an entry of the future is never preferred to one that was just stored.
        let statement = try database.prepare("UPDATE entries SET accessed = ?1 - 1 WHERE accessed > ?1")
        statement.bind(1, time)
        try statement.run()
        return try oldest(limit: limit)
    }

    /// The rows that were used least recently, without a change of the index.
    func oldest(limit: Int) throws(SQLiteError) -> [Row] {
        try rows(where: "accessed <= ?1 ORDER BY accessed, id", .max, limit: limit)
    }

    /// Entries whose own end has come, those that were idle for too long, and those that are too old.
    /// - Parameters:
    ///   - time: the present.
    ///   - bound: entries of this time and before are too old.
    func expired(
        at time: Int64, bound: Int64?, _ expiry: DiskCache.Configuration.Expiry, limit: Int
    ) throws(SQLiteError) -> [Row] {
        var found = try rows(where: "expires <= ?1", time, limit: limit)
        if found.count < limit {
            found += try rows(
                where: "lifetime IS NOT NULL AND accessed + lifetime <= ?1", time, limit: limit - found.count)
        }
        guard let bound, found.count < limit else { return found }
        switch expiry {
        case .byAccess: found += try rows(where: "accessed <= ?1", bound, limit: limit - found.count)
        case .byModification:
            found += try rows(where: "id < ?1", Self.firstID(after: bound), limit: limit - found.count)
        case .byCreation: found += try rows(where: "created <= ?1", bound, limit: limit - found.count)
        }
        return found
    }

    /// Prepares for ages that count from creation. Not in a transaction.
    func indexCreationTimes() throws(SQLiteError) { try database.execute(Self.createdIndex) }

    private func rows(where condition: String, _ value: Int64, limit: Int) throws(SQLiteError) -> [Row] {
        let statement = try database.prepare("SELECT \(Self.columns) FROM entries WHERE \(condition) LIMIT ?2")
        statement.bind(1, value)
        statement.bind(2, limit)
        var rows: [Row] = []
        while try statement.step() { rows.append(row(statement)) }
        return rows
    }

    // MARK: Ids

    /// An id for an entry that was stored at a time.
    static func id(at time: Int64, sequence: Int) -> Int64 { clamped(time) << 12 | Int64(sequence & 0xFFF) }

    /// The time of storing, in microseconds since 1970.
    static func time(of id: Int64) -> Int64 { id >> 12 }

    /// The lowest id of entries that were stored in a later millisecond.
    static func firstID(after time: Int64) -> Int64 { clamped((time / 1_000 + 1) * 1_000) << 12 }

    private static func clamped(_ time: Int64) -> Int64 { min(max(1, time), 1 << 51 - 1) }
}
