internal import CSQLite
internal import FoundationEssentials
internal import Glibc

/// A disk cache without its queues: every call does its work on the calling thread.
///
/// Reading takes a connection of its own from a small pool and waits for nobody. Everything that changes the index goes
/// through one connection under ``writer``; the queue above sees to it that one thread at a time wants it.
///
/// An entry is stored in this order: the file, complete with all that is known of it, under a name never used before;
/// its name in the ``EntryTable``, which makes it visible, and puts it on the list of files that have no row yet. Their
/// rows follow in one transaction, with the removal of the rows and the files that they replace: when the list is full,
/// when a limit is reached, or when somebody asks for what only the index tells. Any process writes the rows of all.
/// Whoever looks at any moment, from any process, sees the old entry or the new one. A process that is killed between
/// two steps leaves a file that nobody knows, which is found later.
final class DiskStore: Sendable {
    /// What writing needs.
    struct Writer {
        var index: DiskIndex?
        /// The file that ``index`` has open, to notice when somebody removes or replaces it.
        var indexFile: FileStatus?
        /// Whether the directory is on a disk of this machine.
        var isLocal = false
    }

    /// What was noticed while reading and is for the writer to do.
    struct Chores {
        /// When entries were read.
        var accessTimes = AccessTimes()
        /// Files to drop, by id.
        var drops: [Int64: Drop] = [:]
        /// The index itself is damaged.
        var indexIsDamaged = false
        /// Whether somebody was told to do them.
        var isScheduled = false

        /// Whether something is there to do but to write access times.
        var hasDrops: Bool { !drops.isEmpty || indexIsDamaged }
    }

    struct Drop {
        /// The hash of the key that was looked for.
        var hash: Int64
        var isDamaged: Bool
    }

    struct Readers {
        var idle: [DiskIndexReader] = []
        /// Grows when the index is replaced; readers of before are not put back.
        var generation = 0
    }

    let layout: DiskLayout
    let files: any CacheFileSystem
    let now: @Sendable () -> Date
    private let log: @Sendable (String) -> Void
    let limits: Lock<DiskCache.Configuration>
    let writer = Lock(Writer())
    private let readers = Lock(Readers())
    let emptiness = Lock<Emptiness?>(nil)
    let doomed = Lock(DoomedFiles())
    /// Held while they are removed.
    let doomedRemoval = Lock(())
    let writePace = Lock(WritePace())
    let chores = Lock(Chores())
    let counters = Lock(CacheStatistics())
    let tables = Lock(SharedTable())
    /// Entries that need not be read again; `nil` if none are kept.
    let encodedMemory: EncodedMemoryCache?
    /// What bytes go through on their way; stays what it was when the cache was made.
    let payloadCodec: PayloadCodec?
    let searchPaths = Lock<[DiskCache.SearchPath]>([])
    /// The sources of variants that this process stored and whose rows are not written yet.
    let pendingVariants = Lock(Set<Int64>())
    /// How often the table was made; tests look at it.
    let tablesMade = Lock(0)
    /// How many pages the log of the index may have until they are brought into the index.
    let logLimit: Int
    /// Set by who writes the index, for who waits for the disk in its place.
    let isCheckpointDue = Lock(false)
    private let loggedCauses = Lock(Set<String>())

    init(
        _ configuration: DiskCache.Configuration, files: any CacheFileSystem, logLimit: Int = DiskStore.usualLogLimit,
        now: @escaping @Sendable () -> Date, log: @escaping @Sendable (String) -> Void
    ) {
        self.logLimit = logLimit
        layout = DiskLayout(directory: configuration.directory)
        self.files = files
        self.now = now
        self.log = log
        limits = Lock(configuration)
        payloadCodec = configuration.payloadCodec
        encodedMemory = configuration.encodedMemoryCapacity.map { EncodedMemoryCache(capacity: $0.bytes) }
    }

    var time: Int64 { now().cacheTime }

    // MARK: Connections for reading

    /// Runs `body` on a reading connection; `nil` if there is no index, or it cannot be read.
    func withReader<Result>(_ body: (DiskIndexReader) throws(SQLiteError) -> Result) -> Result? {
        do throws(SQLiteError) {
            let (pooled, generation) = takeReader()
            let reader: DiskIndexReader
            if let pooled {
                reader = pooled
            } else {
                guard let opened = try openReader() else { return nil }
                reader = opened
            }
            let result = try body(reader)
            putBack(reader, generation)
            return result
        } catch {
            if error.isCorruption { chores.withLock { $0.indexIsDamaged = true } }
            note("cannot read \(layout.index): \(error)", cause: "read \(error.code)")
            return nil
        }
    }

