internal import CSQLite
internal import FoundationEssentials
internal import Glibc

/// The work with the index: batches, eviction, and expiration. Files change first, rows follow.
extension DiskStore {
    /// The milliseconds that a thread waits for another process that uses the index.
    private static let busyTimeout: Int32 = 300
    /// The number of entries that one transaction removes.
    static let sliceSize = 256

    // MARK: Opening

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

    // MARK: Batches

    /// Writes the rows of all names that wait, of this process and of those that have ended, and then evicts.
    /// - Parameter bytes: the space to free, beyond what the limits ask for.
    /// - Returns: the entries that were evicted.
    @discardableResult func writeIndex(freeing bytes: Int = 0) throws(ImageError) -> CacheSweep {
        checkDirectory()
        let configuration = limits.withLock { $0 }
        let evicted = try withIndex { index, directory, state throws(SQLiteError) in
            guard !index.isReadOnly else { return CacheSweep() }
            if needsComparison.withLock({ $0 }) {
                try index.transaction { () throws(SQLiteError) in index.state.nextFolder = 0 }
                needsComparison.withLock { $0 = false }
            }
            try writeBatch(index, directory, &state)
            let evicted = try evict(from: index, directory, configuration, freeing: bytes)
            noteIndexed(index.state.usage)
            return evicted
        }
        return evicted ?? CacheSweep()
    }

    private func noteIndexed(_ usage: CacheUsage) {
        writer.withLock { $0.indexed = usage }
        noteUsage(usage)
    }

    private func writeBatch(
        _ index: DiskIndex, _ directory: CacheDirectory, _ state: inout Index
    ) throws(SQLiteError) {
        let pending = writer.withLock { writer in
            if let journal = writer.journal, !writer.pending.isEmpty {
                // Later names go into another journal.
                state.retired.append(journal)
                writer.journal = nil
            }
            defer {
                writer.pending = [:]
                writer.pendingBytes = 0
            }
            return writer.pending
        }
        let accesses = notes.withLock { notes in
            defer { notes.accesses = [:] }
            return notes.accesses
        }
        let dead = Journal.dead(in: directory)
        let time = time
        var unresolved: [EntryName: Pending] = [:]
        do throws(SQLiteError) {
            guard !pending.isEmpty || !accesses.isEmpty || !dead.isEmpty else {
                // Another process may have changed the totals.
                return index.state = try index.committedState()
            }
            var names = pending
            for name in dead.flatMap(\.names) where names[name] == nil { names[name] = Pending() }
            try index.transaction { () throws(SQLiteError) in
                for (name, pending) in names {
                    switch look(at: name, pending, in: directory, now: time) {
                    case .present(let row): try index.put(row)
                    case .absent: try index.remove(name)
                    case .unknown: unresolved[name] = pending
                    }
                }
                for (name, access) in accesses { try index.setAccessTime(access.time, of: name) }
            }
        } catch {
            restore(pending)
            throw error
        }
        for (name, access) in accesses where access.needsFileTime { directory.setTime(access.time, of: name) }
        restore(unresolved)
        guard unresolved.isEmpty else { return }
        for (journal, names) in dead {
            for name in names { try? directory.remove(journal.writer.unfinishedPath(of: name)) }
            journal.remove()
        }
        for journal in state.retired { journal.remove() }
        state.retired = []
    }

    /// Lets names wait for another batch; later changes of them count.
    private func restore(_ pending: [EntryName: Pending]) {
        writer.withLock { writer in
            for (name, value) in pending where writer.pending[name] == nil { writer.notePending(name, value) }
        }
    }

    /// The result of a look at a file.
    enum Look {
        case present(DiskIndex.Row)
        case absent
        /// The file can't be looked at now, such as without free descriptors.
        case unknown
    }

    /// Looks at the file of a name. Only ENOENT means that there is none.
    func look(
        at name: EntryName, _ pending: Pending = Pending(), in directory: CacheDirectory, now time: Int64
    ) -> Look {
        do throws(FileError) {
            let status = try directory.status(of: name)
            guard status.isRegular else { return .absent }
            let modified = min(time, status.modified)
            if var row = pending.row, pending.inode == status.inode {
                row.size = status.allocatedSize
                row.accessed = max(min(time, row.accessed), modified)
                return .present(row)
            }
            // A damaged file takes space too.
            var row = DiskIndex.Row(
                name: name, id: DiskIndex.id(at: modified, sequence: Int(name.sourceLow & 0xFFF)),
                size: status.allocatedSize, accessed: modified, created: modified)
            if let (description, _) = try directory.description(of: name.path) {
                row.id = DiskIndex.id(at: description.stored, sequence: Int(name.sourceLow & 0xFFF))
                row.created = description.entry.created.cacheTime
                row.expires = description.entry.expires?.cacheTime
                row.lifetime = description.entry.idleLifetime?.cacheTime
            }
            return .present(row)
        } catch {
            return error.isMissing ? .absent : .unknown
        }
    }

