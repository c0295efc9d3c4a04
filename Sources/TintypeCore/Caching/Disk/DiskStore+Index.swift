internal import FoundationEssentials

/// The work with the index: batches, eviction, and expiration. Files change first, rows follow.
extension DiskStore {
    /// The number of entries that one transaction removes.
    static let sliceSize = 256

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
