internal import CSQLite
internal import FoundationEssentials
internal import Glibc

/// A disk cache without its queues: every call does its work on the calling thread.
///
/// Reading takes a connection of its own from a small pool and waits for nobody. Everything that changes the index goes
/// through one connection under ``writer``; the queue above sees to it that one thread at a time wants it.
///
/// An entry is stored in this order: the file, complete, under a name never used before; the row, in one transaction
/// with the removal of the row it replaces; then the replaced file is removed. Whoever looks at any moment, from any
/// process, sees the old entry or the new one. What a crash in between leaves is a file without a row, which is found
/// later.
final class DiskStore: Sendable {
    /// What writing needs.
    struct Writer {
        var index: DiskIndex?
        /// The file that ``index`` has open, to notice when somebody removes or replaces it.
        var indexFile: FileStatus?
    }

    /// What was noticed while reading and is for the writer to do.
    struct Chores {
        /// When entries were read.
        var accessTimes: [Int64: Int64] = [:]
        /// Entries to drop, with whether they were damaged.
        var drops: [StoredFile: Bool] = [:]
        /// The index itself is damaged.
        var indexIsDamaged = false

        var isEmpty: Bool { accessTimes.isEmpty && drops.isEmpty && !indexIsDamaged }
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
    let chores = Lock(Chores())
    let counters = Lock(CacheStatistics())
    private let loggedCauses = Lock(Set<String>())

    init(
        _ configuration: DiskCache.Configuration, files: any CacheFileSystem, now: @escaping @Sendable () -> Date,
        log: @escaping @Sendable (String) -> Void
    ) {
        layout = DiskLayout(directory: configuration.directory)
        self.files = files
        self.now = now
        self.log = log
        limits = Lock(configuration)
    }

    var time: Int64 { now().cacheTime }

    // MARK: Reading

    /// Runs `body` on a reading connection; `nil` if there is no index, or it cannot be read.
    func withReader<Result>(_ body: (DiskIndexReader) throws(SQLiteError) -> Result) -> Result? {
        do throws(SQLiteError) {
            let (pooled, generation) = readers.withLock { ($0.idle.popLast(), $0.generation) }
            let reader: DiskIndexReader
            if let pooled {
                reader = pooled
            } else {
                guard let opened = try openReader() else { return nil }
                reader = opened
            }
            let result = try body(reader)
            readers.withLock { if $0.generation == generation { $0.idle.append(reader) } }
            return result
        } catch {
            if error.isCorruption { chores.withLock { $0.indexIsDamaged = true } }
            note("cannot read \(layout.index): \(error)", cause: "read \(error.code)")
            return nil
        }
    }

    private func openReader() throws(SQLiteError) -> DiskIndexReader? {
        // Reading makes no directory.
        guard (try? files.status(layout.index)) != nil else { return nil }
        do throws(SQLiteError) {
            return try openReader(mode: .readWrite)
        } catch {
            guard [SQLITE_CANTOPEN, SQLITE_READONLY].contains(error.primaryCode) else { throw error }
            // Where nothing can be written there are no locks to take, and nobody who changes what is read.
            return try openReader(mode: .immutable)
        }
    }

    private func openReader(mode: Database.Mode) throws(SQLiteError) -> DiskIndexReader? {
        let database = try Database(path: layout.index, mode: mode, busyTimeout: 1_000)
        guard try database.integer("PRAGMA application_id") == DiskIndexSchema.applicationID,
            try database.integer("PRAGMA user_version") == DiskIndexSchema.version
        else { return nil }
        return try DiskIndexReader(database)
    }

    func discardReaders() {
        let discarded = readers.withLock { readers in
            readers.generation += 1
            defer { readers.idle = [] }
            return readers.idle
        }
        _ = discarded
    }

    func contains(_ key: ImageKey) -> Bool {
        guard let row = withReader({ reader throws(SQLiteError) in try reader.row(forKey: key) }), let row else {
            return false
        }
        return !isExpired(row)
    }

