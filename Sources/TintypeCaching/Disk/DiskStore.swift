internal import FoundationEssentials
internal import Glibc

/// A disk cache without its queues: every call does its work on the calling thread. ``DiskCache`` explains the design, and sees to it that
/// operations on one source take turns.
///
/// The store changes files, and ``EntryReader`` reads them.
final class DiskStore: Sendable {
    /// Names the folder of entries as this cache's. A folder without it belongs to another program.
    static let marker = "entries/.tintype"

    let context: DiskContext
    let notes = ReadNotes()
    let reader: EntryReader
    let hand = Lock(EvictionHand())
    /// The end of the names of files that this cache is writing.
    let writer = WriterName()
    /// The sizes that were written last.
    let savedSizes = Lock(Data())
    /// The directory that was checked, and has all that entries need.
    private let prepared = Lock<OpenDirectory?>(nil)
    /// For the thread that prepares the directory.
    private let preparation = Lock(())
    /// The time of the latest store, in microseconds since 1970.
    private let lastStore = Lock(Int64.min)

    init(
        _ configuration: DiskCache.Configuration, faults: FileFaults?, now: @escaping @Sendable () -> Date,
        log: @escaping @Sendable (String) -> Void
    ) {
        context = DiskContext(configuration, faults: faults, now: now, log: log)
        reader = EntryReader(context, notes: notes)
    }

    // MARK: The directory

    /// The directory, checked and with all that entries need.
    /// - Throws: ``ImageError/Code/cacheUnavailable``
    func directoryForWriting() throws(ImageError) -> OpenDirectory {
        if let known = preparedDirectory { return known }
        return try preparation.withLockUnchecked { _ throws(ImageError) in
            if let known = preparedDirectory { return known }
            let opened: OpenDirectory
            do throws(FileError) {
                opened = try context.makeDirectory()
            } catch {
                throw context.failure(error, .cacheUnavailable)
            }
            if let reason = opened.reasonAgainstWriting { throw context.unavailable(reason) }
            var isOurs = false
            do throws(FileError) {
                // Other processes may be clearing it.
                for _ in 0..<8 where !isOurs { isOurs = try makeEntriesFolder(in: opened) }
            } catch {
                throw context.failure(error, .cacheUnavailable)
            }
            guard isOurs else {
                throw context.unavailable("its folder `entries` belongs to another program; use another directory")
            }
            tag(opened)
            context.use(opened)
            restoreSizes(in: opened)
            prepared.withLock { $0 = opened }
            return opened
        }
    }

    var preparedDirectory: OpenDirectory? {
        guard let known = context.directory.withLock({ $0 }), prepared.withLock({ $0 === known }) else { return nil }
        return known
    }

    /// Lets the next store prepare the directory again.
    func forgetPreparation() {
        prepared.withLock { $0 = nil }
        context.areSizesKnown = false
    }

    /// Makes the folder of entries, and marks it as this cache's. An empty one without the mark is one of a process that ended meanwhile.
    /// - Returns: false if it is another program's, or another process has just cleared it.
    private func makeEntriesFolder(in directory: OpenDirectory) throws(FileError) -> Bool {
        if directory.exists(Self.marker) { return true }
        do throws(FileError) {
            try directory.makeFolder(EntryName.root)
            if try directory.list(EntryName.root).isEmpty { try directory.create(Self.marker) }
        } catch {
            guard error.isExisting || error.isMissing else { throw error }
        }
        return directory.exists(Self.marker)
    }

    /// Marks the directory as one whose contents can be made again (Cache Directory Tagging Specification, bford.info/cachedir), or
    /// removes the mark. A failure doesn't matter.
    private func tag(_ directory: OpenDirectory) {
        let name = "CACHEDIR.TAG"
        guard context.limits.withLock({ $0.isExcludedFromBackup }) else {
            try? directory.remove(name)
            return
        }
        guard !directory.exists(name) else { return }
        let text = """
            Signature: 8a477f597d28d172789f06886806bc55
            # Tintype keeps images here that it can load again.

            """
        try? directory.create(name, contents: Data(text.utf8))
    }

    // MARK: Storing

    /// An entry that is to be written.
    private struct NewEntry {
        var key: ImageKey
        var name: EntryName
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

