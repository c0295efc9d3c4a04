internal import CSQLite
internal import Glibc

/// Why an index cannot be used.
enum DiskIndexProblem: Error {
    /// The file is damaged, or no database.
    case damaged(SQLiteError)
    case newer(version: Int64)
    case foreign
    case failed(SQLiteError)

    init(_ error: SQLiteError) { self = error.isCorruption ? .damaged(error) : .failed(error) }
}

extension DiskIndex {
    /// Opens the index, and makes it if it is not there.
    /// - Parameters:
    ///   - hasFiles: asked for a new index; if there are files already, the index is to be made again from them.
    ///   - rename: gives a file of an older version another id; false if there is no such file.
    static func open(
        _ path: String, hasFiles: () -> Bool, rename: (_ id: Int64, _ newID: Int64) -> Bool
    ) throws(DiskIndexProblem) -> DiskIndex {
        let result: Result<DiskIndex, DiskIndexProblem>
        do throws(SQLiteError) {
            let database = try Database(path: path, mode: .create, busyTimeout: 5_000)
            if let problem = try prepare(database, hasFiles: hasFiles, rename: rename) {
                result = .failure(problem)
            } else {
                result = .success(try DiskIndex(database))
            }
        } catch {
            result = .failure(DiskIndexProblem(error))
        }
        return try result.get()
    }

    private static func prepare(
        _ database: Database, hasFiles: () -> Bool, rename: (Int64, Int64) -> Bool
    ) throws(SQLiteError) -> DiskIndexProblem? {
        // Nothing is written before it is known whose database it is.
        switch try identify(database) {
        case .other(let problem): return problem
        case .new:
            try configure(database)
            let firstShard = hasFiles() ? 0 : DiskIndexSchema.shards
            try database.transaction { () throws(SQLiteError) in
                // Another process may have been faster.
                guard case .new = try identify(database) else { return }
                try database.execute(DiskIndexSchema.tables)
                try database.execute("INSERT INTO state VALUES (0, 0, \(firstShard), 0)")
                try database.execute("PRAGMA application_id = \(DiskIndexSchema.applicationID)")
                try database.execute("PRAGMA user_version = \(DiskIndexSchema.version)")
            }
        case .older:
            try configure(database)
            try database.transaction { () throws(SQLiteError) in
                guard case .older = try identify(database) else { return }
                try migrate(database, rename: rename)
            }
        case .ours: try configure(database)
        }
        return nil
    }

    /// Whose a database is.
    enum Identity {
        case new, ours, older
        case other(DiskIndexProblem)
    }

    static func identify(_ database: Database) throws(SQLiteError) -> Identity {
        let application = try database.integer("PRAGMA application_id") ?? 0
        let version = try database.integer("PRAGMA user_version") ?? 0
        if application == DiskIndexSchema.applicationID {
            if version == DiskIndexSchema.version { return .ours }
            return (1..<DiskIndexSchema.version).contains(version) ? .older : .other(.newer(version: version))
        }
        let tables = try database.integer("SELECT count(*) FROM sqlite_master") ?? 0
        return application == 0 && version == 0 && tables == 0 ? .new : .other(.foreign)
    }

    private static func configure(_ database: Database) throws(SQLiteError) {
        // WAL lets readers go on beside a writer. With `NORMAL` the log is synced at checkpoints only: a crash of the
        // machine may lose the last entries, and damages nothing. Debian's `secure_delete` would write zeros over each
        // removed row. A transaction has 448 rows or more, of which each has its key on another page of a large index: the
        // 2 MB that SQLite would keep are too few, and it would write pages twice.
        try database.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF;
            PRAGMA cache_size = -8192; PRAGMA journal_size_limit = 16777216;
            """)
        database.leaveCheckpointsToCaller()
    }
}

/// Keeps other processes from opening or replacing the index at the same time. Ends with the object.
final class DirectoryLock {
    private let file: Int32

    /// - Parameter path: a file that is made if need be and stays.
    init(_ path: String) throws(FileError) {
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileError(operation: "create", path: path, code: errno) }
        while flock(file, LOCK_EX) != 0 {
            // Without locks, as on some network file systems, one process at a time is all that is safe; go on.
            guard errno == EINTR else { return }
        }
    }

    deinit { close(file) }
}
