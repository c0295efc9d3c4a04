internal import CSQLite
internal import FoundationEssentials
internal import Glibc

/// A disk cache without its queues: every call does its work on the calling thread. ``DiskCache`` explains the design.
///
/// There are three locks for what takes time, always taken in this order: ``index`` while the index is used, ``writer`` while a file is
/// written, and ``directory`` for a moment. Reads take neither of the first two.
final class DiskStore: Sendable {
    /// The state of writing.
    struct Writer {
        /// The directory that was checked, and has all that entries need.
        var prepared: CacheDirectory?
        var journal: Journal?
        /// The names that are in the journal, and the rows that they will get.
        var pending: [EntryName: Pending] = [:]
        /// The space that the pending entries take.
        var pendingBytes = 0
        /// The usage when the index was written last.
        var indexed = CacheUsage()
        /// Keeps the ids of entries apart that are stored at the same time.
        var sequence = 0
    }

    /// A name that a batch has to look at.
    struct Pending {
        /// The row and the file that it describes; `nil` if only the file tells.
        var row: DiskIndex.Row?
        var inode: UInt64 = 0
    }

    struct Index {
        var index: DiskIndex?
        /// The file that is open, and its directory.
        var inode: UInt64 = 0
        var directory: CacheDirectory?
        /// The reason why the index is not used: it is that of a newer version, or of another program.
        var refusal: String?
        /// Journals whose names go into the index with the next batch that succeeds.
        var retired: [Journal] = []
    }

    /// Work that reading leaves to the writing threads.
    struct Notes {
        /// The uses of entries since the last batch.
        var accesses: [EntryName: Access] = [:]
        /// The time of the first of them.
        var firstAccess: Int64 = 0
        /// Files to remove, if their names still belong to the same file.
        var discards: [EntryName: Discard] = [:]
        /// True if there are files to remove, many uses, or uses of a minute ago.
        var isDue = false
    }

    struct Access {
        /// In microseconds since 1970.
        var time: Int64
        /// True if the file's own time is too old to stand for this use.
        var needsFileTime: Bool
    }

    struct Discard {
        var inode: UInt64
        var isDamaged: Bool
    }

    /// The number of names that make a batch.
    static let batchSize = 512
    /// The number of batches that may wait while another process holds the index.
    static let maximumWaitingBatches = 16
    /// The number of uses that are kept in memory, and the number that makes a batch.
    static let (maximumAccesses, dueAccesses) = (16_384, 8_192)

    let path: String
    let now: @Sendable () -> Date
    let faults: FileFaults?
    private let log: @Sendable (String) -> Void
    let limits: Lock<DiskCache.Configuration>
    let directory = Lock<CacheDirectory?>(nil)
    let writer = Lock(Writer())
    let index = Lock(Index())
    /// True if the index missed a change of the files, so that all folders have to be compared with it.
    let needsComparison = Lock(false)
    /// True while another process holds the index, so that stores don't wait for it.
    let isIndexBusy = Lock(false)
    let notes = Lock(Notes())
    let counters = Lock(CacheStatistics())
    /// Encoded entries in memory; `nil` if none are kept.
    let encodedMemory: EncodedMemoryCache?
    let payloadCodec: PayloadCodec?
    let searchPaths = Lock<[DiskCache.SearchPath]>([])
    private let loggedCauses = Lock(Set<String>())

    init(
        _ configuration: DiskCache.Configuration, faults: FileFaults?, now: @escaping @Sendable () -> Date,
        log: @escaping @Sendable (String) -> Void
    ) {
        path = configuration.directory
        self.faults = faults
        self.now = now
        self.log = log
        limits = Lock(configuration)
        payloadCodec = configuration.payloadCodec
        encodedMemory = configuration.encodedMemoryCapacity.map { EncodedMemoryCache(capacity: $0.bytes) }
    }

    /// The present, in microseconds since 1970.
    var time: Int64 { now().cacheTime }

    // MARK: The directory

    /// The directory for reading; `nil` if there is none, or it can't be read.
    func openDirectory() -> CacheDirectory? {
        if let open = directory.withLock({ $0 }), !open.isRemoved { return open }
        do throws(FileError) {
            let opened = try CacheDirectory.open(path, faults: faults)
            directory.withLock { $0 = opened }
            return opened
        } catch {
            // No directory is no entries; any other reason is worth a word.
            directory.withLock { $0 = nil }
            if !error.isMissing { note("\(error)", cause: error.cause) }
            return nil
        }
    }