    /// Stores an entry in place of the one under its key, and evicts others while the limits are exceeded.
    /// - Parameter encoded: the entry as the codec made it, if there is one.
    func store(
        _ original: DiskCacheEntry, encoded: DiskCacheEntry? = nil, forKey key: ImageKey
    ) throws(ImageError) {
        let configuration = context.limits.withLock { $0 }
        let time = nextTime()
        let entry = encoded ?? original
        let trailer = EntryFile.trailer(
            for: entry, key: key, keepsCompleteURL: configuration.keepsCompleteURLs, stored: time,
            codec: reader.payloadCodec?.identifier)
        let new = NewEntry(
            key: key, name: EntryName(key), original: original, entry: entry, trailer: trailer, time: time)
        try check(new, configuration)
        if let known = preparedDirectory, !known.isCurrent {
            // It was moved away, and others look where it was.
            forgetPreparation()
            context.forget(known)
        }
        var attempts = 0
        var hasFreed = false
        while true {
            attempts += 1
            let directory = try directoryForWriting()
            try makeRoom(for: new.size, in: directory, configuration)
            do throws(FileError) {
                try write(new, in: directory)
                break
            } catch {
                if error.isDiskFull, configuration.minimumFreeSpace.bytes > 0, !hasFreed {
                    // Files, or the user's quota, may have run out, which the free space doesn't tell.
                    hasFreed = true
                    evict(in: directory, freeing: max(new.size, min(usage.bytes / 20, 1 << 20)))
                    removeEmptyFolders(in: directory)
                    continue
                }
                guard error.isMissing, attempts < 8 else { throw context.failure(error, .cacheWriteFailed) }
                // The directory or its folders were removed. They are made anew.
                forgetPreparation()
                context.forget(directory)
            }
        }
        context.counters.withLock { $0.stores += 1 }
    }

    /// The totals as this process knows them.
    var usage: CacheUsage { hand.withLock { $0.sizes.total } }

    /// The time of a store, which is later than that of the store before: entries of the same time would be evicted in any order.
    private func nextTime() -> Int64 {
        let time = context.time
        return lastStore.withLock { last in
            // A clock that was set back counts.
            last = last &- time < 1_000_000 && last >= time ? last + 1 : time
            return last
        }
    }

    /// - Throws: ``ImageError/Code/cacheWriteFailed`` if the entry can never be stored.
    private func check(_ new: NewEntry, _ configuration: DiskCache.Configuration) throws(ImageError) {
        let reason: String
        if new.trailer.count > EntryFile.maximumDescription {
            reason =
                "the data beside the image takes \(ByteCount(new.trailer.count)), more than "
                + "\(ByteCount(EntryFile.maximumDescription))"
        } else if new.size > configuration.capacity.bytes {
            reason =
                "the entry takes \(ByteCount(new.size)), more than the capacity of the whole disk cache, "
                + "\(configuration.capacity)"
        } else {
            return
        }
        throw ImageError(.cacheWriteFailed, stage: .cache, source: new.key.source, reason: reason)
    }

    private func write(_ new: NewEntry, in directory: OpenDirectory) throws(FileError) {
        let replaced = (try? directory.status(of: new.name))?.countedSize
        // Without a status, the entries were cleared meanwhile, and the file with them.
        guard let status = try writeFile(new, in: directory) else { return }
        reader.encodedMemory?.keep(new.original, name: new.name, key: new.key, status: status, stored: new.time)
        let visit = hand.withLock { hand in
            hand.noteStore(of: status.countedSize, replacing: replaced, in: new.name.folder)
        }
        // Imported without its key, the image is replaced too.
        if let imported = context.importedKey(new.key) { _ = try? removeFiles([EntryName(imported)], in: directory) }
        if let visit { look(visit, in: directory) }
        evict(in: directory)
    }

    private func writeFile(_ new: NewEntry, in directory: OpenDirectory) throws(FileError) -> FileStatus? {
        let parts = (new.entry.data, new.trailer)
        do throws(FileError) {
            return try directory.write(new.name, writer: writer, parts: parts, time: new.time)
        } catch {
            if error.isOfFolder {
                try moveToTrash(new.name, in: directory)
            } else {
                guard error.isMissing, directory.exists(Self.marker) else { throw error }
                try directory.makeFolder(EntryName.folderPath(new.name.folder))
            }
            return try directory.write(new.name, writer: writer, parts: parts, time: new.time)
        }
    }

    // MARK: Free space

