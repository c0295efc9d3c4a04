internal import CSQLite
internal import FoundationEssentials
internal import Glibc

/// Keeps the index: opens, replaces, and closes it, and brings into it what happened to the files.
///
/// One thread at a time uses the index. Files change first, rows follow.
final class IndexKeeper: Sendable {
    /// The number of names that make a batch.
    static let batchSize = 512
    /// The milliseconds that a thread waits for another process that uses the index.
    private static let busyTimeout: Int32 = 300

    private struct State {
        var index: DiskIndex?
        /// The file that is open, and its directory.
        var inode: UInt64 = 0
        var directory: CacheDirectory?
        /// The reason why the index is not used: it is that of a newer version, or of another program.
        var refusal: String?
    }

    let context: DiskContext
    let pending: PendingWrites
    let notes: ReadNotes
    private let state = Lock(State())
    private let flags = Lock((isBusy: false, needsComparison: false))

    init(_ context: DiskContext, pending: PendingWrites, notes: ReadNotes) {
        self.context = context
        self.pending = pending
        self.notes = notes
    }

    /// True while the index can't be used, mostly because another process holds it, so that stores don't wait for it.
    var isBusy: Bool { flags.withLock { $0.isBusy } }

    /// Notes that the index was written.
    func noteSuccess() { flags.withLock { $0.isBusy = false } }

    /// True if the index missed a change of the files, so that all folders have to be compared with it.
    var needsComparison: Bool {
        get { flags.withLock { $0.needsComparison } }
        set { flags.withLock { $0.needsComparison = newValue } }
    }

    /// Runs a closure with the index, after making or replacing it if need be.
    ///
    /// An index that turns out to be damaged is moved away, and the closure runs once more with a new one.
    /// - Returns: `nil` if nothing was ever stored.
    func withIndex<Result>(
        _ body: (DiskIndex, CacheDirectory) throws(SQLiteError) -> Result
    ) throws(ImageError) -> Result? {
        guard let directory = context.openDirectory() else { return nil }
        return try state.withLockUnchecked { state throws(ImageError) in
            var failure: SQLiteError?
            for _ in 0..<2 {
                do throws(SQLiteError) {
                    guard let index = try openIndex(&state, in: directory) else { break }
                    return try body(index, directory)
                } catch {
                    failure = error
                    flags.withLock { $0.isBusy = true }
                    guard error.isDamage else { break }
                    moveIndexAway(&state, in: directory, error)
                }
            }
            if let refusal = state.refusal { throw context.unavailable(refusal) }
            if let failure { throw context.failure(failure) }
            return nil
        }
    }

    /// Opens the index, if it is one that this version may use, and learns the totals.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` for the index of a newer version or another program.
    func checkIndex() throws(ImageError) {
        do throws(ImageError) {
            _ = try withIndex { index, _ throws(SQLiteError) in pending.noteIndexed(index.state.usage) }
        } catch {
            // Without an index, the journal waits.
            if error.code == .cacheUnavailable { throw error }
        }
    }

