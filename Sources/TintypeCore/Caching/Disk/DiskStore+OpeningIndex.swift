internal import CSQLite
internal import FoundationEssentials
internal import Glibc

/// Opening, replacing, and closing the index.
extension DiskStore {
    /// The milliseconds that a thread waits for another process that uses the index.
    private static let busyTimeout: Int32 = 300
    /// Runs a closure with the index, after making or replacing it if need be.
    ///
    /// An index that turns out to be damaged is moved away, and the closure runs once more with a new one.
    /// - Returns: `nil` if nothing was ever stored.
    func withIndex<Result>(
        _ body: (DiskIndex, CacheDirectory, inout Index) throws(SQLiteError) -> Result
    ) throws(ImageError) -> Result? {
        guard let directory = openDirectory() else { return nil }
        return try index.withLockUnchecked { state throws(ImageError) in
            var failure: SQLiteError?
            for _ in 0..<2 {
                do throws(SQLiteError) {
                    guard let index = try openIndex(&state, in: directory) else { break }
                    let result = try body(index, directory, &state)
                    isIndexBusy.withLock { $0 = false }
                    return result
                } catch {
                    failure = error
                    if error.isBusy { isIndexBusy.withLock { $0 = true } }
                    guard error.isDamage else { break }
                    moveIndexAway(&state, in: directory, error)
                }
            }
            if let refusal = state.refusal { throw unavailable(refusal) }
            if let failure { throw self.failure(failure) }
            return nil
        }
    }

    /// Opens the index, if it is one that this version may use.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` for the index of a newer version or another program.
    func checkIndex() throws(ImageError) {
        do throws(ImageError) {
            _ = try withIndex { _, _, _ throws(SQLiteError) in }
        } catch {
            // Without an index, the journal waits.
            if error.code == .cacheUnavailable { throw error }
        }
    }

    /// - Returns: `nil` if there is none, and none may be made; ``Index/refusal`` has the reason, if any.
    private func openIndex(_ state: inout Index, in directory: CacheDirectory) throws(SQLiteError) -> DiskIndex? {
        let status = try? directory.status(LegacyLayout.index)
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
        } else {
            guard isWritable, directory.exists(Self.marker) else { return nil }
            // SQLite would make the file readable for others. An empty one is a new database to it.
            try? directory.create(LegacyLayout.index)
        }
        let path = "\(directory.path)/\(LegacyLayout.index)"
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
            guard isWritable else { return nil }
            try LegacyLayout.foldLog(of: opened)
            database = nil
            try? directory.rename(LegacyLayout.index, to: LegacyLayout.movedIndex)
            guard !directory.exists(LegacyLayout.index) else {
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
        state.inode = (try? directory.status(LegacyLayout.index))?.inode ?? 0
        return state.index
    }

    /// Decides whether the index has to be compared with the files: if it is new, or the computer may have lost power since it was
    /// written, so that the latest changes of the files, the journals, or the index may be missing.
    private func begin(_ index: DiskIndex, in directory: CacheDirectory, isNew: Bool) throws(SQLiteError) {
        let boot = Self.boot
        guard isNew || index.state.boot != boot else { return }
        let isKnown = index.state.isClosed && Journal.dead(in: directory).isEmpty
        let folders = ((try? directory.list("entries")) ?? []).filter { $0.utf8.count == 2 }
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

    private func moveIndexAway(_ state: inout Index, in directory: CacheDirectory, _ error: SQLiteError) {
        note("\(path)/index.sqlite is damaged and is made again from the files: \(error)", cause: "damaged")
        state.index = nil
        try? directory.rename(LegacyLayout.index, to: LegacyLayout.damagedIndex)
        // Left behind, the journal of the old index would be played into the new one.
        for suffix in ["-journal", "-wal", "-shm"] { try? directory.remove(LegacyLayout.index + suffix) }
    }

    /// Writes that all is in the index, and closes it, the journal, and the directory.
    func close() {
        _ = try? withIndex { index, _, state throws(SQLiteError) in
            guard !index.isReadOnly, state.retired.isEmpty, writer.withLock({ $0.pending.isEmpty }) else { return }
            try index.transaction { () throws(SQLiteError) in index.state.isClosed = true }
        }
        index.withLockUnchecked { $0.close() }
        writer.withLock { writer in
            // What waits is named by the journal, which the next process takes over.
            if writer.pending.isEmpty { writer.journal?.remove() }
            writer.journal = nil
            writer.pending = [:]
            writer.pendingBytes = 0
            writer.prepared = nil
        }
        directory.withLock { $0 = nil }
    }
}

extension DiskStore.Index {
    fileprivate mutating func close() {
        index = nil
        directory = nil
        // Their names go into the index when another process finds them.
        retired = []
    }
}

extension SQLiteError {
    /// True if another process uses the database.
    fileprivate var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

    /// True if the database is damaged, truncated, or without its tables.
    fileprivate var isDamage: Bool {
        isCorruption || primaryCode == SQLITE_ERROR || code == SQLITE_IOERR | (2 << 8)
    }
}