    private func openReader() throws(SQLiteError) -> DiskIndexReader? {
        guard let database = try openDatabase(), case .ours = try DiskIndex.identify(database) else { return nil }
        return try DiskIndexReader(database)
    }

    /// Another connection to the index, if there is one, whoever's it is.
    func openDatabase() throws(SQLiteError) -> Database? {
        // Reading makes no directory.
        do throws(FileError) {
            _ = try files.status(layout.index)
        } catch {
            // No index is no entries; what keeps it from being one is worth a word.
            if !error.isMissing { note("\(error)", cause: error.cause) }
            return nil
        }
        do throws(SQLiteError) {
            return try openDatabase(mode: .readWrite)
        } catch {
            guard [SQLITE_CANTOPEN, SQLITE_READONLY].contains(error.primaryCode) else { throw error }
            // Where nothing can be written there are no locks to take, and nobody who changes what is read.
            return try openDatabase(mode: .immutable)
        }
    }

    private func openDatabase(mode: Database.Mode) throws(SQLiteError) -> Database {
        let database = try Database(path: layout.index, mode: mode, busyTimeout: 1_000)
        // SQLite looks at the file only when it has to.
        _ = try database.integer("PRAGMA application_id")
        return database
    }

    /// Whose the index is; `nil` if there is none, or it cannot be read.
    ///
    /// SQLite is asked, and not the file: who opens and closes that takes away the locks of all connections of this
    /// process, upon which other processes remove the log that is still in use
    /// (https://sqlite.org/howtocorrupt.html, section 2.2).
    var indexIdentity: DiskIndex.Identity? {
        guard (try? files.status(layout.index)) != nil else { return nil }
        let (pooled, generation) = takeReader()
        do throws(SQLiteError) {
            if let pooled {
                let identity = try DiskIndex.identify(pooled.database)
                putBack(pooled, generation)
                return identity
            }
            guard let database = try openDatabase() else { return nil }
            let identity = try DiskIndex.identify(database)
            if case .ours = identity { putBack(try DiskIndexReader(database), generation) }
            return identity
        } catch {
            return nil
        }
    }

    private func takeReader() -> (reader: DiskIndexReader?, generation: Int) {
        readers.withLockUnchecked { ($0.idle.popLast(), $0.generation) }
    }

    private func putBack(_ reader: DiskIndexReader, _ generation: Int) {
        readers.withLockUnchecked { if $0.generation == generation { $0.idle.append(reader) } }
    }

    func discardReaders() {
        let discarded = readers.withLockUnchecked { readers in
            readers.generation += 1
            defer { readers.idle = [] }
            return readers.idle
        }
        _ = discarded
    }

    func usage() -> CacheUsage {
        let usage = withReader { reader throws(SQLiteError) in try reader.usage() } ?? CacheUsage()
        noteUsage(usage)
        return usage
    }

    func noteUsage(_ usage: CacheUsage) {
        counters.withLock { counters in
            counters.entries = usage.entries
            counters.bytes = usage.bytes
        }
    }

    // MARK: Errors

    /// Logs what went wrong, once for each cause.
    func note(_ message: String, cause: String) {
        if loggedCauses.withLock({ $0.insert(cause).inserted }) { log(message) }
    }

    func failure(_ error: FileError, _ code: ImageError.Code) -> ImageError {
        note("\(error)", cause: error.cause)
        return ImageError(
            code, stage: .cache, source: layout.directory,
            reason: "cannot \(error.operation) \(nameInside(error.path)): \(error.message)", underlying: error)
    }

    func failure(_ error: SQLiteError, _ code: ImageError.Code) -> ImageError {
        note("cannot write \(layout.index): \(error)", cause: "index \(error.code)")
        return ImageError(
            code, stage: .cache, source: layout.directory, reason: "cannot write the index: \(error)", underlying: error
        )
    }

    /// What a path is in the cache's directory; errors name the directory itself already.
    private func nameInside(_ path: String) -> String {
        if path == layout.directory { return "it" }
        return path.hasPrefix(layout.directory + "/") ? String(path.dropFirst(layout.directory.count + 1)) : path
    }
}
