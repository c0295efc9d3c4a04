internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// A disk cache without its queues: every call does its work on the calling thread. ``DiskCache`` explains the design, and sees to it that
/// operations on one source take turns.
///
/// This file has the directory, and storing; the extensions have reading, removing, and making room.
final class DiskStore: Sendable {
    /// The attempts to make the directory, or to store in it, while others remove it.
    private static let maximumAttempts = 8
    /// Names the folder of entries as this cache's, whatever else is in it.
    static let marker = "entries/.tintype"

    let path: String
    let payloadCodec: PayloadCodec?
    let limits: Lock<DiskCache.Configuration>
    let searchPlaces = Lock(SearchPlaces())
    /// The statistics without the totals, which the hand has.
    let counters = Lock(CacheStatistics())
    let hand = Lock(EvictionHand())
    /// ``EvictionHand/renewalAge``, which each read needs without a lock.
    let renewalAge = Atomic(EvictionHand().renewalAge)
    /// The end of the names of files that this cache is writing.
    let writer = WriterName()
    let directory = Lock<OpenDirectory?>(nil)
    /// The time at which a miss last learned that the directory was still there.
    let lastQuestion = Atomic(Int64(0))
    /// For the thread that prepares the directory.
    private let preparation = Lock(())
    private let now: @Sendable () -> Date
    let faults: FileFaults?
    private let log: @Sendable (String) -> Void
    private let loggedCauses = Lock(Set<String>())

    init(
        _ configuration: DiskCache.Configuration, faults: FileFaults?, now: @escaping @Sendable () -> Date,
        log: @escaping @Sendable (String) -> Void
    ) {
        (path, payloadCodec, limits) = (configuration.directory, configuration.payloadCodec, Lock(configuration))
        (self.faults, self.now, self.log) = (faults, now, log)
    }

    /// The present, in microseconds since 1970.
    var time: Int64 { now().cacheTime }

    // MARK: The directory

    /// The directory for reading; `nil` only if there is certainly none.
    /// - Throws: ``ImageError/Code/cacheUnavailable``, which is logged.
    func existingDirectory() throws(ImageError) -> OpenDirectory? {
        if let open = directory.withLock({ $0 }), !open.isRemoved { return open }
        do throws(FileError) {
            let opened = try OpenDirectory.open(path, faults: faults)
            directory.withLock { $0 = opened }
            return opened
        } catch {
            directory.withLock { $0 = nil }
            if error.isMissing { return nil }
            throw failure(error, .cacheUnavailable)
        }
    }

    /// The directory for removals; `nil` if it has no entries.
    /// - Throws: ``ImageError/Code/cacheUnavailable``
    func directoryForRemoving() throws(ImageError) -> OpenDirectory? {
        if let known = preparedDirectory { return known }
        guard let directory = try existingDirectory() else { return nil }
        do throws(FileError) {
            guard try !directory.list(EntryName.root).isEmpty else { return nil }
        } catch {
            if error.isMissing { return nil }
            throw failure(error, .cacheUnavailable)
        }
        return try directoryForWriting()
    }

    /// The directory, checked and with all that entries need.
    /// - Throws: ``ImageError/Code/cacheUnavailable``
    func directoryForWriting() throws(ImageError) -> OpenDirectory {
        if let known = preparedDirectory { return known }
        return try preparation.withLockUnchecked { _ throws(ImageError) in
            if let known = preparedDirectory { return known }
            let made = try makeDirectory()
            tag(made)
            restoreSizes(in: made)
            made.isPrepared.store(true, ordering: .releasing)
            directory.withLock { $0 = made }
            return made
        }
    }

    /// Opens the directory, or makes it, and its folder of entries. Others may be removing either at the same time.
    private func makeDirectory() throws(ImageError) -> OpenDirectory {
        var attempts = 0
        while true {
            attempts += 1
            let reason: String
            do throws(FileError) {
                // Anew each time: in a directory that was removed nothing can be made.
                let made = try OpenDirectory.make(path, faults: faults)
                if let refusal = made.reasonAgainstWriting {
                    reason = refusal
                } else if try makeEntriesFolder(in: made) {
                    return made
                } else {
                    reason = "its folder `entries` belongs to another program; use another directory"
                }
            } catch {
                if error.isMissing, attempts < Self.maximumAttempts { continue }
                throw failure(error, .cacheUnavailable)
            }
            throw failure(.cacheUnavailable, reason, cause: reason)
        }
    }

    var preparedDirectory: OpenDirectory? {
        directory.withLock { $0 }.flatMap { $0.isPrepared.load(ordering: .acquiring) ? $0 : nil }
    }

    /// Lets the next store open and prepare the directory again.
    func forget(_ old: OpenDirectory) {
        if directory.withLock({ $0 === old && $0.take() != nil }) { hand.withLock { $0.areSizesKnown = false } }
    }

    /// Forgets the directory if the path leads elsewhere or nowhere by now, or if it may not be written to any more.
    func checkDirectory() {
        if let open = directory.withLock({ $0 }), !open.isCurrent || open.reasonAgainstWriting != nil { forget(open) }
    }

