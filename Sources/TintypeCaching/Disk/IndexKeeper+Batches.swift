internal import FoundationEssentials

/// The work with the rows: batches, eviction, expiration, and comparison with the files.
extension IndexKeeper {
    /// The number of entries that one transaction removes.
    private static let sliceSize = 256
    /// The number of entries that can't be removed after which an eviction ends.
    private static let maximumUnremovable = 16 * sliceSize
    /// The age in microseconds from which an unfinished file is one that a crash left behind.
    private static let leftoverAge: Int64 = 3_600_000_000

    // MARK: Batches

    /// Writes the rows of all names that wait, of this process and of those that have ended, and then evicts.
    /// - Parameters:
    ///   - bytes: the space to free, beyond what the limits ask for.
    ///   - writesRecentUses: true to write all uses, also those that are worth a row only where entries have to go.
    /// - Returns: the entries that were evicted.
    @discardableResult func writeIndex(
        freeing bytes: Int = 0, writesRecentUses: Bool = false
    ) throws(ImageError) -> CacheSweep {
        context.checkDirectory()
        let configuration = context.limits.withLock { $0 }
        let evicted = try withIndex { index, directory throws(SQLiteError) in
            guard !index.isReadOnly else {
                // Stores must not go on without end where the index alone can't be written.
                if directory.reasonAgainstWriting == nil { noteFailure() }
                return CacheSweep()
            }
            if needsComparison {
                try index.transaction { () throws(SQLiteError) in index.state.nextFolder = 0 }
                needsComparison = false
            }
            while try writeBatch(index, directory) {}
            if writesRecentUses { try writeRecentUses(index) }
            let evicted = try evict(from: index, directory, configuration, freeing: bytes)
            noteIndexed(index.state.usage)
            return evicted
        }
        return evicted ?? CacheSweep()
    }

    private func noteIndexed(_ usage: CacheUsage) {
        flags.withLock { $0.failures = 0 }
        pending.noteIndexed(usage)
    }

    /// - Returns: true if there may be more journals of others.
    private func writeBatch(_ index: DiskIndex, _ directory: OpenDirectory) throws(SQLiteError) -> Bool {
        let batch = pending.takeBatch()
        let uses = notes.takeUses()
        let dead = Journal.dead(in: directory)
        let time = context.time
        var unresolved: [EntryName: PendingWrites.Change] = [:]
        do throws(SQLiteError) {
            guard !batch.changes.isEmpty || !batch.journals.isEmpty || !uses.isEmpty || !dead.isEmpty else {
                // Another process may have changed the totals.
                index.state = try index.committedState()
                return false
            }
            var changes = batch.changes
            for name in dead.compactMap(\.names).joined() where changes[name] == nil {
                changes[name] = PendingWrites.Change()
            }
            // In the transaction, so that the rows of another process are not overwritten with older ones.
            try index.transaction { () throws(SQLiteError) in
                for (name, change) in changes {
                    switch change.look(at: name, in: directory, now: time) {
                    case .present(let row): try index.put(row)
                    case .absent: try index.remove(name)
                    case .unknown: unresolved[name] = change
                    }
                }
                for (name, time) in uses { try index.setAccessTime(time, of: name) }
                if dead.contains(where: { $0.names == nil }) { index.state.nextFolder = 0 }
            }
        } catch {
            pending.restore(batch.changes)
            throw error
        }
        pending.noteIndexed(index.state.usage)
        for (name, time) in uses { directory.setTime(time, of: name) }
        guard unresolved.isEmpty else {
            pending.restore(unresolved)
            return false
        }
        var mayHaveMore = dead.count == Journal.maximumDead
        for (journal, names) in dead {
            for name in names ?? [] { try? directory.remove(journal.writer.unfinishedPath(of: name)) }
            if !journal.remove() { mayHaveMore = false }
        }
        pending.finish(batch)
        return mayHaveMore
    }

    // MARK: Evicting

