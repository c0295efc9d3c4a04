internal import FoundationEssentials

extension DiskStore {
    /// Stores an entry in place of the one under the key, then evicts until the limits hold.
    /// - Parameter encoded: the entry as the transform made it, if there is one.
    func store(
        _ original: DiskCacheEntry, encoded: DiskCacheEntry? = nil, forKey key: ImageKey
    ) throws(ImageError) {
        let configuration = limits.withLock { $0 }
        let new = try newEntry(original, encoded: encoded, forKey: key, configuration)
        let replaced = try withIndex { index throws(DiskFailure) in
            try makeRoom(for: new.fileSize, in: index, configuration)
            return try write(new, to: index, configuration, mayWait: true)
        }
        counters.withLock { $0.stores += 1 }
        doom(replaced)
    }

    /// What is to be written of an entry.
    struct NewEntry {
        var key: ImageKey
        /// As it is given to who asks for it.
        var original: DiskCacheEntry
        /// As it is written.
        var entry: DiskCacheEntry
        var trailer: Data
        var checksum: UInt64

        var fileSize: Int { entry.data.count + trailer.count }
    }

    func newEntry(
        _ original: DiskCacheEntry, encoded: DiskCacheEntry?, forKey key: ImageKey,
        _ configuration: DiskCache.Configuration
    ) throws(ImageError) -> NewEntry {
        let entry = encoded ?? original
        let checksum = EntryFile.checksum(entry.data)
        let trailer = EntryFile.trailer(for: entry, key: key, checksum: checksum, transform: payloadCodec?.identifier)
        guard trailer.count <= EntryFile.maximumDescription else {
            throw ImageError(
                .cacheWriteFailed, stage: .cache, source: key.source,
                reason: "what is to be kept beside the image takes \(ByteCount(trailer.count)), more than "
                    + "\(ByteCount(EntryFile.maximumDescription))")
        }
        let new = NewEntry(key: key, original: original, entry: entry, trailer: trailer, checksum: checksum)
        guard new.fileSize <= configuration.capacity.bytes else {
            throw ImageError(
                .cacheWriteFailed, stage: .cache, source: key.source,
                reason: "\(ByteCount(new.fileSize)) are more than the whole disk cache may take, "
                    + "\(configuration.capacity)")
        }
        return new
    }

    /// Writes the file of an entry and makes it known; tells the files that have to go for it.
    /// - Parameter mayWait: whether to wait for another process, and to write rows; else it fails with `wouldWait`.
    func write(
        _ new: NewEntry, to index: DiskIndex, _ configuration: DiskCache.Configuration, mayWait: Bool
    ) throws(DiskFailure) -> [StoredFile] {
        // Before the file is written for nothing.
        guard mayWait || tableWithRoom(for: new.fileSize, in: index, configuration) != nil else { throw .wouldWait }
        let time = time
        let hash = DiskIndexSchema.hash(new.key)
        let epoch = index.table?.epoch
        let id = try createFile([new.entry.data, new.trailer], hash: hash, at: time, after: index.table?.newest(hash))
        var isKept = false
        defer { if !isKept { try? files.remove(layout.file(id)) } }
        let row = IndexRow(
            id: id, key: new.key, entry: new.entry, payloadSize: new.entry.data.count, fileSize: new.fileSize,
            checksum: new.checksum, accessed: time, transform: payloadCodec?.identifier)
        let gone = try exclusively(index, mayWait: mayWait) { () throws(DiskFailure) in
            // If the cache was cleared since, the file went with it.
            guard index.table?.epoch == epoch else { throw .replaced }
            if let table = tableWithRoom(for: row.fileSize, in: index, configuration) {
                append(row, hash: hash, to: table, of: index)
                return [StoredFile]()
            }
            guard mayWait else { throw .wouldWait }
            return try insert(row, into: index, configuration)
        }
        isKept = true
        encodedMemory?.keep(new.original, id: id, key: new.key)
        return gone
    }

    /// The table, if the row of a file may follow later; `nil` if it must not wait, because of the limits or because too
    /// many wait already.
    private func tableWithRoom(
        for fileSize: Int, in index: DiskIndex, _ configuration: DiskCache.Configuration
    ) -> EntryTable? {
        guard let table = usableTable(index, inode: index.inode), table.pendingCount < EntryTable.maximumPending,
            !table.isCrowded(adding: 1)
        else { return nil }
        let usage = table.usage
        let isWithinLimits =
            usage.bytes + fileSize <= configuration.capacity.bytes
            && usage.entries < configuration.maximumCount ?? .max
        return isWithinLimits ? table : nil
    }

    /// Makes a file an entry whose row follows later.
    private func append(_ row: IndexRow, hash: Int64, to table: EntryTable, of index: DiskIndex) {
        // Rows that another process wrote meanwhile are not needed any more.
        if table.pendingCount == 0 { index.stage.removeAll(keepingCapacity: true) }
        index.stage[row.id] = row
        if !row.key.variant.isOriginal {
            _ = pendingVariants.withLock { $0.insert(DiskIndexSchema.hashes(ofSource: row.key.source).lowerBound) }
        }
        table.append(row.id, hash: hash, bytes: row.fileSize)
        noteUsage(table.usage)
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

    // MARK: Chores

    /// Does what reading left to do: writes access times, drops entries that are damaged or too old.
    func doChores() throws(ImageError) {
        let times = beginWritingAccessTimes()
        defer { endWritingAccessTimes() }
        if times.isEmpty, !hasPending, !chores.withLock({ $0.hasDrops }) { return }
        try drop(writing: times)
    }

    /// Drops entries that are damaged or too old.
    func dropNoted() throws(ImageError) { if chores.withLock({ $0.hasDrops }) { try drop(writing: []) } }

    private func drop(writing times: [(key: Int64, value: Int64)]) throws(ImageError) {
        let work = chores.withLock { chores in
            defer { (chores.drops, chores.indexIsDamaged) = ([:], false) }
            return chores
        }
        // Where there is no index any more, there is nothing to bring up to date, and none is made for it.
        guard (try? files.status(layout.index)) != nil else { return }
        guard !work.indexIsDamaged else { return try checkIndex() }
        let dropped = try withIndex { index throws(DiskFailure) in
            try change(index) { () throws(DiskFailure) in
                try indexed { () throws(SQLiteError) in
                    try index.setAccessTimes(times, now: time)
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
}