    // MARK: Evicting

    /// Removes the least recently used entries until the limits are met, with a margin that makes evictions rare: a twentieth, or as
    /// many entries as make a batch.
    private func evict(
        from index: DiskIndex, _ directory: CacheDirectory, _ configuration: DiskCache.Configuration, freeing: Int
    ) throws(SQLiteError) -> CacheSweep {
        let usage = index.state.usage
        let maximumBytes = max(0, configuration.capacity.bytes)
        let maximumCount = max(0, configuration.maximumCount ?? .max)
        var (bytes, count) = (Int.max, Int.max)
        if usage.bytes > maximumBytes || usage.entries > maximumCount {
            let margin = max(0, usage.bytes) / max(1, usage.entries / Self.batchSize)
            bytes = maximumBytes - min(maximumBytes / 20, margin)
            count = maximumCount - min(maximumCount / 20, Self.batchSize)
        }
        if freeing > 0 { bytes = min(bytes, usage.bytes - freeing) }
        var evicted = CacheSweep()
        defer { counters.withLock { $0.evictions += evicted.files } }
        var looks = 4 * Self.sliceSize
        while index.state.usage.bytes > bytes || index.state.usage.entries > count {
            let time = time
            var progress = false
            try index.transaction { () throws(SQLiteError) in
                for row in try index.leastRecentlyUsed(now: time, limit: Self.sliceSize) {
                    guard index.state.usage.bytes > bytes || index.state.usage.entries > count else { break }
                    switch try remove(row, from: index, directory, now: time, mayLook: looks > 0) {
                    case .removed:
                        evicted.files += 1
                        evicted.bytes += row.size
                        looks += 4
                    case .refreshed: looks -= 1
                    case .missing: break
                    case .failed: continue
                    }
                    progress = true
                }
            }
            guard progress else { break }
        }
        return evicted
    }

    private enum Removal { case removed, refreshed, missing, failed }

    /// Removes the file of a row, and the row, in the transaction that is under way. If the process ends before the commit, a row is left
    /// without a file, which heals; a file without a row would not.
    /// - Parameter mayLook: true to keep an entry that another process used or replaced since its row was written.
    private func remove(
        _ row: DiskIndex.Row, from index: DiskIndex, _ directory: CacheDirectory, now time: Int64, mayLook: Bool
    ) throws(SQLiteError) -> Removal {
        // A time in the future is no use: it would keep the entry for ever.
        if mayLook, let status = try? directory.status(of: row.name),
            status.modified > row.accessed, status.modified <= time,
            case .present(let new) = look(at: row.name, in: directory, now: time)
        {
            try index.put(new)
            return .refreshed
        }
        var removal = Removal.removed
        do throws(FileError) {
            try directory.remove(row.name.path)
        } catch {
            guard error.isMissing else { return .failed }
            removal = .missing
        }
        try index.remove(row)
        return removal
    }

    // MARK: Expiring

    /// Removes up to ``sliceSize`` entries that have expired.
    func removeExpiredSlice() throws(ImageError) -> CacheSweep {
        let configuration = limits.withLock { $0 }
        let time = time
        let bound = ageBound(configuration, at: time, sweeping: true)
        let sweep = try withIndex { index, directory, _ throws(SQLiteError) in
            guard !index.isReadOnly else { return CacheSweep() }
            if bound != nil, configuration.expiry == .byCreation { try index.indexCreationTimes() }
            var sweep = CacheSweep()
            var progress = true
            // A slice in which all entries were used meanwhile is not the last one.
            while sweep.files == 0, progress {
                progress = false
                try index.transaction { () throws(SQLiteError) in
                    let rows = try index.expired(at: time, bound: bound, configuration.expiry, limit: Self.sliceSize)
                    for row in rows {
                        switch try remove(row, from: index, directory, now: time, mayLook: true) {
                        case .removed:
                            sweep.files += 1
                            sweep.bytes += row.size
                        case .refreshed, .missing: break
                        case .failed: continue
                        }
                        progress = true
                    }
                }
            }
            noteIndexed(index.state.usage)
            return sweep
        }
        return sweep ?? CacheSweep()
    }

    // MARK: Queries

    /// The totals of the index.
    func usage() -> CacheUsage {
        let usage = try? withIndex { index, _, _ throws(SQLiteError) in try index.committedState().usage }
        let found = (usage ?? nil) ?? CacheUsage()
        noteUsage(found)
        return found
    }

    /// Rows in the order of storing.
    func rows(after id: Int64, limit: Int) -> [DiskIndex.Row] {
        let rows = try? withIndex { index, _, _ throws(SQLiteError) in try index.rows(after: id, limit: limit) }
        return (rows ?? nil) ?? []
    }

    func row(_ name: EntryName) -> DiskIndex.Row? {
        let row = try? withIndex { index, _, _ throws(SQLiteError) in try index.row(name) }
        return (row ?? nil) ?? nil
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