    /// Removes the least recently used entries until the limits are met, with a margin that makes evictions rare: a twentieth, or as
    /// many entries as make a batch.
    private func evict(
        from index: DiskIndex, _ directory: OpenDirectory, _ configuration: DiskCache.Configuration, freeing: Int
    ) throws(SQLiteError) -> CacheSweep {
        let maximumBytes = max(0, configuration.capacity.bytes)
        let maximumCount = max(0, configuration.maximumCount ?? .max)
        // Far above the limits, they were lowered, or the totals are damaged.
        if index.state.usage.bytes / 5 > maximumBytes / 4 || index.state.usage.entries / 5 > maximumCount / 4 {
            try index.transaction { () throws(SQLiteError) in try index.recount() }
        }
        let usage = index.state.usage
        var (bytes, count) = (Int.max, Int.max)
        if usage.bytes > maximumBytes || usage.entries > maximumCount {
            let margin = max(0, usage.bytes) / max(1, usage.entries / Self.batchSize)
            bytes = maximumBytes - min(maximumBytes / 20, margin)
            count = maximumCount - min(maximumCount / 20, Self.batchSize)
        }
        if freeing > 0 { bytes = min(bytes, usage.bytes - freeing) }
        guard usage.bytes > bytes || usage.entries > count else { return CacheSweep() }
        try writeRecentUses(index)
        let evicted = try removeEntries(from: index, directory, maximumLooks: 4 * Self.sliceSize) { _ in
            index.state.usage.bytes > bytes || index.state.usage.entries > count
        } rows: { (time, limit) throws(SQLiteError) in
            try index.leastRecentlyUsed(now: time, limit: limit)
        }
        context.counters.withLock { $0.evictions += evicted.files }
        return evicted
    }

    /// Removes entries in slices, until it is enough or no row is left. Entries whose files can't be removed are passed over.
    /// - Parameters:
    ///   - maximumLooks: the number of files to look at, beyond four for each that is removed. The others are removed without a look.
    ///   - isWanted: tells from what was removed whether more has to go.
    ///   - rows: returns a number of rows at most, the first to remove first.
    private func removeEntries(
        from index: DiskIndex, _ directory: OpenDirectory, maximumLooks: Int, while isWanted: (CacheSweep) -> Bool,
        rows: (_ time: Int64, _ limit: Int) throws(SQLiteError) -> [DiskIndex.Row]
    ) throws(SQLiteError) -> CacheSweep {
        var removed = CacheSweep()
        var unremovable: Set<EntryName> = []
        var looks = maximumLooks
        var isLeft = true
        while isLeft, isWanted(removed), unremovable.count < Self.maximumUnremovable {
            let time = context.time
            try index.transaction { () throws(SQLiteError) in
                let found = try rows(time, Self.sliceSize + unremovable.count).filter { !unremovable.contains($0.name) }
                isLeft = !found.isEmpty
                for row in found {
                    guard isWanted(removed) else { break }
                    switch try remove(row, from: index, directory, now: time, mayLook: looks > 0) {
                    case .removed:
                        removed.files += 1
                        removed.bytes += row.size
                        looks += 4
                    case .refreshed: looks -= 1
                    case .missing: break
                    case .failed: unremovable.insert(row.name)
                    }
                }
            }
        }
        return removed
    }

    /// Writes the uses that are not much later than the times of the files.
    private func writeRecentUses(_ index: DiskIndex) throws(SQLiteError) {
        let uses = notes.takeRecentUses()
        guard !uses.isEmpty else { return }
        try index.transaction { () throws(SQLiteError) in
            for (name, time) in uses { try index.setAccessTime(time, of: name) }
        }
    }

    /// Removes the files of the least recently used entries where the disk is so full that the index can't be written.
    func removeOldestFiles(freeing bytes: Int) {
        guard let directory = context.openDirectory() else { return }
        var left = bytes
        func remove(_ rows: some Sequence<DiskIndex.Row>) {
            for row in rows where left > 0 {
                if (try? directory.remove(row.name.path)) != nil { left -= row.size }
            }
        }
        _ = try? withIndex { index, _ throws(SQLiteError) in
            // The files of the first rows may be gone: no row was removed with them.
            var (seen, limit) = (0, Self.sliceSize)
            while left > 0, seen < limit {
                let rows = try index.oldest(limit: limit)
                remove(rows.dropFirst(seen))
                (seen, limit) = (rows.count, rows.count == limit ? 4 * limit : rows.count)
            }
        }
        remove(pending.oldestRows)
        needsComparison = true
        _ = try? writeIndex()
    }

    private enum Removal { case removed, refreshed, missing, failed }

    /// Removes the file of a row, and the row, in the transaction that is under way. If the process ends before the commit, a row is left
    /// without a file, which heals; a file without a row would not.
    /// - Parameter mayLook: true to keep an entry that another process used or replaced since its row was written.
    private func remove(
        _ row: DiskIndex.Row, from index: DiskIndex, _ directory: OpenDirectory, now time: Int64, mayLook: Bool
    ) throws(SQLiteError) -> Removal {
        // A time in the future is no use: it would keep the entry for ever.
        if mayLook, let status = try? directory.status(of: row.name),
            status.modified > row.accessed, status.modified <= time,
            case .present(let new) = PendingWrites.Change().look(at: row.name, in: directory, now: time)
        {
            try index.put(new)
            return .refreshed
        }
        var removal = Removal.removed
        do throws(FileError) {
            try directory.remove(row.name.path)
        } catch {
            guard error.isMissing || error.isOfFolder else { return .failed }
            removal = .missing
        }
        try index.remove(row)
        return removal
    }