    /// Evicts entries until a file leaves the volume as much free space as the configuration asks for.
    private func makeRoom(
        for size: Int, in directory: OpenDirectory, _ configuration: DiskCache.Configuration
    ) throws(ImageError) {
        let wanted = configuration.minimumFreeSpace.bytes
        func missing() -> Int? {
            guard wanted > 0, let free = directory.freeSpace, free - size < wanted else { return nil }
            return wanted - max(0, free - size)
        }
        guard let needed = missing() else { return }
        evict(in: directory, freeing: needed)
        guard missing() != nil, let free = directory.freeSpace else { return }
        let reason =
            "the volume has \(ByteCount(free)) left, and \(configuration.minimumFreeSpace) are to stay free"
        context.note("\(context.path): \(reason)", cause: "free space")
        throw ImageError(.cacheWriteFailed, stage: .cache, source: context.path, reason: reason)
    }

    // MARK: Removing

    /// The directory for removals; `nil` if there is none.
    func directoryForRemoving() throws(ImageError) -> OpenDirectory? {
        guard let directory = try context.existingDirectory() else { return nil }
        do throws(FileError) {
            guard try mayHaveEntries(directory) else { return nil }
        } catch {
            throw context.failure(error, .cacheUnavailable)
        }
        return try directoryForWriting()
    }

    /// False if a directory has certainly no entries, and may even be no cache.
    private func mayHaveEntries(_ directory: OpenDirectory) throws(FileError) -> Bool {
        if try directory.isPresent(Self.marker) { return true }
        guard try directory.isPresent(EntryName.root) else { return false }
        return try !directory.list(EntryName.root).isEmpty
    }

    func remove(_ key: ImageKey) throws(ImageError) -> Bool {
        guard let directory = try directoryForRemoving() else { return false }
        let keys = [key, context.importedKey(key)].compactMap(\.self)
        return try remove(keys.map { EntryName($0) }, in: directory) > 0
    }

    func removeAll(ofSource source: String) throws(ImageError) -> Int {
        guard let directory = try directoryForRemoving() else { return 0 }
        let names: [EntryName]
        do throws(FileError) {
            names = try reader.names(ofSource: source, in: directory)
        } catch {
            throw context.failure(error, .cacheUnavailable)
        }
        return try remove(names, in: directory)
    }

    private func remove(_ names: [EntryName], in directory: OpenDirectory) throws(ImageError) -> Int {
        do throws(FileError) {
            return try removeFiles(names, in: directory)
        } catch {
            throw context.failure(error, .cacheWriteFailed)
        }
    }

    /// Removes the entries of some names.
    /// - Returns: the number of files that there were.
    private func removeFiles(_ names: [EntryName], in directory: OpenDirectory) throws(FileError) -> Int {
        var removed = 0
        for name in names {
            let size = (try? directory.status(of: name))?.countedSize
            do throws(FileError) {
                try directory.remove(name.path)
            } catch {
                if error.isMissing { continue }
                guard error.isOfFolder else { throw error }
                try moveToTrash(name, in: directory)
                removed += 1
                continue
            }
            if let size { hand.withLock { $0.noteRemoval(of: size, in: name.folder) } }
            removed += 1
        }
        return removed
    }

    /// Removes a file that reading found to be damaged or expired, unless it was replaced since.
    func perform(_ discard: ReadNotes.Discard, of name: EntryName) {
        defer { notes.finish(discard, of: name) }
        guard let directory = context.openDirectory(), directory.reasonAgainstWriting == nil,
            (try? directory.status(of: name))?.isSameFile(as: discard.status) == true,
            let removed = try? removeFiles([name], in: directory), removed > 0
        else { return }
        if discard.isDamaged { context.counters.withLock { $0.corruptions += 1 } }
    }

    // MARK: The whole cache

    /// The directory, if it is a cache that has entries to read.
    func directoryOfEntries() -> OpenDirectory? {
        guard let directory = context.openDirectory(), directory.exists(Self.marker) else { return nil }
        return directory
    }

    /// The directory for a sweep; `nil` if there is no cache.
    func directoryForSweeping() throws(ImageError) -> OpenDirectory? {
        directoryOfEntries() == nil ? nil : try directoryForWriting()
    }

    /// Closes the directory.
    func close() {
        forgetPreparation()
        context.directory.withLock { $0 = nil }
    }
}
