internal import CSQLite

/// A connection to an SQLite database; used by one thread at a time.
final class Database {
    enum Mode {
        case create, readWrite, readOnly
        /// For a database that nobody can write to: takes no locks and makes no files.
        case immutable
    }

    let path: String
    fileprivate let handle: OpaquePointer
    /// How many pages the log had after the last transaction; counted after ``leaveCheckpointsToCaller()``.
    private(set) var logPages = 0

    /// - Parameter busyTimeout: how many milliseconds to wait for another process that writes.
    init(path: String, mode: Mode, busyTimeout: Int32) throws(SQLiteError) {
        var flags = SQLITE_OPEN_NOMUTEX
        var name = path
        switch mode {
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .readOnly: flags |= SQLITE_OPEN_READONLY
        case .immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = "file:\(Self.uriEscaped(path))?immutable=1"
        }
        var handle: OpaquePointer?
        let result = sqlite3_open_v2(name, &handle, flags, nil)
        guard let handle, result == SQLITE_OK else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            let code = handle.map { sqlite3_extended_errcode($0) } ?? SQLITE_NOMEM
            sqlite3_close_v2(handle)
            throw SQLiteError(code: code, message: message)
        }
        self.path = path
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, busyTimeout)
    }

    deinit { sqlite3_close_v2(handle) }

    /// Runs statements that take no values and give no rows.
    func execute(_ sql: String) throws(SQLiteError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error() }
    }

    func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var statement: OpaquePointer?
        // Statements are kept as long as their connection; SQLite likes to know.
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil) == SQLITE_OK, let statement else {
            throw error()
        }
        return Statement(statement, database: self)
    }

    /// The first column of the first row that a statement gives.
    func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// The rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    // MARK: The log

    /// Leaves it to the caller to bring what the log has into the database, for which SQLite waits for the disk.
    func leaveCheckpointsToCaller() {
        // Takes the place of SQLite's own hook, which does so at the end of a transaction.
        _ = sqlite3_wal_hook(
            handle,
            { database, _, _, count in
                if let database {
                    Unmanaged<Database>.fromOpaque(database).takeUnretainedValue().logPages = Int(count)
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Brings into the database what the log has, as far as nobody reads an older state. Others read and write meanwhile.
    func checkpoint() throws(SQLiteError) { try execute("PRAGMA wal_checkpoint(PASSIVE)") }

    /// Runs `body` in a transaction that nobody else writes beside; what it wrote is undone if it throws.
    func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // SQLite may have rolled back already; then this says so, which does not matter.
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }

    func error() -> SQLiteError {
        SQLiteError(code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)))
    }

    private static func uriEscaped(_ path: String) -> String {
        path.utf8.reduce(into: "") { escaped, byte in
            let isPlain = byte < 0x80 && !"?#%".utf8.contains(byte) && byte > 0x20
            if isPlain {
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }
}