    /// The directory, checked and with all that entries need.
    /// - Throws: ``ImageError/Code/cacheUnavailable``
    func directoryForWriting() throws(ImageError) -> CacheDirectory {
        let known = directory.withLock { $0 }
        if let known, writer.withLock({ $0.prepared === known }) { return known }
        let opened: CacheDirectory
        do throws(FileError) {
            opened = try CacheDirectory.make(path, faults: faults)
        } catch {
            throw failure(error, .cacheUnavailable)
        }
        try checkForWriting(opened)
        do throws(FileError) {
            try makeEntriesFolder(in: opened)
            if !opened.exists(Journal.folder) { try opened.makeFolder(Journal.folder) }
        } catch {
            throw failure(error, .cacheUnavailable)
        }
        guard opened.exists(Self.marker) else {
            throw unavailable("its folder `entries` belongs to another program; use another directory")
        }
        tag(opened)
        directory.withLock { $0 = opened }
        try checkIndex()
        writer.withLock { writer in
            // What waits belongs to the directory of before. Its journal names it, also if that is the same one.
            if writer.prepared !== opened {
                writer.journal = nil
                writer.pending = [:]
                writer.pendingBytes = 0
            }
            writer.prepared = opened
        }
        return opened
    }

    /// Checks that the directory is the user's own.
    func checkForWriting(_ directory: CacheDirectory) throws(ImageError) {
        if let reason = directory.reasonAgainstWriting { throw unavailable(reason) }
    }

    /// Names the folder of entries as this cache's. A folder without it belongs to another program.
    static let marker = "entries/.tintype"

    private func makeEntriesFolder(in directory: CacheDirectory) throws(FileError) {
        if !directory.exists(String(EntryName.root.dropLast())) {
            // Complete when it gets its name.
            let unfinished = "entries.\(WriterName())"
            try directory.makeFolder(unfinished)
            try directory.create("\(unfinished)/.tintype")
            do throws(FileError) {
                try directory.rename(unfinished, to: "entries")
            } catch {
                try? directory.remove("\(unfinished)/.tintype")
                try? directory.removeDirectory(unfinished)
                // Another process may have been faster.
                guard directory.exists(Self.marker) else { throw error }
            }
        }
    }

    /// Marks the directory as one whose contents can be made again (Cache Directory Tagging Specification, bford.info/cachedir), or
    /// removes the mark. A failure doesn't matter.
    private func tag(_ directory: CacheDirectory) {
        let name = "CACHEDIR.TAG"
        guard limits.withLock({ $0.isExcludedFromBackup }) else {
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

    /// Forgets the directory if the path leads to another one, or none, by now.
    func checkDirectory() {
        guard let open = directory.withLock({ $0 }) else { return }
        if open.isCurrent { return open.checkContents() }
        directory.withLock { if $0 === open { $0 = nil } }
    }

    // MARK: Usage

    /// The usage as far as this process knows it, without a look at the disk. Entries that are about to be replaced count twice.
    var knownUsage: CacheUsage {
        writer.withLock { writer in
            CacheUsage(
                entries: writer.indexed.entries + writer.pending.count,
                bytes: writer.indexed.bytes + writer.pendingBytes)
        }
    }

    var hasPending: Bool { writer.withLock { !$0.pending.isEmpty } }

    /// True if enough names wait to write the index: 512, or a hundredth of the capacity.
    var isBatchDue: Bool {
        let capacity = limits.withLock { $0.capacity.bytes }
        return writer.withLock { $0.pending.count >= Self.batchSize || $0.pendingBytes >= capacity / 100 }
    }

    var hasLegacyFiles: Bool { directory.withLock { $0 }?.mayHaveLegacyFiles.withLock { $0 } ?? false }

    func noteUsage(_ usage: CacheUsage) {
        counters.withLock { counters in
            counters.entries = usage.entries
            counters.bytes = usage.bytes
        }
    }

    // MARK: Errors

    /// Logs an error, once for each cause.
    func note(_ message: String, cause: String) {
        if loggedCauses.withLock({ $0.insert(cause).inserted }) { log(message) }
    }

    func failure(_ error: FileError, _ code: ImageError.Code) -> ImageError {
        note("\(path): \(error)", cause: error.cause)
        let place = error.path == path ? "it" : error.path
        return ImageError(
            code, stage: .cache, source: path, reason: "cannot \(error.operation) \(place): \(error.message)",
            underlying: error)
    }

    func failure(_ error: SQLiteError, _ code: ImageError.Code = .cacheWriteFailed) -> ImageError {
        // A full disk shows itself in files and in the index; one message is enough.
        let cause = error.primaryCode == SQLITE_FULL ? "write \(ENOSPC)" : "index \(error.code)"
        note("cannot write \(path)/\(LegacyLayout.index): \(error)", cause: cause)
        return ImageError(
            code, stage: .cache, source: path, reason: "cannot write the index: \(error)", underlying: error)
    }

    func unavailable(_ reason: String) -> ImageError {
        note("\(path): \(reason)", cause: reason)
        return ImageError(.cacheUnavailable, stage: .cache, source: path, reason: reason)
    }
}
