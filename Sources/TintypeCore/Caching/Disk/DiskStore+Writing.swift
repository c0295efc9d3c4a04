internal import CSQLite
internal import FoundationEssentials

extension DiskStore {
    /// Stores an entry in place of the one under the key, then evicts until the limits hold.
    /// - Parameter sealed: the entry as the transform made it, if there is one.
    func store(
        _ original: DiskCacheEntry, sealed: DiskCacheEntry? = nil, forKey key: ImageKey
    ) throws(ImageError) {
        let entry = sealed ?? original
        let configuration = limits.withLock { $0 }
        let checksum = EntryFile.checksum(entry.data)
        let trailer = EntryFile.trailer(
            for: entry, key: key, checksum: checksum, transform: transform?.identifier)
        let fileSize = entry.data.count + trailer.count
        guard trailer.count <= EntryFile.maximumDescription else {
            throw ImageError(
                .cacheWriteFailed, stage: .cache, source: key.source,
                reason: "what is to be kept beside the image takes \(ByteCount(trailer.count)), more than "
                    + "\(ByteCount(EntryFile.maximumDescription))")
        }
        guard fileSize <= configuration.capacity.bytes else {
            throw ImageError(
                .cacheWriteFailed, stage: .cache, source: key.source,
                reason: "\(ByteCount(fileSize)) are more than the whole disk cache may take, \(configuration.capacity)")
        }
        let hash = DiskIndexSchema.hash(key)
        let replaced = try withIndex { index throws(DiskFailure) in
            let time = time
            try makeRoom(for: fileSize, in: index, configuration)
            let epoch = index.table?.epoch
            let id = try createFile([entry.data, trailer], hash: hash, at: time, after: index.table?.newest(hash))
            var isKept = false
            defer { if !isKept { try? files.remove(layout.file(id)) } }
            let row = IndexRow(
                id: id, key: key, entry: entry, payloadSize: entry.data.count, fileSize: fileSize, checksum: checksum,
                accessed: time, transform: transform?.identifier)
            let gone = try exclusively(index) { () throws(DiskFailure) in
                // If the cache was cleared since, the file went with it.
                guard index.table?.epoch == epoch else { throw .replaced }
                if append(row, hash: hash, to: index, configuration) { return [StoredFile]() }
                return try insert(row, into: index, configuration)
            }
            isKept = true
            tier?.keep(original, id: id, key: key)
            return gone
        }
        counters.withLock { $0.stores += 1 }
        removeFiles(replaced)
    }

    /// Makes a file an entry whose row follows later; false if it must not wait, because of the limits or because too
    /// many wait already.
    private func append(
        _ row: IndexRow, hash: Int64, to index: DiskIndex, _ configuration: DiskCache.Configuration
    ) -> Bool {
        guard let table = usableTable(index, inode: index.inode), table.pendingCount < EntryTable.maximumPending,
            !table.isCrowded(adding: 1)
        else { return false }
        let usage = table.usage
        guard usage.bytes + row.fileSize <= configuration.capacity.bytes,
            usage.entries < configuration.maximumCount ?? .max
        else { return false }
        // Rows that another process wrote meanwhile are not needed any more.
        if table.pendingCount == 0 { index.stage.removeAll(keepingCapacity: true) }
        index.stage[row.id] = row
        if !row.key.variant.isOriginal {
            _ = pendingVariants.withLock { $0.insert(DiskIndexSchema.hashes(ofSource: row.key.source).lowerBound) }
        }
        table.append(row.id, hash: hash, bytes: row.fileSize)
        noteUsage(table.usage)
        return true
    }

    /// Writes the row of a file, and those that wait; tells the files that have to go for it.
    private func insert(
        _ row: IndexRow, into index: DiskIndex, _ configuration: DiskCache.Configuration
    ) throws(DiskFailure) -> [StoredFile] {
        try changeExclusively(index) { () throws(DiskFailure) in
            // From here on nobody else changes anything, be it without the lock.
            guard (try? files.status(layout.file(row.id))) != nil else { throw .replaced }
            return try indexed { () throws(SQLiteError) in
                let old = try index.files(forKey: row.key) + importedFiles(row.key, index)
                _ = try index.remove(old)
                try index.insert(row)
                // A rebuild may have found the file before its row was here.
                let gone = try old.filter { $0.id != row.id } + evict(from: index, configuration, except: row.id)
                noteUsage(try index.state().usage)
                return gone
            }
        }
    }

    /// Writes a file under a new name and tells the name.
    /// - Parameter newest: a file that the new one comes after, even if the clock was set back.
    private func createFile(
        _ parts: [Data], hash: Int64, at time: Int64, after newest: Int64?
    ) throws(DiskFailure) -> Int64 {
        var failure: FileError?
        var id = DiskLayout.newID(at: time, hash: hash)
        if let newest, newest >= id { id = DiskLayout.id(after: newest) }
        for _ in 0..<8 {
            do throws(FileError) {
                try files.create(layout.file(id), parts: parts)
                return id
            } catch {
                failure = error
                if error.isMissing {
                    try? files.makeDirectory(layout.shard(layout.shard(of: id)))
                } else if error.isExisting {
                    id = DiskLayout.id(after: id)
                } else {
                    throw .file(error)
                }
            }
        }
        throw failure.map(DiskFailure.file) ?? .replaced
    }

