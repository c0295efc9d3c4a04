internal import CSQLite
internal import FoundationEssentials
internal import Glibc

/// The index of the entries: an SQLite database that tells which entries were used least recently, and how much all take.
///
/// It is derived from the files, and may be thrown away. It has a rollback journal, because the index of a write-ahead log is
/// mapped memory that other processes change. One thread at a time uses it.
final class DiskIndex {
    static let file = "index.sqlite"
    static let damagedFile = "index.damaged"
    /// The files that SQLite reads beside it.
    static let sideFiles = ["-journal", "-wal", "-shm"].map { file + $0 }
    /// "Tint", so that a database of another program is not taken for ours.
    static let applicationID: Int64 = 0x5469_6E74
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
    private let delete: Statement
    private let touch: Statement
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
        delete = try database.prepare("DELETE FROM entries WHERE id = ?1")
        touch = try database.prepare("UPDATE entries SET accessed = ?4 WHERE \(name) AND accessed < ?4")
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
        writeState.bind(6, state.boot)
        try writeState.run([
            Int64(state.usage.entries), Int64(state.usage.bytes), Int64(state.nextFolder), Int64(state.sweepFolder),
            state.isClosed ? 1 : 0,
        ])
    }

    // MARK: Rows

    private func row(_ statement: Statement) -> Row {
        Row(
            name: EntryName(statement, column: 1), id: statement.integer(0),
            size: min(max(0, Int(statement.integer(4))), Self.largestTotal),
            accessed: statement.integer(5),
            created: statement.integer(6), expires: statement.isNull(7) ? nil : statement.integer(7),
            lifetime: statement.isNull(8) ? nil : statement.integer(8))
    }

    func row(_ name: EntryName) throws(SQLiteError) -> Row? {
        defer { find.reset() }
        find.bind(name.columns)
        return try find.step() ? row(find) : nil
    }

    /// Inserts a row, in place of the one that the entry has.
    func put(_ new: Row) throws(SQLiteError) {
        try remove(new.name)
        state.usage.entries += 1
        state.usage.bytes += new.size
        try Self.check(state.usage)
        var (id, step) = (new.id, Int64(1))
        // Ever farther, so that many entries of one moment don't try all ids of the others.
        while try !insert(new, id: id) { (id, step) = (id > .max - step ? 1 : id + step, min(2 * step, 1 << 40)) }
    }

    /// - Returns: false if another row has the id.
    private func insert(_ row: Row, id: Int64) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            try insert.run(
                [id] + row.name.columns + [Int64(row.size), row.accessed, row.created, row.expires, row.lifetime])
            return true
        } catch {
            // SQLITE_CONSTRAINT_PRIMARYKEY, a macro that Swift doesn't see.
            guard error.code == SQLITE_CONSTRAINT | 6 << 8 else { throw error }
            return false
        }
    }

    /// Removes a row, if there is one.
    func remove(_ name: EntryName) throws(SQLiteError) { if let row = try row(name) { try remove(row) } }

    func remove(_ row: Row) throws(SQLiteError) {
        try delete.run([row.id])
        guard database.changes > 0 else { return }
        state.usage.entries -= 1
        state.usage.bytes -= row.size
        try Self.check(state.usage)
    }

    func removeAll() throws(SQLiteError) {
        try database.execute("DELETE FROM entries")
        state.usage = CacheUsage()
        // There is nothing left to compare.
        state.nextFolder = EntryName.folders
    }

    /// Notes that an entry was used.
    func setAccessTime(_ time: Int64, of name: EntryName) throws(SQLiteError) {
        try touch.run(name.columns + [time])
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
        statement.bind([first, first | 0xFF_FFFF_FFFF_FFFF])
        var names: [EntryName] = []
        while try statement.step() {
            names.append(EntryName(statement, column: 0))
        }
        return names
    }

    /// The rows that were used least recently. Of rows with equal times, those that were stored first.
    /// - Parameter time: the present; later times count as this.
    func leastRecentlyUsed(now time: Int64, limit: Int) throws(SQLiteError) -> [Row] {
        // A little before the present: an entry of the future is never preferred to one that was just stored.
        let statement = try database.prepare("UPDATE entries SET accessed = ?1 - 1 WHERE accessed > ?1")
        try statement.run([time])
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
        statement.bind([value, Int64(limit)])
        var rows: [Row] = []
        while try statement.step() { rows.append(row(statement)) }
        return rows
    }

    // MARK: Ids

    /// An id for an entry that was stored at a time.
    static func id(at time: Int64, sequence: Int) -> Int64 { unit(of: time) << 12 | Int64(sequence & 0xFFF) }

    /// The lowest id of entries that were stored in a later millisecond.
    static func firstID(after time: Int64) -> Int64 { unit(of: (time / 1_000 + 1) * 1_000) << 12 }

    /// A number of 51 bits for a time: its microseconds, which reach to 2041, but only its milliseconds from 2036 on.
    private static func unit(of time: Int64) -> Int64 {
        let last: Int64 = 1 << 51 - 1 << 47
        return time < last ? max(1, time) : min(last + (time - last) / 1_000, 1 << 51 - 1)
    }
}

