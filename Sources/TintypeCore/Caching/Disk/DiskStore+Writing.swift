internal import FoundationEssentials
internal import Glibc

extension DiskStore {
    /// An entry that is to be written.
    struct NewEntry {
        var key: ImageKey
        /// The entry as reads return it.
        var original: DiskCacheEntry
        /// The entry as it is written.
        var entry: DiskCacheEntry
        var trailer: Data
        /// The time of storing.
        var time: Int64

        /// The space that the file takes on the disk.
        var size: Int { FileStatus.allocatedSize(entry.data.count + trailer.count) }
    }

    /// Stores an entry in place of the one under its key. If the limits are exceeded then, it writes the index and evicts.
    /// - Parameters:
    ///   - encoded: the entry as the codec made it, if there is one.
    ///   - claim: called immediately before the entry is written; false to write nothing.
    func store(
        _ original: DiskCacheEntry, encoded: DiskCacheEntry?, forKey key: ImageKey, claim: () -> Bool
    ) throws(ImageError) {
        let configuration = limits.withLock { $0 }
        let time = time
        let entry = encoded ?? original
        let trailer = EntryFile.trailer(
            for: entry, key: key, keepsCompleteURL: configuration.keepsCompleteURLs, stored: time,
            codec: payloadCodec?.identifier)
        let new = NewEntry(key: key, original: original, entry: entry, trailer: trailer, time: time)
        try check(new, configuration)
        var attempts = 0
        while true {
            attempts += 1
            let directory = try directoryForWriting()
            try makeRoom(for: new.size, in: directory, configuration)
            try checkWaitingBatches()
            do throws(FileError) {
                try write(new, in: directory, claim: claim)
                break
            } catch {
                guard error.isMissing, attempts < 3 else { throw failure(error, .cacheWriteFailed) }
                // The directory or its folders were removed. They are made anew.
                forget(directory)
            }
        }
        counters.withLock { $0.stores += 1 }
        let usage = knownUsage
        noteUsage(usage)
        guard usage.bytes > configuration.capacity.bytes || usage.entries > configuration.maximumCount ?? .max,
            !isIndexBusy.withLock({ $0 })
        else { return }
        // What is wrong with the index is no error of the entry, which is stored.
        _ = try? writeIndex()
    }

    private func check(_ new: NewEntry, _ configuration: DiskCache.Configuration) throws(ImageError) {
        guard new.trailer.count <= EntryFile.maximumDescription else {
            throw ImageError(
                .cacheWriteFailed, stage: .cache, source: new.key.source,
                reason: "the data beside the image takes \(ByteCount(new.trailer.count)), more than "
                    + "\(ByteCount(EntryFile.maximumDescription))")
        }
        guard new.size <= configuration.capacity.bytes else {
            throw ImageError(
                .cacheWriteFailed, stage: .cache, source: new.key.source,
                reason: "the entry takes \(ByteCount(new.size)), more than the capacity of the whole disk cache, "
                    + "\(configuration.capacity)")
        }
    }

    /// Refuses to store while another process has held the index for so long that the journal would grow without end.
    private func checkWaitingBatches() throws(ImageError) {
        guard isIndexBusy.withLock({ $0 }),
            writer.withLock({ $0.pending.count }) >= Self.maximumWaitingBatches * Self.batchSize
        else { return }
        throw ImageError(
            .cacheWriteFailed, stage: .cache, source: path,
            reason: "another process has held the index for too long; nothing more is stored until it lets go of it")
    }

    private func write(_ new: NewEntry, in directory: CacheDirectory, claim: () -> Bool) throws(FileError) {
        let name = EntryName(new.key)
        try writer.withLockUnchecked { writer throws(FileError) in
            guard claim() else { return }
            let journal = try journal(&writer, in: directory)
            try journal.append(name)
            let parts = (new.entry.data, new.trailer)
            var status: FileStatus?
            do throws(FileError) {
                status = try directory.write(name, writer: journal.writer, parts: parts, time: new.time)
            } catch {
                guard error.isMissing, directory.exists(Self.marker) else { throw error }
                try directory.makeFolder(EntryName.folderPath(name.folder))
                status = try directory.write(name, writer: journal.writer, parts: parts, time: new.time)
            }
            // Cleared by another process meanwhile.
            guard let status else { return }
            writer.sequence += 1
            let row = DiskIndex.Row(
                name: name, id: DiskIndex.id(at: new.time, sequence: writer.sequence), size: status.allocatedSize,
                accessed: new.time, created: new.entry.created.cacheTime, expires: new.entry.expires?.cacheTime,
                lifetime: new.entry.idleLifetime?.cacheTime)
            writer.notePending(name, Pending(row: row, inode: status.inode))
            encodedMemory?.keep(new.original, name: name, key: new.key, status: status, stored: new.time)
        }
        // Imported without its key, the image is replaced too.
        if let imported = importedKey(new.key, in: directory) {
            _ = try? removeFiles([EntryName(imported)], in: directory)
        }
    }

