internal import FoundationEssentials
internal import Glibc

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
        /// One of the ``LegacyLayout``.
        case older
        case newer(version: Int64)
        case foreign
    }

    /// Reads the identity with one statement, so that tables that another process is making are seen as a whole or not at all.
    static func identify(_ database: Database) throws(SQLiteError) -> Identity {
        let statement = try database.prepare(
            """
            SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)
            FROM pragma_application_id, pragma_user_version
            """)
        guard try statement.step() else { return .foreign }
        let (application, version, tables) = (statement.integer(0), statement.integer(1), statement.integer(2))
        if application == applicationID {
            if version == self.version { return .ours }
            return (1..<self.version).contains(version) ? .older : .newer(version: version)
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
