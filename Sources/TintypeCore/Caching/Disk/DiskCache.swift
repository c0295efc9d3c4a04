internal import FoundationEssentials
internal import Logging

/// Encoded images on disk: an index in SQLite, and a file for each image, which any viewer opens.
///
/// - An entry is seen whole or not at all, by this process and any other that uses the directory. What was damaged, be
///   it one bit, is noticed when it is read, and dropped.
/// - The limits hold after every store. Evicting costs what is evicted, whatever else there is.
/// - Reads wait neither for writes nor for sweeps.
/// - Where the directory cannot be used, reads find nothing, and writes say why. Each cause is logged once.
///
/// ```swift
/// let cache = DiskCache(.init(directory: path, capacity: .gigabytes(2), maximumAge: .days(7)))
/// try await cache.store(DiskCacheEntry(data: bytes, created: Date()), forKey: key)
/// let entry = await cache.entry(forKey: key)
/// ```
public final class DiskCache: DiskCaching {
    private let store: DiskStore
    private let reads: WorkQueue
    /// One thread: SQLite lets one writer in at a time anyway, and here nobody waits on a lock.
    private let writes = WorkQueue(label: "disk cache writes", width: 1)
    private let isMaintained = Lock(false)

    /// Touches no file: the directory is made when something is stored.
    /// - Parameter queue: where files are read.
    public convenience init(_ configuration: Configuration = Configuration(), queue: WorkQueue = .files) {
        let logger = Logger(label: "tintype.disk-cache")
        self.init(
            configuration, queue: queue, files: PosixFileSystem(), now: { Date() },
            log: { logger.warning("\($0)") })
    }

    init(
        _ configuration: Configuration, queue: WorkQueue = .files, files: any CacheFileSystem = PosixFileSystem(),
        now: @escaping @Sendable () -> Date, log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        var configuration = configuration
        while configuration.directory.count > 1, configuration.directory.hasSuffix("/") {
            configuration.directory.removeLast()
        }
        store = DiskStore(configuration, files: files, now: now, log: log)
        reads = queue
    }

    /// The limits, which can change at any time; under smaller ones the next store or sweep removes what is too much.
    /// The directory stays what it was.
    public var configuration: Configuration {
        get { store.limits.withLock { $0 } }
        set {
            store.limits.withLock { limits in
                let directory = limits.directory
                limits = newValue
                limits.directory = directory
            }
        }
    }

    // MARK: Entries

    public func entry(forKey key: ImageKey) async -> DiskCacheEntry? {
        let entry: DiskCacheEntry?
        switch store.entryAtOnce(forKey: key) {
        case .none: return nil
        case .found(let found): entry = found
        case .unknown: entry = (try? await reads.perform { [store] _ in store.entry(forKey: key) }) ?? nil
        }
        if store.hasUrgentChores { doChoresLater() }
        return entry
    }

    public func contains(_ key: ImageKey) async -> Bool {
        if let isThere = store.containsAtOnce(key) { return isThere }
        return (try? await reads.perform { [store] _ in store.contains(key) }) ?? false
    }