    /// Makes the folder of entries, and marks it as this cache's. Without the mark, which programs that clear old files may have removed, it is this
    /// cache's if it has nothing but folders of entries.
    /// - Returns: false if it is another program's.
    /// - Throws: also if others have just removed the folder or the directory.
    private func makeEntriesFolder(in directory: OpenDirectory) throws(FileError) -> Bool {
        if try directory.exists(Self.marker) { return true }
        try directory.makeFolder(EntryName.root)
        guard try directory.list(EntryName.root).allSatisfy({ EntryName.isFolder($0) || $0.hasPrefix(".") }) else {
            return false
        }
        try directory.write([], to: Self.marker)
        return true
    }

    /// Marks the directory as a cache, whose contents can be made again (Cache Directory Tagging Specification, bford.info/cachedir), or
    /// removes the mark. A failure doesn't matter.
    private func tag(_ directory: OpenDirectory) {
        let (name, isTagged) = ("CACHEDIR.TAG", limits.withLock { $0.isExcludedFromBackup })
        if !isTagged { try? directory.remove(name) }
        guard isTagged, (try? directory.exists(name)) == false else { return }
        let text = """
            Signature: 8a477f597d28d172789f06886806bc55
            # Tintype keeps images here that it can load again.

            """
        _ = try? directory.write([Data(text.utf8)], to: name)
    }

    // MARK: Storing

    /// Stores an entry, replaces the previous entry under its key, and evicts others while the limits are exceeded.
    ///
    /// The caller's codec has encoded it.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    func store(_ entry: DiskCacheEntry, forKey key: ImageKey) throws(ImageError) {
        let configuration = limits.withLock { $0 }
        let time = time
        let trailer = EntryFile.trailer(
            for: entry, key: key, keepsCompleteURL: configuration.keepsCompleteURLs, stored: time,
            codec: payloadCodec?.identifier)
        let size = FileStatus.allocatedSize(entry.data.count + trailer.count)
        let (beside, capacity) = (ByteCount(trailer.count), configuration.capacity)
        let limit = ByteCount(EntryFile.maximumDescription)
        let reason: String? =
            if beside > limit {
                "the data stored beside the image takes \(beside), over the limit of \(limit)"
            } else if size > capacity.bytes {
                "the entry takes \(ByteCount(size)), over the capacity of the disk cache, \(capacity)"
            } else { nil }
        if let reason { throw ImageError(.cacheWriteFailed, stage: .cache, source: key.source, reason: reason) }
        // If it was moved away, others look where it was.
        if let known = preparedDirectory, !known.isCurrent { forget(known) }
        var attempts = 0
        var hasFreed = false
        while true {
            attempts += 1
            let directory = try directoryForWriting()
            try keepFree(configuration.minimumFreeSpace, after: size, in: directory)
            do throws(FileError) {
                try write(EntryName(key), [entry.data, trailer], time: time, size: size, in: directory)
                return counters.withLock { $0.stores += 1 }
            } catch {
                if error.isDiskFull, configuration.minimumFreeSpace.bytes > 0, !hasFreed {
                    // Files, or the user's quota, may have run out, which the free space doesn't tell.
                    hasFreed = true
                    evict(in: directory, freeing: max(size, min(hand.withLock { $0.sizes.total.bytes } / 20, 1 << 20)))
                    // Where files have run out, folders take them, too.
                    for folder in 0..<EntryName.folders { try? directory.removeDirectory(EntryName.folderPath(folder)) }
                } else {
                    guard error.isMissing, attempts < Self.maximumAttempts else {
                        throw failure(error, .cacheWriteFailed)
                    }
                    // The directory or its folders were removed. They are made anew.
                    forget(directory)
                }
            }
        }
    }

    private func write(
        _ name: EntryName, _ parts: [Data], time: Int64, size: Int, in directory: OpenDirectory
    ) throws(FileError) {
        func write() throws(FileError) -> Int? {
            try directory.write(parts, to: name.path, unfinished: name.unfinishedPath(writer), time: time)
        }
        let replaced: Int?
        do throws(FileError) {
            replaced = try write()
        } catch {
            guard error.isMissing, try directory.exists(Self.marker) else { throw error }
            try directory.makeFolder(EntryName.folderPath(name.folder))
            replaced = try write()
        }
        guard let replaced else { return }
        let visit = hand.withLock { $0.noteStore(of: size, replacing: replaced, in: name.folder) }
        if let visit { look(visit, in: directory) }
        evict(in: directory)
    }

    // MARK: Errors

    /// Logs an error, once for each cause.
    func note(_ message: String, cause: String) {
        if loggedCauses.withLock({ $0.insert(cause).inserted }) { log(message) }
    }

    func failure(_ error: FileError, _ code: ImageError.Code) -> ImageError {
        let place = error.path == path ? "" : " \(error.path)"
        let reason = "cannot \(error.operation)\(place): \(error.message)"
        return failure(code, reason, cause: error.cause, underlying: error)
    }

    func failure(
        _ code: ImageError.Code, _ reason: String, cause: String, underlying: (any Error)? = nil
    ) -> ImageError {
        note("\(path): \(reason)", cause: cause)
        return ImageError(code, stage: .cache, source: path, reason: reason, underlying: underlying)
    }
}
