internal import CSQLite

/// A connection to an SQLite database, used by one thread at a time.
final class Database {
    enum Mode {
        case readWrite, readOnly
        /// For a database that no process can write to: takes no locks and creates no files.
        case immutable
    }

    let path: String
    fileprivate let handle: OpaquePointer

    /// Opens a database.
    /// - Parameters:
    ///   - path: the path of the database file.
    ///   - mode: the access to the file.
    ///   - busyTimeout: the number of milliseconds to wait while another process writes.
    init(path: String, mode: Mode, busyTimeout: Int32) throws(SQLiteError) {
        var flags = SQLITE_OPEN_NOMUTEX
        var name = path
        switch mode {
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

    /// Executes statements without values or rows.
    func execute(_ sql: String) throws(SQLiteError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error() }
    }

    func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var statement: OpaquePointer?
        // Statements live as long as their connection. SQLite optimizes for that.
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil) == SQLITE_OK, let statement else {
            throw error()
        }
        return Statement(statement, database: self)
    }

    /// Returns the first column of the first row of a statement's result.
    func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// True if the system refused to open the file for writing.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// Runs `body` in a transaction, during which no other connection can write. If `body` throws, its changes are undone.
    func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // If SQLite has already rolled back, this fails, which does no harm.
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