    func journal(_ writer: inout Writer, in directory: CacheDirectory) throws(FileError) -> Journal {
        if let journal = writer.journal { return journal }
        let journal = try Journal.create(in: directory)
        writer.journal = journal
        return journal
    }

    /// Forgets a directory whose folders are gone.
    private func forget(_ directory: CacheDirectory) {
        writer.withLock { writer in
            writer.prepared = nil
            writer.journal = nil
        }
        self.directory.withLock { if $0 === directory { $0 = nil } }
    }

    // MARK: Removing

    /// Removes the entries of some names.
    /// - Returns: the number of files that there were.
    func removeFiles(_ names: [EntryName], in directory: CacheDirectory) throws(FileError) -> Int {
        guard !names.isEmpty else { return 0 }
        return try writer.withLockUnchecked { writer throws(FileError) in
            var removed = 0
            for name in names {
                guard directory.exists(name.path) else {
                    writer.notePending(name, Pending())
                    continue
                }
                // On a full disk, removing goes on without.
                try? journal(&writer, in: directory).append(name)
                do throws(FileError) {
                    try directory.remove(name.path)
                    removed += 1
                } catch {
                    guard error.isMissing else { throw error }
                }
                writer.notePending(name, Pending())
            }
            return removed
        }
    }

    /// The directory for removals; `nil` if there is none.
    func directoryForRemoving() throws(ImageError) -> CacheDirectory? {
        guard let directory = openDirectory() else { return nil }
        guard directory.exists("entries") || directory.exists(LegacyLayout.index) else { return nil }
        let prepared = try directoryForWriting()
        adoptLegacyFiles(in: prepared)
        return prepared
    }

    func remove(_ key: ImageKey) throws(ImageError) -> Bool {
        guard let directory = try directoryForRemoving() else { return false }
        let keys = [key, importedKey(key, in: directory)].compactMap(\.self)
        return try remove(keys.map { EntryName($0) }, in: directory) > 0
    }

    func removeAll(ofSource source: String) throws(ImageError) -> Int {
        guard let directory = try directoryForRemoving() else { return 0 }
        var names = names(ofSource: source, in: directory)
        if let imported = importedKey(ImageKey(source: source), in: directory) { names.append(EntryName(imported)) }
        return try remove(names, in: directory)
    }

    private func remove(_ names: [EntryName], in directory: CacheDirectory) throws(ImageError) -> Int {
        do throws(FileError) {
            return try removeFiles(names, in: directory)
        } catch {
            throw failure(error, .cacheWriteFailed)
        }
    }

    /// Removes the files that reading found to be damaged or expired, unless they were replaced since.
    func performDiscards() {
        let discards = notes.withLock { notes in
            defer { notes.discards = [:] }
            return notes.discards
        }
        guard !discards.isEmpty, let directory = openDirectory(), directory.reasonAgainstWriting == nil else { return }
        for (name, discard) in discards {
            guard (try? directory.status(of: name))?.inode == discard.inode else { continue }
            guard let removed = try? removeFiles([name], in: directory), removed > 0 else { continue }
            if discard.isDamaged { counters.withLock { $0.corruptions += 1 } }
        }
    }

    // MARK: Free space

    /// Evicts entries until a file leaves the volume as much free space as the configuration asks for.
    private func makeRoom(
        for size: Int, in directory: CacheDirectory, _ configuration: DiskCache.Configuration
    ) throws(ImageError) {
        let wanted = configuration.minimumFreeSpace.bytes
        func missing() -> Int? {
            guard wanted > 0, let free = directory.freeSpace, free - size < wanted else { return nil }
            return wanted - (free - size)
        }
        guard let needed = missing() else { return }
        _ = try? writeIndex(freeing: needed)
        guard missing() != nil, let free = directory.freeSpace else { return }
        let reason =
            "the volume has \(ByteCount(free)) left, and \(configuration.minimumFreeSpace) are to stay free"
        note("\(path): \(reason)", cause: "free space")
        throw ImageError(.cacheWriteFailed, stage: .cache, source: path, reason: reason)
    }
}

extension DiskStore.Writer {
    mutating func notePending(_ name: EntryName, _ new: DiskStore.Pending) {
        let old = pending.updateValue(new, forKey: name)
        pendingBytes += (new.row?.size ?? 0) - (old?.row?.size ?? 0)
    }
}