    func removeFiles(_ removed: [StoredFile]) {
        // What cannot be removed now is found as a file without a row later.
        for file in removed { try? files.remove(layout.file(file.id)) }
    }

    // MARK: Limits

    /// So many entries, of the mean size, go at most to make room for those that follow: as many as will share the
    /// transaction. It makes evictions rare, and lets no store wait while tens of thousands go.
    private static let evictionMargin = EntryTable.maximumPending

    /// Removes rows, least recently used first, until count and bytes are a little under the limits: by a twentieth, or by
    /// ``evictionMargin``. Tells their files.
    private func evict(
        from index: DiskIndex, _ configuration: DiskCache.Configuration, except id: Int64
    ) throws(SQLiteError) -> [StoredFile] {
        let usage = try index.state().usage
        let maximumBytes = max(0, configuration.capacity.bytes)
        let maximumCount = max(0, configuration.maximumCount ?? .max)
        guard usage.bytes > maximumBytes || usage.entries > maximumCount else { return [] }
        let margin = max(0, usage.bytes) / max(1, usage.entries / Self.evictionMargin)
        return try evict(
            from: index, bytes: maximumBytes - min(maximumBytes / 20, margin),
            count: maximumCount - min(maximumCount / 20, Self.evictionMargin), except: id)
    }

    private func evict(
        from index: DiskIndex, bytes: Int, count: Int, except id: Int64
    ) throws(SQLiteError) -> [StoredFile] {
        try writeAccessTimes(index)
        var usage = try index.state().usage
        var evicted: [StoredFile] = []
        while usage.bytes > bytes || usage.entries > count {
            let oldest = try index.leastRecentlyUsed(limit: 64, except: id)
            guard !oldest.isEmpty else { break }
            for file in oldest where usage.bytes > bytes || usage.entries > count {
                guard try index.remove(file) else { continue }
                usage.bytes -= file.size
                usage.entries -= 1
                evicted.append(file)
            }
        }
        counters.withLock { $0.evictions += evicted.count }
        return evicted
    }

    /// Evicts until a file of `size` bytes leaves the volume as much free space as is to stay free.
    private func makeRoom(
        for size: Int, in index: DiskIndex, _ configuration: DiskCache.Configuration
    ) throws(DiskFailure) {
        guard configuration.minimumFreeSpace.bytes > 0, let free = try? files.freeSpace(layout.directory) else {
            return
        }
        let wanted = configuration.minimumFreeSpace.bytes
        guard free - size < wanted else { return }
        let removed = try change(index) { () throws(DiskFailure) in
            try indexed { () throws(SQLiteError) in
                let usage = try index.state().usage
                return try evict(from: index, bytes: usage.bytes - (wanted - (free - size)), count: .max, except: -1)
            }
        }
        removeFiles(removed)
        if let free = try? files.freeSpace(layout.directory), free - size < wanted {
            throw .refused(
                "the volume has \(ByteCount(free)) left, and \(configuration.minimumFreeSpace) are to stay free")
        }
    }

    /// Brings the cache under limits that were changed, or after files were found; tells what had to go.
    @discardableResult
    func enforceLimits() throws(ImageError) -> CacheSweep {
        let configuration = limits.withLock { $0 }
        let removed = try remove { index throws(SQLiteError) in
            try evict(from: index, configuration, except: -1)
        }
        return CacheSweep(files: removed.count, bytes: removed.reduce(0) { $0 + $1.size })
    }

    private func writeAccessTimes(_ index: DiskIndex) throws(SQLiteError) {
        let times = chores.withLock { chores in
            defer { chores.accessTimes = [:] }
            return chores.accessTimes
        }
        try index.setAccessTimes(times, now: time)
    }

    // MARK: Chores

    /// Does what reading left to do: writes access times, drops entries that are damaged or too old.
    func doChores() throws(ImageError) {
        let work = chores.withLock { chores in
            defer { chores = Chores() }
            return chores
        }
        // Where there is no index any more, there is nothing to bring up to date, and none is made for it.
        guard !work.isEmpty || hasPending, (try? files.status(layout.index)) != nil else { return }
        guard !work.indexIsDamaged else { return try checkIndex() }
        let dropped = try withIndex { index throws(DiskFailure) in
            try change(index) { () throws(DiskFailure) in
                try indexed { () throws(SQLiteError) in
                    try index.setAccessTimes(work.accessTimes, now: time)
                    return try drop(work.drops, from: index)
                }
            }
        }
        counters.withLock { $0.corruptions += dropped.count { work.drops[$0.id]?.isDamaged == true } }
        removeFiles(dropped)
    }

    private func drop(_ drops: [Int64: Drop], from index: DiskIndex) throws(SQLiteError) -> [StoredFile] {
        var dropped: [StoredFile] = []
        for (id, drop) in drops {
            if let file = try index.file(id), try index.remove(file) {
                dropped.append(file)
            } else {
                index.noteGone(StoredFile(id: id, size: 0, hash: drop.hash))
            }
        }
        return dropped
    }