    public func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError) {
        try await writes.perform { [store] _ throws(ImageError) in try store.store(entry, forKey: key) }
        maintainOnce()
    }

    @discardableResult public func remove(_ key: ImageKey) async throws(ImageError) -> Bool {
        try await writes.perform { [store] _ throws(ImageError) in try store.remove(key) }
    }

    @discardableResult public func removeAll(source: String) async throws(ImageError) -> Int {
        try await writes.perform { [store] _ throws(ImageError) in try store.removeAll(source: source) }
    }

    public func removeAll() async throws(ImageError) {
        try await writes.perform { [store] _ throws(ImageError) in try store.removeAll() }
        while try await writes.perform({ [store] _ in store.emptyTrash(limit: 500) }) {}
    }

    /// Removes entries that are too old, and what is over limits that were lowered, and looks for files that a crash left behind.
    ///
    /// It works in slices, between which others store.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheSweep {
        var sweep = try await writes.perform { [store] _ throws(ImageError) in try store.enforceLimits() }
        while true {
            let slice = try await writes.perform { [store] _ throws(ImageError) in
                try store.removeExpired(limit: Self.sliceSize)
            }
            sweep.files += slice.files
            sweep.bytes += slice.bytes
            guard slice.files > 0 else { break }
        }
        for _ in 0..<4 { try await writes.perform { [store] _ throws(ImageError) in try store.removeOrphans() } }
        return sweep
    }

    private static let sliceSize = 256

    // MARK: What there is

    public func usage() async -> CacheUsage {
        await settle()
        return await indexedUsage()
    }

    /// Lets the index know all that is there, for what only it can tell.
    private func settle() async {
        guard store.mayHavePending else { return }
        _ = try? await writes.perform { [store] _ throws(ImageError) in
            _ = store.openTable()
            try store.doChores()
        }
    }

    private func indexedUsage() async -> CacheUsage {
        (try? await reads.perform { [store] _ in store.usage() }) ?? CacheUsage()
    }

    /// What the cache has done since it was made. ``CacheStatistics/entries`` and ``CacheStatistics/bytes`` are those
    /// of the last time that ``usage()`` was asked or something was stored.
    public var statistics: CacheStatistics { store.counters.withLock { $0 } }

    /// Entries in the order in which they were stored (to the millisecond), without their images.
    /// - Parameter cursor: the ``Listing/cursor`` of the last entry that is known already; 0 to begin.
    public func entries(after cursor: Int64 = 0, limit: Int = 1_000) async -> [Listing] {
        await settle()
        let rows = try? await reads.perform { [store] _ in
            store.withReader { reader throws(SQLiteError) in try reader.rows(after: cursor, limit: limit) }
        }
        return ((rows ?? nil) ?? []).map(Listing.init)
    }

    /// All that is there of one source.
    public func entries(source: String) async -> [Listing] {
        await settle()
        let rows = try? await reads.perform { [store] _ in
            store.withReader { reader throws(SQLiteError) in try reader.rows(ofSource: source) }
        }
        return ((rows ?? nil) ?? []).map(Listing.init)
    }

    /// Reads every entry and drops the damaged ones.
    public func verify() async throws(ImageError) -> CacheVerification {
        await settle()
        var report = CacheVerification()
        var cursor: Int64 = 0
        while true {
            let start = cursor
            let before = report
            let (next, after) = try await writes.perform { [store] _ throws(ImageError) in
                var report = before
                let next = try store.verify(after: start, limit: 64, report: &report)
                return (next, report)
            }
            report = after
            guard let next else { return report }
            cursor = next
        }
    }

    // MARK: In the background

    /// Waits until everything that was asked for before is done, and writes what reading left to write.
    public func flush() async {
        // Waited for even by a task that is cancelled: who flushes is about to end the program.
        await Task { [writes, store] in
            _ = try? await writes.perform { _ throws(ImageError) in try store.doChores() }
        }.value
    }

    private func doChoresLater() {
        Task { [writes, store] in
            _ = try? await writes.perform { _ throws(ImageError) in try store.doChores() }
        }
    }

    /// Once in the life of the cache: makes a lost index again, and removes what a crash left.
    private func maintainOnce() {
        let isFirst = isMaintained.withLock { isMaintained in
            defer { isMaintained = true }
            return !isMaintained
        }
        guard isFirst else { return }
        Task(priority: .utility) { [weak self] in await self?.maintain() }
    }

    /// Makes a lost index again from the files, and removes some of what a crash left, in slices.
    func maintain() async {
        let priority = WorkPriority(.veryLow)
        do {
            while try await writes.perform(
                priority: priority, { [store] _ throws(ImageError) in try store.rebuildSlice() })
            {}
            while try await writes.perform(priority: priority, { [store] _ in store.emptyTrash(limit: 500) }) {}
            try await writes.perform(priority: priority) { [store] _ throws(ImageError) in try store.removeOrphans() }
        } catch {
            // Logged already; the next process tries again.
        }
    }

    deinit {
        // What was read lately is the only thing that is not on disk; a few milliseconds at most.
        try? store.doChores()
    }
}