/// Telling whose a database is, making the tables, and noticing a loss of power.
extension DiskIndex {
    private static let tables = """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY, source_high INTEGER NOT NULL, source_low INTEGER NOT NULL, variant INTEGER NOT NULL,
            size INTEGER NOT NULL, accessed INTEGER NOT NULL, created INTEGER NOT NULL, expires INTEGER, lifetime INTEGER
        );
        CREATE UNIQUE INDEX entries_name ON entries (source_high, source_low, variant);
        CREATE INDEX entries_accessed ON entries (accessed);
        CREATE INDEX entries_expires ON entries (expires) WHERE expires IS NOT NULL;
        CREATE INDEX entries_idle ON entries (accessed + lifetime) WHERE lifetime IS NOT NULL;
        CREATE TABLE state (
            entries INTEGER NOT NULL, bytes INTEGER NOT NULL, next_folder INTEGER NOT NULL, sweep_folder INTEGER NOT NULL,
            closed INTEGER NOT NULL, boot TEXT NOT NULL
        );
        """

    /// Whose a database is.
    enum Identity {
        case new, ours
        case newer(version: Int64)
        case foreign
    }

    /// Reads the identity with one statement, so that tables that another process is making are seen as a whole or not at all.
    static func identify(_ database: Database) throws(SQLiteError) -> Identity {
        let statement = try database.prepare(
            """
            SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master),
                (SELECT count(*) FROM sqlite_master WHERE type IN ('trigger', 'view'))
            FROM pragma_application_id, pragma_user_version
            """)
        guard try statement.step() else { return .foreign }
        let (application, version, tables) = (statement.integer(0), statement.integer(1), statement.integer(2))
        if application == applicationID {
            if version == self.version {
                // They would run with each batch.
                guard statement.integer(3) == 0 else {
                    throw SQLiteError(code: SQLITE_CORRUPT, message: "the index has triggers or views")
                }
                return .ours
            }
            guard version > self.version else { throw SQLiteError(code: SQLITE_CORRUPT, message: "version \(version)") }
            return .newer(version: version)
        }
        return application == 0 && version == 0 && tables == 0 ? .new : .foreign
    }

    /// Makes the tables in an empty database.
    static func createTables(in database: Database) throws(SQLiteError) {
        try configure(database)
        try database.transaction { () throws(SQLiteError) in
            // Another process may have been faster.
            guard case .new = try identify(database) else { return }
            try database.execute(tables)
            try database.execute("INSERT INTO state VALUES (0, 0, 0, 0, 0, '')")
            try database.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        }
    }

    /// Sets what holds for one connection.
    static func configure(_ database: Database) throws(SQLiteError) {
        // Debian's `secure_delete` would write zeros over each removed row. A batch has 512 rows, each with its name on another
        // page of a large index, so that the 2 MB that SQLite would keep are too few, and it would write pages twice.
        try database.execute(
            """
            PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 0; PRAGMA secure_delete = OFF;
            PRAGMA cache_size = -8192;
            """)
    }

    /// Decides whether the index has to be compared with the files: if it is new, or the computer may have lost power since it was
    /// written, so that the latest changes of the files, the journals, or the index may be missing.
    /// - Parameters:
    ///   - isEmpty: true if there are no entries.
    ///   - hasAll: tells whether no journal has names that are not in the index.
    func begin(isNew: Bool, isEmpty: Bool, hasAll: () -> Bool) throws(SQLiteError) {
        let boot = Self.boot
        guard isNew || state.boot != boot else { return }
        let needsComparison = isNew || !state.isClosed || !hasAll()
        try transaction { () throws(SQLiteError) in
            if needsComparison { state.nextFolder = isEmpty ? EntryName.folders : 0 }
            state.boot = boot
        }
    }

    /// The identity of the system's run.
    private static let boot: String = {
        guard let file = fopen("/proc/sys/kernel/random/boot_id", "re") else { return "unknown" }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 64)
        guard fgets(&text, 64, file) != nil else { return "unknown" }
        return String(decoding: text.prefix { $0 > 32 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}

extension EntryName {
    /// The three columns that a row has of a name.
    fileprivate var columns: [Int64?] {
        [Int64(bitPattern: sourceHigh), Int64(bitPattern: sourceLow), Int64(bitPattern: variant)]
    }

    /// Reads a name from three columns, of which `column` is the first.
    fileprivate init(_ statement: Statement, column: Int32) {
        self.init(
            sourceHigh: UInt64(bitPattern: statement.integer(column)),
            sourceLow: UInt64(bitPattern: statement.integer(column + 1)),
            variant: UInt64(bitPattern: statement.integer(column + 2)))
    }
}