    /// Lets SQLite look at its file; if it is damaged ``withIndex(_:)`` replaces it.
    private func checkIndex() throws(ImageError) {
        try withIndex { index throws(DiskFailure) in
            try indexed { () throws(SQLiteError) in try index.check() }
        }
    }

    // MARK: Removing

    func remove(_ key: ImageKey) throws(ImageError) -> Bool {
        try !remove { index throws(SQLiteError) in
            try index.remove(index.files(forKey: key) + importedFiles(key, index))
        }.isEmpty
    }

    func removeAll(source: String) throws(ImageError) -> Int {
        try remove { index throws(SQLiteError) in
            try index.remove(index.files(ofSource: source) + importedFiles(ImageKey(source: source), index))
        }.count
    }

    /// Runs what removes rows, and then removes their files.
    private func remove(
        _ removeRows: (DiskIndex) throws(SQLiteError) -> [StoredFile]
    ) throws(ImageError) -> [StoredFile] {
        // Removing from a cache that is not there makes none.
        guard (try? files.status(layout.index)) != nil else { return [] }
        let removed = try withIndex { index throws(DiskFailure) in
            try change(index) { () throws(DiskFailure) in
                try indexed { () throws(SQLiteError) in try removeRows(index) }
            }
        }
        removeFiles(removed)
        return removed
    }

    /// Removes everything from sight, in a time that does not depend on how much there is; ``emptyTrash(limit:)`` gives
    /// the space back.
    func removeAll() throws(ImageError) {
        guard (try? files.status(layout.index)) != nil else { return }
        chores.withLock { $0 = Chores() }
        tier?.removeAll()
        try? files.remove(layout.imports)
        checkImports()
        try withIndex { index throws(DiskFailure) in
            try exclusively(index) { () throws(DiskFailure) in
                do throws(DiskFailure) {
                    try removeAll(index)
                } catch {
                    guard case .index(let error) = error, error.primaryCode == SQLITE_FULL else { throw error }
                    // The disk is full to the last page, and the transaction needs some. Whoever looks for a row whose
                    // file has gone finds nothing, so the files may go first.
                    try? files.rename(layout.data, to: layout.trash(DiskLayout.newID(at: time, hash: 0)))
                    while emptyTrash(limit: 1_000) {}
                    try removeAll(index)
                }
            }
            try? files.makeDirectory(layout.data)
        }
    }

    private func removeAll(_ index: DiskIndex) throws(DiskFailure) {
        try changeExclusively(index, isRemovingAll: true) { () throws(DiskFailure) in
            // Whoever writes an entry looks for its file once it is in its own transaction, so none is lost
            // unnoticed.
            let trash = layout.trash(DiskLayout.newID(at: time, hash: .random(in: .min ... .max)))
            do throws(FileError) {
                try files.rename(layout.data, to: trash)
            } catch {
                guard error.isMissing else { throw .file(error) }
            }
            do throws(SQLiteError) { try index.removeAll() } catch {
                try? files.rename(trash, to: layout.data)
                throw .index(error)
            }
        }
    }

    /// Removes up to `limit` files of what ``removeAll()`` put away; true if more may be left.
    func emptyTrash(limit: Int) -> Bool {
        var left = limit
        let names = ((try? files.list(layout.directory)) ?? []).filter { $0.hasPrefix(DiskLayout.trashPrefix) }
        for name in names {
            let trash = "\(layout.directory)/\(name)"
            for shard in (try? files.list(trash)) ?? [] {
                for file in (try? files.list("\(trash)/\(shard)")) ?? [] {
                    guard left > 0 else { return true }
                    left -= 1
                    try? files.remove("\(trash)/\(shard)/\(file)")
                }
                try? files.removeDirectory("\(trash)/\(shard)")
            }
            try? files.removeDirectory(trash)
        }
        return false
    }

    /// Removes up to `limit` entries that are too old, or whose own end has come.
    func removeExpired(limit: Int) throws(ImageError) -> CacheSweep {
        try doChores()
        let time = time
        let removed = try remove { index throws(SQLiteError) in
            if limits.withLock({ $0.expiry }) == .byCreation { try index.makeCreatedIndex() }
            var expired = try index.files(where: "expires <= ?1", time, limit: limit)
            if expired.count < limit {
                expired += try index.files(
                    where: "lifetime IS NOT NULL AND accessed + lifetime <= ?1", time, limit: limit - expired.count)
            }
            if let bound = ageBound(at: time, sweeping: true), expired.count < limit {
                let (condition, value) =
                    switch limits.withLock({ $0.expiry }) {
                    case .byAccess: ("accessed <= ?1", bound)
                    case .byCreation: ("created <= ?1", bound)
                    case .byModification: ("id < ?1", DiskLayout.firstID(after: bound))
                    }
                expired += try index.files(where: condition, value, limit: limit - expired.count)
            }
            return try index.remove(expired)
        }
        return CacheSweep(files: removed.count, bytes: removed.reduce(0) { $0 + $1.size })
    }
}
