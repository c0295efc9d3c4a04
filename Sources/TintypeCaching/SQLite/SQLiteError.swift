internal import CSQLite

/// An error that SQLite reports for a failed call.
struct SQLiteError: Error, Sendable, CustomStringConvertible {
    /// The extended result code.
    var code: Int32
    var message: String

    /// The code without its extension, such as `SQLITE_FULL`.
    var primaryCode: Int32 { code & 0xFF }

    /// True if the file is damaged, or isn't a database.
    var isCorruption: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

    /// True if the database is damaged, truncated, without its tables, or has tables that refuse rows.
    var isDamageOfIndex: Bool {
        isCorruption || [SQLITE_ERROR, SQLITE_CONSTRAINT].contains(primaryCode) || code == SQLITE_IOERR | (2 << 8)
    }

    var description: String { "\(message) (SQLite \(code))" }
}
