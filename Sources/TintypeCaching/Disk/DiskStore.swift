internal import FoundationEssentials
internal import Glibc

/// A disk cache without its queues: every call does its work on the calling thread. ``DiskCache`` explains the design, and sees to it that
/// operations on the same source take turns.
///
/// The store changes files, and ``EntryReader`` reads them.
final class DiskStore: Sendable {
    /// Names the folder of entries as this cache's. A folder without it belongs to another program.
    static let marker = "entries/.tintype"

    let context: DiskContext
    let reader: EntryReader
    let hand = Lock(EvictionHand())
    /// The end of the names of files that this cache is writing.
    let writer = WriterName()
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
        reader = EntryReader(context)
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
            context.directory.withLock { $0 = opened }
            restoreSizes(in: opened)
            prepared.withLock { $0 = opened }
            return opened
        }
    }

    var preparedDirectory: OpenDirectory? {
        guard let known = context.directory.withLock({ $0 }), prepared.withLock({ $0 === known }) else { return nil }
        return known
    }

    /// Lets the next store open and prepare the directory again.
    func forget(_ directory: OpenDirectory) {
        prepared.withLock { $0 = nil }
        context.areSizesKnown = false
        context.forget(directory)
    }

    /// Makes the folder of entries, and marks it as this cache's. An empty folder without the mark belongs to a process that has ended.
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

    /// Marks the contents of the directory as reproducible (Cache Directory Tagging Specification, bford.info/cachedir), or
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
        var name: EntryName
        var parts: (Data, Data)
        /// The time of storing.
        var time: Int64

        /// The space that the file takes on the disk.
        var size: Int { FileStatus.allocatedSize(parts.0.count + parts.1.count) }
    }

    /// Stores an entry in place of the previous entry under its key, and evicts others while the limits are exceeded.
    ///
    /// The caller's codec has encoded it.
    func store(_ entry: DiskCacheEntry, forKey key: ImageKey) throws(ImageError) {
        let configuration = context.limits.withLock { $0 }
        let time = nextTime()
        let trailer = EntryFile.trailer(
            for: entry, key: key, keepsCompleteURL: configuration.keepsCompleteURLs, stored: time,
            codec: reader.payloadCodec?.identifier)
        let new = NewEntry(name: EntryName(key), parts: (entry.data, trailer), time: time)
        try check(new, of: key, configuration)
        if let known = preparedDirectory, !known.isCurrent {
            // It was moved away, and others look where it was.
            forget(known)
        }
        var attempts = 0
        var hasFreed = false
        while true {
            attempts += 1
            let directory = try directoryForWriting()
            try makeRoom(for: new.size, in: directory, configuration)
            do throws(FileError) {
                try write(new, in: directory)
                context.counters.withLock { $0.stores += 1 }
                return
            } catch {
                if error.isDiskFull, configuration.minimumFreeSpace.bytes > 0, !hasFreed {
                    // Files, or the user's quota, may have run out, which the free space doesn't tell.
                    hasFreed = true
                    evict(in: directory, freeing: max(new.size, min(usage.bytes / 20, 1 << 20)))
                    // Where files have run out, folders take them, too.
                    for folder in 0..<EntryName.folders { try? directory.removeDirectory(EntryName.folderPath(folder)) }
                } else {
                    guard error.isMissing, attempts < 8 else { throw context.failure(error, .cacheWriteFailed) }
                    // The directory or its folders were removed. They are made anew.
                    forget(directory)
                }
            }
        }
    }

    /// The totals as this process knows them.
    var usage: CacheUsage { hand.withLock { $0.sizes.total } }

    /// The time of a store, later than the previous store: entries of the same time would be evicted in any order.
    private func nextTime() -> Int64 {
        let time = context.time
        return lastStore.withLock { last in
            // A clock that was set back counts.
            last = last &- time < 1_000_000 && last >= time ? last + 1 : time
            return last
        }
    }

    /// - Throws: ``ImageError/Code/cacheWriteFailed`` if the entry can never be stored.
    private func check(
        _ new: NewEntry, of key: ImageKey, _ configuration: DiskCache.Configuration
    ) throws(ImageError) {
        let reason: String
        if new.parts.1.count > EntryFile.maximumDescription {
            reason =
                "the data beside the image takes \(ByteCount(new.parts.1.count)), more than "
                + "\(ByteCount(EntryFile.maximumDescription))"
        } else if new.size > configuration.capacity.bytes {
            reason =
                "the entry takes \(ByteCount(new.size)), more than the capacity of the whole disk cache, "
                + "\(configuration.capacity)"
        } else {
            return
        }
        throw ImageError(.cacheWriteFailed, stage: .cache, source: key.source, reason: reason)
    }

    private func write(_ new: NewEntry, in directory: OpenDirectory) throws(FileError) {
        func write() throws(FileError) -> OpenDirectory.WriteResult {
            try directory.write(new.name, writer: writer, parts: new.parts, time: new.time)
        }
        let result: OpenDirectory.WriteResult
        do throws(FileError) {
            result = try write()
        } catch {
            guard error.isMissing, directory.exists(Self.marker) else { throw error }
            try directory.makeFolder(EntryName.folderPath(new.name.folder))
            result = try write()
        }
        guard case .written(let replaced) = result else { return }
        let visit = hand.withLock { hand in
            hand.noteStore(of: new.size, replacing: replaced, in: new.name.folder)
        }
        if let visit { look(visit, in: directory) }
        evict(in: directory)
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

    /// The directory for removals; `nil` if it is certainly no cache.
    func directoryForRemoving() throws(ImageError) -> OpenDirectory? {
        guard let directory = try context.existingDirectory() else { return nil }
        do throws(FileError) {
            guard try directory.isPresent(Self.marker) else { return nil }
        } catch {
            throw context.failure(error, .cacheUnavailable)
        }
        return try directoryForWriting()
    }

    func remove(_ key: ImageKey) throws(ImageError) -> Bool {
        guard let directory = try directoryForRemoving() else { return false }
        return try remove([EntryName(key)], in: directory) > 0
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

    /// - Returns: the number of files that there were.
    private func remove(_ names: [EntryName], in directory: OpenDirectory) throws(ImageError) -> Int {
        do throws(FileError) {
            var count = 0
            for name in names where try remove(name, in: directory) != nil { count += 1 }
            return count
        } catch {
            throw context.failure(error, .cacheWriteFailed)
        }
    }

    /// Removes the file of an entry.
    /// - Parameter isExpected: a closure that returns false for a file that is to stay.
    /// - Returns: the status of the file; `nil` if there was none, or it stays.
    func remove(
        _ name: EntryName, in directory: OpenDirectory, where isExpected: (FileStatus) -> Bool = { _ in true }
    ) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            guard let status = try directory.remove(name.path, where: isExpected) else { return nil }
            hand.withLock { $0.noteRemoval(of: status.allocatedSize, in: name.folder) }
            return status
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// Removes a file that reading found to be damaged or expired.
    func remove(_ stale: StaleFile) {
        guard let directory = context.openDirectory(), directory.reasonAgainstWriting == nil,
            (try? remove(stale.name, in: directory, where: { $0.isSameFile(as: stale.status) })) != nil
        else { return }
        if stale.isDamaged { context.counters.withLock { $0.corruptions += 1 } }
    }

    // MARK: Clearing

    /// The start of the names of cleared trees. They are beside the folder of entries, because a full disk has no room for a folder to put
    /// them in.
    private static let trash = "trash."

    /// Takes all entries away from all readers at once; ``emptyTrash(limit:)`` removes the files.
    func removeAll() throws(ImageError) {
        guard let directory = try directoryForRemoving() else { return }
        do throws(FileError) {
            try directory.rename(EntryName.root, to: "\(Self.trash)\(WriterName())")
        } catch {
            // Another process has just cleared it.
            guard error.isMissing else { throw context.failure(error, .cacheWriteFailed) }
        }
        hand.withLock { $0.noteClearing() }
        try? directory.remove(Self.sizesFile)
        forget(directory)
    }

    /// Removes up to `limit` files of the cleared trees; true if more may be left. Files that the cache has not named stay there.
    func emptyTrash(limit: Int) -> Bool {
        guard let directory = context.openDirectory(), directory.reasonAgainstWriting == nil else { return false }
        var left = limit
        for tree in (try? directory.list(".")) ?? []
        where tree.hasPrefix(Self.trash) && WriterName(tree.dropFirst(Self.trash.count)) != nil {
            for folder in (try? directory.list(tree)) ?? [] where EntryName.isFolder(folder) {
                let path = "\(tree)/\(folder)"
                let files = (try? directory.list(path)) ?? []
                for file in files where EntryName(file) != nil || WriterName.isUnfinished(file) {
                    guard left > 0 else { return true }
                    // A file that can't be removed doesn't count, so that the caller doesn't try for ever.
                    if (try? directory.remove("\(path)/\(file)")) != nil { left -= 1 }
                }
                try? directory.removeDirectory(path)
            }
            try? directory.remove("\(tree)/.tintype")
            try? directory.removeDirectory(tree)
        }
        return false
    }

    // MARK: The whole cache

    /// The directory, if it is a cache that has entries to read.
    func directoryOfEntries() -> OpenDirectory? {
        guard let directory = context.openDirectory(), directory.exists(Self.marker) else { return nil }
        return directory
    }

    /// Closes the directory.
    func close() {
        prepared.withLock { $0 = nil }
        context.areSizesKnown = false
        context.directory.withLock { $0 = nil }
    }
}