    // MARK: Expiring

    /// Removes up to ``sliceSize`` entries that have expired.
    func removeExpiredSlice() throws(ImageError) -> CacheSweep {
        let aging = Aging(context)
        let bound = aging.bound(sweeping: true)
        let sweep = try withIndex { index, directory throws(SQLiteError) in
            guard !index.isReadOnly else { return CacheSweep() }
            if bound != nil, aging.expiry == .byCreation { try index.indexCreationTimes() }
            let sweep = try removeEntries(from: index, directory, maximumLooks: .max / 2) {
                $0.files < Self.sliceSize
            } rows: { (time, limit) throws(SQLiteError) in
                try index.expired(at: time, bound: bound, aging.expiry, limit: limit)
            }
            noteIndexed(index.state.usage)
            return sweep
        }
        return sweep ?? CacheSweep()
    }

    // MARK: The index and the files

    /// Compares some folders with an index that was made anew; true if more are left that can be read now.
    func compareSlice() throws(ImageError) -> Bool {
        let isLeft = try withIndex { index, directory throws(SQLiteError) in
            var folder = index.state.nextFolder
            guard folder < EntryName.folders, !index.isReadOnly else { return false }
            var names = 0
            var isReadable = true
            while folder < EntryName.folders, names < Self.sliceSize {
                guard let count = try compare(folder, with: index, directory) else {
                    isReadable = false
                    break
                }
                names += count
                folder += 1
            }
            try index.transaction { () throws(SQLiteError) in
                index.state.nextFolder = folder
                if folder == EntryName.folders { try index.recount() }
            }
            return isReadable && folder < EntryName.folders
        }
        guard let isLeft else { return false }
        // What was found may be too much.
        if !isLeft { try writeIndex() }
        return isLeft
    }

    /// Compares the next folders with the index, whatever their state.
    func sweepFolders(_ count: Int) throws(ImageError) {
        _ = try withIndex { index, directory throws(SQLiteError) in
            guard !index.isReadOnly else { return }
            for _ in 0..<count {
                let folder = index.state.sweepFolder & (EntryName.folders - 1)
                _ = try compare(folder, with: index, directory)
                try index.transaction { () throws(SQLiteError) in
                    index.state.sweepFolder = folder + 1
                    // A total that is only a little wrong shows itself nowhere else.
                    if folder + 1 == EntryName.folders { try index.recount() }
                }
            }
        }
    }

    /// Gives the files of a folder rows, removes rows without files, and unfinished files that a crash left behind.
    /// - Returns: the number of entries; `nil` if the folder can't be read now, such as without free descriptors.
    private func compare(
        _ folder: Int, with index: DiskIndex, _ directory: OpenDirectory
    ) throws(SQLiteError) -> Int? {
        let path = EntryName.folderPath(folder)
        let time = context.time
        let files: [String]
        do throws(FileError) {
            files = try directory.list(path, onlyFiles: true)
        } catch {
            // A folder that can't be read is not an empty one.
            guard error.isMissing else { return error.isPermanent || error.isOfNoFolder ? 0 : nil }
            files = []
        }
        for file in files where WriterName.unfinished(file) != nil {
            let modified = (try? directory.status("\(path)/\(file)"))?.modified
            if let modified, modified < time - Self.leftoverAge { try? directory.remove("\(path)/\(file)") }
        }
        let names = Set(files.compactMap { EntryName($0) })
        let rows = Set(try index.names(inFolder: folder))
        let different = Array(names.symmetricDifference(rows))
        var isComplete = true
        for start in stride(from: 0, to: different.count, by: Self.sliceSize) {
            try index.transaction { () throws(SQLiteError) in
                for name in different[start..<min(start + Self.sliceSize, different.count)] {
                    // Either may have changed meanwhile.
                    switch PendingWrites.Change().look(at: name, in: directory, now: time) {
                    case .present(let row): if try index.row(name) == nil { try index.put(row) }
                    case .absent: try index.remove(name)
                    case .unknown: isComplete = false
                    }
                }
            }
        }
        return isComplete ? names.count : nil
    }

    // MARK: Queries

    /// The totals of the index, or, where it can't be read now, those that were known of it last.
    func usage() -> CacheUsage {
        _ = query { index throws(SQLiteError) in pending.noteIndexed(try index.committedState().usage) }
        return pending.usage
    }

    /// Asks the index; `nil` if it can't be read.
    func query<Result>(_ body: (DiskIndex) throws(SQLiteError) -> Result) -> Result? {
        try? withIndex { index, _ throws(SQLiteError) in try body(index) }
    }
}