    /// The entry under a key, if it is there, valid and whole. Others are noted for the writer to drop.
    func entry(forKey key: ImageKey) -> DiskCacheEntry? {
        let entry = readEntry(forKey: key)
        counters.withLock { counters in
            if entry == nil { counters.misses += 1 } else { counters.hits += 1 }
        }
        return entry
    }

    private func readEntry(forKey key: ImageKey) -> DiskCacheEntry? {
        var missing: Int64?
        while true {
            guard let row = withReader({ reader throws(SQLiteError) in try reader.row(forKey: key) }), let row else {
                return nil
            }
            guard !isExpired(row) else {
                drop(row, isDamaged: false)
                return nil
            }
            do throws(FileError) {
                guard let data = try payload(of: row) else {
                    drop(row, isDamaged: true)
                    return nil
                }
                noteAccess(row.id)
                return row.entry(data: data)
            } catch {
                // Between the row and the file somebody may have replaced the entry: then there is another row now.
                guard error.isMissing, missing != row.id else {
                    if error.isMissing {
                        drop(row, isDamaged: true)
                    } else {
                        note("\(error)", cause: "\(error.operation) \(error.code)")
                    }
                    return nil
                }
                missing = row.id
            }
        }
    }

    /// The bytes of an entry; `nil` if they are not what was written.
    func payload(of row: IndexRow) throws(FileError) -> Data? {
        do throws(FileError) {
            let data = try files.read(layout.file(row.id), count: row.payloadSize, fileSize: row.fileSize)
            return EntryFile.checksum(data) == row.checksum ? data : nil
        } catch {
            // The size is wrong, or the medium is bad.
            if error.code == EIO { return nil }
            throw error
        }
    }

    private func isExpired(_ row: IndexRow) -> Bool {
        let time = time
        if let expires = row.expires, expires <= time { return true }
        guard let bound = ageBound(at: time, sweeping: false) else { return false }
        switch limits.withLock({ $0.expiry }) {
        case .byCreation: return row.created <= bound
        case .byModification: return row.id < DiskLayout.firstID(after: bound)
        case .byAccess: return max(row.accessed, chores.withLock { $0.accessTimes[row.id] ?? 0 }) <= bound
        }
    }

    /// Entries of this time and older are too old; `nil` if no age is.
    func ageBound(at time: Int64, sweeping: Bool) -> Int64? {
        guard let maximumAge = limits.withLock({ $0.maximumAge }), maximumAge >= .zero else { return nil }
        // With an age of zero entries live until the next sweep.
        if maximumAge == .zero, !sweeping { return nil }
        return time - Int64(min(maximumAge.inSeconds, 1e12) * 1e6)
    }

    private func noteAccess(_ id: Int64) {
        let time = time
        chores.withLock { chores in
            // Bounded; when nobody can write, the order of the latest reads is what is lost.
            if chores.accessTimes.count < Self.maximumAccessTimes || chores.accessTimes[id] != nil {
                chores.accessTimes[id] = time
            }
        }
    }

    static let maximumAccessTimes = 4_096
    /// So many reads are written together.
    static let accessBatch = 512

    func drop(_ row: IndexRow, isDamaged: Bool) {
        chores.withLock { $0.drops[StoredFile(id: row.id, size: row.fileSize)] = isDamaged }
    }

    /// Whether the writer has something to do that should not wait for the next store.
    var hasUrgentChores: Bool {
        chores.withLock { !$0.drops.isEmpty || $0.indexIsDamaged || $0.accessTimes.count >= Self.accessBatch }
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
        note("\(error)", cause: "\(error.operation) \(error.code)")
        return ImageError(
            code, stage: .cache, source: error.path, reason: "cannot \(error.operation): \(error.message)",
            underlying: error)
    }

    func failure(_ error: SQLiteError, _ code: ImageError.Code) -> ImageError {
        note("cannot write \(layout.index): \(error)", cause: "index \(error.code)")
        return ImageError(
            code, stage: .cache, source: layout.index, reason: "cannot write the index: \(error)", underlying: error)
    }
}