    /// - Returns: `nil` if there is none, and none may be made; ``State/refusal`` has the reason, if any.
    private func openIndex(_ state: inout State, in directory: CacheDirectory) throws(SQLiteError) -> DiskIndex? {
        let status = try? directory.status(DiskIndex.file)
        if let index = state.index, state.directory === directory, let status, status.inode == state.inode {
            return index
        }
        state.index = nil
        state.refusal = nil
        let isWritable = directory.reasonAgainstWriting == nil
        if let status {
            guard status.isRegular else {
                state.refusal = "index.sqlite is no file, and is left alone; use another directory"
                return nil
            }
            if isWritable, status.owner != geteuid() {
                // Of a run as another user. It may be readable only.
                let error = SQLiteError(code: SQLITE_PERM, message: "it belongs to another user")
                moveIndexAway(&state, in: directory, error)
                guard !directory.exists(DiskIndex.file) else { throw error }
                return try openIndex(&state, in: directory)
            }
        } else {
            guard isWritable, directory.exists(DiskStore.marker) else { return nil }
            // SQLite would make the file readable for others. An empty one is a new database to it.
            try? directory.create(DiskIndex.file)
        }
        let path = "\(directory.path)/\(DiskIndex.file)"
        var database: Database? = try Database(
            path: path, mode: isWritable ? .readWrite : .immutable, busyTimeout: Self.busyTimeout)
        guard let opened = database else { return nil }
        let isNew: Bool
        switch try DiskIndex.identify(opened) {
        case .newer(let version):
            state.refusal =
                "index.sqlite: a newer Tintype wrote the index (version \(version)), which is left alone; use another directory"
            return nil
        case .foreign:
            state.refusal =
                "index.sqlite: the file is a database of some other program and is left alone; use another directory"
            return nil
        case .older:
            guard isWritable, !opened.isReadOnly else { return nil }
            try LegacyLayout.foldLog(of: opened)
            database = nil
            try? directory.rename(DiskIndex.file, to: LegacyLayout.movedIndex)
            guard !directory.exists(DiskIndex.file) else {
                throw SQLiteError(code: SQLITE_CANTOPEN, message: "the old index can't be renamed")
            }
            return try openIndex(&state, in: directory)
        case .new:
            guard isWritable else { return nil }
            try DiskIndex.createTables(in: opened)
            isNew = true
        case .ours: isNew = false
        }
        do throws(SQLiteError) {
            let index = try DiskIndex(opened, isReadOnly: !isWritable)
            if isWritable { try begin(index, in: directory, isNew: isNew) }
            state.index = index
        } catch {
            guard [SQLITE_READONLY, SQLITE_CANTOPEN].contains(error.primaryCode) else { throw error }
            // Where nothing can be written, nobody changes what is read.
            let database = try Database(path: path, mode: .immutable, busyTimeout: 0)
            state.index = try DiskIndex(database, isReadOnly: true)
        }
        state.directory = directory
        state.inode = (try? directory.status(DiskIndex.file))?.inode ?? 0
        return state.index
    }

    /// Decides whether the index has to be compared with the files: if it is new, or the computer may have lost power since it was
    /// written, so that the latest changes of the files, the journals, or the index may be missing.
    private func begin(_ index: DiskIndex, in directory: CacheDirectory, isNew: Bool) throws(SQLiteError) {
        let boot = Self.boot
        guard isNew || index.state.boot != boot else { return }
        let isKnown = index.state.isClosed && Journal.dead(in: directory).isEmpty
        let folders = ((try? directory.list(EntryName.root)) ?? []).filter { $0.utf8.count == 2 }
        try index.transaction { () throws(SQLiteError) in
            if isNew || !isKnown { index.state.nextFolder = folders.isEmpty ? EntryName.folders : 0 }
            index.state.boot = boot
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

    private func moveIndexAway(_ state: inout State, in directory: CacheDirectory, _ error: SQLiteError) {
        context.note(
            "\(context.path)/index.sqlite is damaged or can't be used, and is made again from the files: \(error)",
            cause: "damaged")
        state.index = nil
        try? directory.rename(DiskIndex.file, to: LegacyLayout.damagedIndex)
        // Left behind, the journal of the old index would be played into the new one.
        for suffix in ["-journal", "-wal", "-shm"] { try? directory.remove(DiskIndex.file + suffix) }
    }

    /// Writes that all is in the index, if so, and closes it.
    func close() {
        _ = try? withIndex { index, _ throws(SQLiteError) in
            guard !index.isReadOnly, pending.isEmpty else { return }
            try index.transaction { () throws(SQLiteError) in index.state.isClosed = true }
        }
        state.withLockUnchecked { $0 = State() }
    }
}

extension SQLiteError {
    /// True if the database is damaged, truncated, or without its tables.
    fileprivate var isDamage: Bool {
        isCorruption || primaryCode == SQLITE_ERROR || code == SQLITE_IOERR | (2 << 8)
    }
}
