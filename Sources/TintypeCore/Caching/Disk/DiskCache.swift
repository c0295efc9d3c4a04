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
    let store: DiskStore
    private let reads: WorkQueue
    /// One thread: SQLite lets one writer in at a time anyway, and here nobody waits on a lock.
    private let writes = WorkQueue(label: "disk cache writes", width: 1)
    /// Of its own, because it waits for the disk longer than anything else does.
    private let upkeep = WorkQueue(label: "disk cache upkeep", width: 1)
    private let staged = StagedEntries()
    private let subscription = MemoryPressure.Subscription()
    private let maintenance = Lock<Task<Void, Never>?>(nil)
    private let checkpoint = Lock<Task<Void, Never>?>(nil)

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
        logLimit: Int = DiskStore.usualLogLimit, now: @escaping @Sendable () -> Date,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        var configuration = configuration
        while configuration.directory.count > 1, configuration.directory.hasSuffix("/") {
            configuration.directory.removeLast()
        }
        store = DiskStore(configuration, files: files, logLimit: logLimit, now: now, log: log)
        reads = queue
    }

    /// The limits, which can change at any time; under smaller ones the next store or sweep removes what is too much.
    /// The directory, the room for encoded images and the codec stay what they were.
    public var configuration: Configuration {
        get { store.limits.withLock { $0 } }
        set {
            store.limits.withLock { limits in
                let old = limits
                limits = newValue
                limits.directory = old.directory
                limits.encodedMemoryCapacity = old.encodedMemoryCapacity
                limits.payloadCodec = old.payloadCodec
            }
        }
    }

    // MARK: Entries

    public func entry(forKey key: ImageKey) async -> DiskCacheEntry? {
        await entry(forKey: key, priority: nil)
    }

    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        await entry(forKey: key, priority: priority as WorkPriority?)
    }

    private func entry(forKey key: ImageKey, priority: WorkPriority?) async -> DiskCacheEntry? {
        if let entry = staged.entry(forKey: key), entry.expires.map({ $0 > store.now() }) ?? true {
            store.counters.withLock { $0.hits += 1 }
            return entry
        }
        var entry: DiskCacheEntry?
        switch store.entryAtOnce(forKey: key) {
        case .none: break
        case .found(let found):
            entry = found
            if store.takeUrgentChores() { doChoresLater() }
        case .unknown:
            entry =
                (try? await reads.perform(priority: priority ?? WorkPriority()) { [store] _ in store.entry(forKey: key)
                })
                ?? nil
            if store.takeUrgentChores() { doChoresLater() }
        }
        if entry == nil, store.searchPaths.withLock({ !$0.isEmpty }) {
            entry =
                (try? await reads.perform(priority: priority ?? WorkPriority()) { [store] _ in
                    store.searchedEntry(forKey: key)
                }) ?? nil
        }
        return entry
    }

    public func contains(_ key: ImageKey) async -> Bool {
        if staged.entry(forKey: key) != nil { return true }
        if let isThere = store.containsAtOnce(key) { return isThere }
        return (try? await reads.perform { [store] _ in store.contains(key) }) ?? false
    }

    public func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError) {
        let ticket = staged.add(entry, forKey: key)
        defer { staged.end(ticket, forKey: key) }
        // Not before what waits already, and not for who does not want it any more.
        if writes.load == (0, 0), !Task.isCancelled, store.storeAtOnce(entry, forKey: key) { return maintainOnce() }
        var encoded: DiskCacheEntry?
        if store.payloadCodec != nil {
            encoded = try await WorkQueue.processing.perform { [store] _ throws(ImageError) in try store.encoded(entry)
            }
        }
        try await write { [encoded, staged] store throws(ImageError) in
            // Removed or replaced while the codec was at work: that came later, and wins.
            guard encoded == nil || staged.isCurrent(ticket, forKey: key) else { return }
            try store.store(entry, encoded: encoded, forKey: key)
        }
        maintainOnce()
    }

    @discardableResult public func remove(_ key: ImageKey) async throws(ImageError) -> Bool {
        staged.forget { $0 == key }
        return try await write { store throws(ImageError) in try store.remove(key) }
    }

    @discardableResult public func removeAll(ofSource source: String) async throws(ImageError) -> Int {
        staged.forget { $0.source == source }
        return try await write { store throws(ImageError) in try store.removeAll(ofSource: source) }
    }

    public func removeAll() async throws(ImageError) {
        staged.forget { _ in true }
        try await write { store throws(ImageError) in try store.removeAll() }
        while try await write({ store in store.emptyTrash(limit: 500) }) {}
    }

    /// Removes entries that are too old, and what is over limits that were lowered, and looks for files that a crash left behind.
    ///
    /// It works in slices, between which others store.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheSweep {
        var sweep = try await write { store throws(ImageError) in try store.enforceLimits() }
        while true {
            let slice = try await write { store throws(ImageError) in try store.removeExpired(limit: Self.sliceSize) }
            sweep.files += slice.files
            sweep.bytes += slice.bytes
            guard slice.files > 0 else { break }
        }
        for _ in 0..<4 { try await write { store throws(ImageError) in try store.removeOrphans() } }
        return sweep
    }

    private static let sliceSize = 256

    // MARK: What there is

    public func usage() async -> CacheUsage {
        await settle()
        return await indexedUsage()
    }

    /// Purges encoded images in memory (``Configuration/encodedMemoryCapacity``) until they take at most `bytes`, those first that
    /// were not used for the longest time.
    public func trimEncodedMemory(to bytes: ByteCount) { store.encodedMemory?.trim(to: bytes.bytes) }

    /// Purges encoded images from memory from now on when memory is scarce, to half of the capacity and then all; `nil` to stop.
    public func observe(_ pressure: MemoryPressure?) {
        guard let memory = store.encodedMemory else { return }
        subscription.replace(with: pressure) { level in
            switch level {
            case .warning: memory.trim(to: memory.capacity / 2)
            case .critical: memory.removeAll()
            }
        }
    }

    /// The encoded images in memory.
    public var encodedMemoryUsage: CacheUsage { store.encodedMemory?.usage ?? CacheUsage() }

    /// The totals as they are known without a look at the disk, once something was stored.
    func approximateUsage() async -> CacheUsage {
        let statistics = statistics
        guard statistics.stores == 0 else { return CacheUsage(entries: statistics.entries, bytes: statistics.bytes) }
        return await usage()
    }

    /// Runs what changes the cache.
    func write<Result: Sendable>(
        priority: WorkPriority = WorkPriority(), _ body: @escaping @Sendable (DiskStore) throws(ImageError) -> Result
    ) async throws(ImageError) -> Result {
        defer {
            if store.takeDueCheckpoint() { checkpointLater() }
            if store.doomed.withLock({ $0.schedule() }) { removeDoomedLater() }
        }
        return try await writes.perform(priority: priority) { [store] _ throws(ImageError) in try body(store) }
    }

    /// Brings the log of the index into the index while others store and read.
    private func checkpointLater() {
        checkpoint.withLock { checkpoint in
            checkpoint = Task { [upkeep, store, checkpoint] in
                await checkpoint?.value
                _ = try? await upkeep.perform { _ in store.checkpoint() }
            }
        }
    }

    /// Removes the files of entries that were evicted or replaced.
    private func removeDoomedLater() {
        Task { [upkeep, store] in
            while (try? await upkeep.perform { _ in store.removeDoomed(limit: 64) }) == true {}
        }
    }

    /// Lets the index know all that is there, for what only it can tell, and the directory have no more than that.
    private func settle() async {
        await settleIndex()
        while store.hasDoomed, (try? await upkeep.perform { [store] _ in store.removeDoomed(limit: 64) }) == true {}
    }

    private func settleIndex() async {
        let isOlder = (try? await reads.perform { [store] _ in store.isIndexOlder }) ?? false
        if isOlder { _ = try? await write { store in store.migrate() } }
        guard store.mayHavePending else { return }
        _ = try? await write { store throws(ImageError) in
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

    /// Returns the entries of one source, its original and its variants.
    public func entries(ofSource source: String) async -> [Listing] {
        await settle()
        let rows = try? await reads.perform { [store] _ in
            let imported = store.importedKey(ImageKey(source: source))
            return store.withReader { reader throws(SQLiteError) in
                try reader.rows(ofSource: source)
                    + (imported.map(reader.row(forKey:)).map { $0.map { [$0] } ?? [] } ?? [])
            }
        }
        return ((rows ?? nil) ?? []).map(Listing.init)
    }

    /// The variants of a source that there are. Those that another process stored a moment ago may be missing.
    public func variants(ofSource source: String) async -> [ImageVariant] {
        let hash = DiskIndexSchema.hashes(ofSource: source).lowerBound
        if store.pendingVariants.withLock({ $0.contains(hash) }) { await settle() }
        // Nil for an index of an older version, which only a look at the file tells: not on a thread of Swift's.
        let find = { @Sendable [reads, store] () async -> [ImageVariant]? in
            let found = try? await reads.perform { _ -> [ImageVariant]? in
                guard !store.isIndexOlder else { return nil }
                return store.withReader { reader throws(SQLiteError) in try reader.variants(ofSource: source) } ?? []
            }
            return found ?? nil
        }
        var known = await find()
        if known == nil {
            await settle()
            known = await find()
        }
        let listed = known ?? []
        return listed + staged.variants(ofSource: source).filter { !listed.contains($0) }
    }

    /// Reads every entry and drops the damaged ones.
    public func verify() async throws(ImageError) -> CacheVerification {
        await settle()
        var report = CacheVerification()
        var cursor: Int64 = 0
        while true {
            let start = cursor
            let before = report
            let (next, after) = try await write { store throws(ImageError) in
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
            _ = try? await writes.perform { _ throws(ImageError) in
                store.waitForWriter()
                defer { while store.removeDoomed(limit: 64) {} }
                try store.doChores()
            }
        }.value
    }

    /// Writes what reading left to write, in slices between which others store.
    private func doChoresLater() {
        Task { [writes, upkeep, store] in
            let times = try? await writes.perform { _ throws(ImageError) in
                try store.dropNoted()
                return store.areAccessTimesDue ? store.beginWritingAccessTimes() : []
            }
            if let times, !times.isEmpty {
                for start in stride(from: 0, to: times.count, by: DiskStore.accessSlice) {
                    let slice = times[start..<min(start + DiskStore.accessSlice, times.count)]
                    _ = try? await writes.perform { _ throws(ImageError) in try store.writeAccessTimes(slice) }
                }
                store.endWritingAccessTimes()
            }
            store.chores.withLock { $0.isScheduled = false }
            // Rows that were written with the times may have replaced others.
            if store.doomed.withLock({ $0.schedule() }) {
                while (try? await upkeep.perform { _ in store.removeDoomed(limit: 64) }) == true {}
            }
        }
    }

    /// Once in the life of the cache: makes a lost index again, and removes what a crash left.
    private func maintainOnce() {
        maintenance.withLock { maintenance in
            guard maintenance == nil else { return }
            maintenance = Task(priority: .utility) { [weak self] in await self?.maintain() }
        }
    }

    /// Waits for everything that is under way, also in the background, and closes all files. A later call opens them again.
    public func close() async {
        await maintenance.withLock { $0 }?.value
        await flush()
        await checkpoint.withLock { $0 }?.value
        store.close()
    }

    /// Makes a lost index again from the files, and removes some of what a crash left, in slices.
    func maintain() async {
        let priority = WorkPriority(.veryLow)
        do {
            while try await write(priority: priority, { store throws(ImageError) in try store.rebuildSlice() }) {}
            while try await write(priority: priority, { store in store.emptyTrash(limit: 500) }) {}
            try await write(priority: priority) { store throws(ImageError) in try store.removeOrphans() }
        } catch {
            // Logged already; the next process tries again.
        }
    }

    deinit {
        // What was read lately is the only thing that is not on disk; some milliseconds.
        try? store.doChores()
        while store.removeDoomed(limit: 64) {}
    }
}
