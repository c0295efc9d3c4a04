internal import CSQLite

/// A prepared statement, used by the thread that uses its connection.
final class Statement {
    private let handle: OpaquePointer
    private let database: Database

    init(_ handle: OpaquePointer, database: Database) {
        self.handle = handle
        self.database = database
    }

    deinit { sqlite3_finalize(handle) }

    /// Tells SQLite to copy a value.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    // MARK: Values, numbered from 1

    /// Sets the parameters, from the first on.
    func bind(_ values: [Int64?]) {
        for (index, value) in values.enumerated() { bind(Int32(index + 1), value) }
    }

    func bind(_ index: Int32, _ value: Int64?) {
        if let value { sqlite3_bind_int64(handle, index, value) } else { sqlite3_bind_null(handle, index) }
    }

    func bind(_ index: Int32, _ value: String?) {
        guard var value else {
            sqlite3_bind_null(handle, index)
            return
        }
        _ = value.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                if let base = characters.baseAddress {
                    sqlite3_bind_text(handle, index, base, Int32(bytes.count), Self.transient)
                } else {
                    sqlite3_bind_text(handle, index, "", 0, Self.transient)  // A null pointer would be NULL.
                }
            }
        }
    }

    // MARK: Running

    /// Advances to the next row.
    /// - Returns: false after the last row.
    func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw database.error()
        }
    }

    /// Executes a statement without rows, and resets it for its next use.
    /// - Parameter values: its parameters, from the first on.
    func run(_ values: [Int64?] = []) throws(SQLiteError) {
        bind(values)
        defer { reset() }
        _ = try step()
    }

    /// Ends the reading. Until then, the connection's transaction stays open.
    func reset() { sqlite3_reset(handle) }

    // MARK: Columns, numbered from 0

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String? {
        guard let text = sqlite3_column_text(handle, column) else { return nil }
        let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column)))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns true if a column is equal to a text, without the cost of creating a string.
    func isText(_ column: Int32, equalTo value: String) -> Bool {
        guard let text = sqlite3_column_text(handle, column) else { return false }
        let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column)))
        return value.utf8.elementsEqual(bytes)
    }
}
