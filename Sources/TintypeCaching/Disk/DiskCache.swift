internal import FoundationEssentials
internal import Logging

/// Encoded images on disk, each in a file of its own that any viewer opens.
///
/// - Readers see an entry whole or not at all, in this process and any other that uses the directory. A read notices damage, even of a
///   single bit, and discards the entry.
/// - The limits hold after every store.
/// - Reads wait neither for writes nor for sweeps.
/// - If the directory can't be used, reads find nothing, and writes say why. Each cause is logged once.
///
/// ```swift
/// let cache = DiskCache(.init(directory: path, capacity: .gigabytes(2), maximumAge: .days(7)))
/// try await cache.store(DiskCacheEntry(data: bytes, created: Date()), forKey: key)
/// let entry = await cache.entry(forKey: key)
/// ```
///
/// ## Design
///
/// The directory is the cache: names, sizes, and times of its files are all that the cache knows. It has no index, locks no file, and
/// shares no memory with other processes.
///
///     entries/.tintype              the mark by which the folder is this cache's
///     entries/ab/<S>-<V>            an entry: S is a hash of the source (ab its first byte), V one of the variant
///     entries/ab/.<S>-<V>.<writer>  an entry that is being written
///     sizes                         the number of entries in each folder and their bytes, as last seen; may be lost, late, or wrong
///     trash.<writer>/               cleared entries that are being removed
///
/// | operation | work |
/// | --- | --- |
/// | read | Opens the file that the key's hash names, reads it, and verifies it. A miss is an open that fails. |
/// | store | Writes the unfinished file and renames it; then the `EvictionHand` looks at eight names, and evicts. |
/// | remove | Unlinks the file. |
/// | use | Renews the time of the file if it is older than an eighth of the age of eviction. |
/// | clear | Renames `entries` to `trash.<writer>`, and removes the files there. |
/// | totals, list, sweep, verify | Walk through the folders. |
///
/// **Crashes.** An entry is renamed when it is whole, and a checksum reveals damage by a loss of power. Unfinished files, cleared entries,
/// and wrong sizes are set right when the hand, or the next process, meets them. Nothing waits for the medium.
///
/// **Order.** Stores and removals of a source happen in the order of the calls; other sources don't wait for them. A removal cancels
/// the stores that started before it. Between processes the later rename or unlink wins.
///
/// **Safety.** The directory must belong to the user, and no other user may write to it; otherwise it is only read. Paths are relative to
/// the open directory, and no link is followed. Only files that the cache has named are ever removed.
///
/// **Parts**, in reading order. `OperationOrder` puts the operations on a source in order. `EntryName` and `EntryFile`
/// are the names and the format of the files. `EntryReader` finds and verifies entries. `DiskStore` changes files, and makes room as the
/// `EvictionHand` says. All share the limits, the open directory, and the log of the `DiskContext`.
public final class DiskCache: DiskCaching {
    let store: DiskStore
    private let reads: WorkQueue
    /// The threads that change files.
    private let writes = WorkQueue(label: "disk cache writes", width: 4)
    /// A single thread for walks through the directory, which take longer than anything else.
    private let upkeep = WorkQueue(label: "disk cache upkeep", width: 1)
    let order = OperationOrder()
    /// The interval at which a process that stores writes the sizes for others, and looks for its directory again.
    private static let saveInterval = Duration.seconds(60)
    private let background = Lock(Background())

    /// The work that was started in the background.
    private struct Background {
        var hasTimer = false
        var maintenance: Task<Void, Never>?
    }

    /// Creates a cache. No file is touched: the directory is made when the first entry is stored.
    /// - Parameters:
    ///   - configuration: the directory and the limits.
    ///   - queue: the queue that reads files.
    public convenience init(_ configuration: Configuration = Configuration(), queue: WorkQueue = .files) {
        let logger = Logger(label: "tintype.disk-cache")
        self.init(configuration, queue: queue, now: { Date() }, log: { logger.warning("\($0)") })
    }

    init(
        _ configuration: Configuration, queue: WorkQueue = .files, faults: FileFaults? = nil,
        now: @escaping @Sendable () -> Date,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        store = DiskStore(configuration.withAbsoluteDirectory, faults: faults, now: now, log: log)
        reads = queue
    }

    deinit {
        let (store, queue) = (store, upkeep)
        // On a thread of the cache: the last reference may go anywhere.
        Task.detached { try? await queue.perform { _ in store.saveSizes() } }
    }

    /// The limits, which can change at any time. Lowered limits hold after the next store or sweep.
    /// The directory and the codec stay the same.
    public var configuration: Configuration {
        get { store.context.limits.withLock { $0 } }
        set {
            store.context.limits.withLock { limits in
                let old = limits
                limits = newValue
                limits.directory = old.directory
                limits.payloadCodec = old.payloadCodec
            }
        }
    }

    // MARK: Entries

    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        var found = order.entry(forKey: key)
        if let expires = found?.expires, expires <= store.context.date { found = nil }
        if found == nil {
            var lookup = store.reader.lookUp(key, atOnce: EntryReader.largestReadAtOnce)
            if case .unknown = lookup {
                lookup = await read(priority: priority) { store in store.reader.lookUp(key, atOnce: nil) } ?? .unknown
            }
            switch lookup {
            case .found(let entry): found = entry
            case .stale(let stale): removeLater(stale)
            case .unknown: return nil
            case .none: break
            }
        }
        store.context.counters.withLock { counters in
            if found == nil { counters.misses += 1 } else { counters.hits += 1 }
        }
        guard found == nil, store.reader.searchPaths.withLock({ !$0.isEmpty }) else { return found }
        return await read(priority: priority) { store in store.reader.searchedEntry(forKey: key) } ?? nil
    }

    /// Removes a file that a read found to be damaged or expired, after the operations on its source that have started.
    func removeLater(_ stale: StaleFile) {
        let ticket = order.begin(stale.name)
        Task {
            defer { order.end(ticket) }
            _ = await order.turn(of: ticket)
            _ = try? await write { store in store.remove(stale) }
        }
    }

    public func contains(_ key: ImageKey) async -> Bool {
        if order.entry(forKey: key) != nil { return true }
        if case .none = store.reader.lookUp(key, atOnce: 0) { return false }
        return await read { store in store.reader.validName(forKey: key) != nil } ?? false
    }

    public func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) {
        guard let ticket = order.begin(entry, forKey: key, EntryName(key), while: isCurrent) else { return }
        defer { order.end(ticket) }
        var entry = entry
        if store.reader.payloadCodec != nil {
            entry = try await WorkQueue.processing.perform { [store, entry] _ throws(ImageError) in
                try store.reader.encoded(entry)
            }
        }
        guard await order.turn(of: ticket) else { return }
        try await write { [entry] store throws(ImageError) in try store.store(entry, forKey: key) }
        startTimer()
        maintainOnce()
    }

    @discardableResult public func remove(_ key: ImageKey) async throws(ImageError) -> Bool {
        order.cancel { $0 == key }
        return try await inOrder(EntryName(key)) { store throws(ImageError) in try store.remove(key) }
    }

    @discardableResult public func removeAll(ofSource source: String) async throws(ImageError) -> Int {
        order.cancel { $0.source == source }
        return try await inOrder(EntryName(source: source)) { store throws(ImageError) in
            try store.removeAll(ofSource: source)
        }
    }

    /// Removes everything. The images are gone when the call returns, even in a task that is cancelled.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    public func removeAll() async throws(ImageError) {
        order.cancel { _ in true }
        try await inOrder(nil) { store throws(ImageError) in try store.removeAll() }
        while try await uncancelled(on: upkeep, { store in store.emptyTrash(limit: 500) }) {}
    }

    /// Removes entries that have expired, and those that exceed limits that were lowered, and looks for files that a crash left behind.
    ///
    /// It works in slices and leaves time for other stores in between.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheUsage {
        await drain()
        guard let directory = try await perform({ store throws(ImageError) in try store.directoryForRemoving() })
        else { return CacheUsage() }
        var sweep = CacheUsage()
        for folder in 0..<EntryName.folders {
            sweep += try await perform { store in store.removeExpired(inFolder: folder, of: directory) }
        }
        sweep += try await perform { store in
            store.context.areSizesKnown = true
            return store.evict(in: directory)
        }
        return sweep
    }

    // MARK: Usage

    /// Returns the number of entries, and the space that their files take.
    /// - Complexity: O(*n*) with the number of entries: it lists all folders.
    public func usage() async -> CacheUsage {
        await drain()
        let usage = try? await perform { store -> CacheUsage in
            guard let directory = store.directoryOfEntries() else { return CacheUsage() }
            store.lookEverywhere(in: directory, mayRemove: false)
            return store.usage
        }
        return usage ?? CacheUsage()
    }

    /// The statistics since the cache was made. ``CacheStatistics/entries`` and ``CacheStatistics/bytes`` are the totals as this process
    /// knows them: each folder as last listed, plus its own changes since.
    public var statistics: CacheStatistics {
        var statistics = store.context.counters.withLock { $0 }
        (statistics.entries, statistics.bytes) = (store.usage.entries, store.usage.bytes)
        return statistics
    }

    // MARK: Queues

    func read<Result: Sendable>(
        priority: WorkPriority? = nil, _ body: @escaping @Sendable (DiskStore) -> Result
    ) async -> Result? {
        try? await reads.perform(priority: priority) { [store] _ in body(store) }
    }

    /// Runs work that changes files.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (DiskStore) throws(ImageError) -> Result
    ) async throws(ImageError) -> Result {
        try await writes.perform { [store] _ throws(ImageError) in try body(store) }
    }

    /// Runs work on the files of a source, or on all files for `nil`, after all earlier operations, even if the calling task is
    /// cancelled.
    func inOrder<Result: Sendable>(
        _ name: EntryName?, _ body: @escaping @Sendable (DiskStore) throws(ImageError) -> Result
    ) async throws(ImageError) -> Result {
        let ticket = order.begin(name)
        defer { order.end(ticket) }
        _ = await order.turn(of: ticket)
        return try await uncancelled(on: writes, body)
    }

    /// Runs work that walks through folders.
    func perform<Result: Sendable>(
        priority: WorkPriority? = nil, _ body: @escaping @Sendable (DiskStore) throws(ImageError) -> Result
    ) async throws(ImageError) -> Result {
        try await upkeep.perform(priority: priority) { [store] _ throws(ImageError) in try body(store) }
    }

    /// Runs work to its end, even if the calling task is cancelled.
    private func uncancelled<Result: Sendable>(
        on queue: WorkQueue, _ body: @escaping @Sendable (DiskStore) throws(ImageError) -> Result
    ) async throws(ImageError) -> Result {
        let task = Task.immediateDetached { [store] () -> Swift.Result<Result, ImageError> in
            do throws(ImageError) {
                return .success(try await queue.perform { _ throws(ImageError) in try body(store) })
            } catch {
                return .failure(error)
            }
        }
        return try await task.value.get()
    }

    /// Waits for the stores and removals that started before, and for the removals of entries that reads found damaged.
    func drain() async {
        let ticket = order.begin(nil)
        _ = await order.turn(of: ticket)
        order.end(ticket)
    }

    // MARK: In the background

    /// Waits until everything that was asked for before is done, even if the calling task is cancelled.
    public func flush() async {
        await drain()
        _ = try? await uncancelled(on: upkeep) { store in
            store.context.checkDirectory()
            if let directory = store.preparedDirectory { store.evict(in: directory) }
            store.saveSizes()
        }
    }

    /// Saves the sizes a minute after a store.
    private func startTimer() {
        let isFirst = background.withLock { background in
            defer { background.hasTimer = true }
            return !background.hasTimer
        }
        guard isFirst else { return }
        Task { [weak self] in
            try? await Task.sleep(for: Self.saveInterval)
            guard let self else { return }
            background.withLock { $0.hasTimer = false }
            _ = try? await perform { store in
                store.context.checkDirectory()
                store.saveSizes()
            }
        }
    }

    /// Maintains the directory once in the life of the cache.
    private func maintainOnce() {
        background.withLock { background in
            guard background.maintenance == nil else { return }
            background.maintenance = Task(priority: .utility) { [weak self] in await self?.maintain() }
        }
    }

    /// Learns how full the cache is if no process has noted it, and removes leftovers of crashes and former versions, in slices.
    func maintain() async {
        let priority = WorkPriority(.veryLow)
        do throws(ImageError) {
            let isKnown = try await perform(priority: priority) { store in
                store.removeLeftovers()
                return store.context.areSizesKnown
            }
            if !isKnown {
                for folder in 0..<EntryName.folders {
                    try await perform(priority: priority) { store in store.look(folder: folder) }
                }
                try await perform(priority: priority) { store in
                    store.context.areSizesKnown = true
                    if let directory = store.preparedDirectory { store.evict(in: directory) }
                }
            }
            while try await perform(priority: priority, { store in store.emptyTrash(limit: 500) }) {}
        } catch {
            // Logged already; the next process tries again.
        }
    }

    /// Waits for everything that is under way, also in the background, and closes all files. A later call opens them again.
    public func close() async {
        await background.withLock { $0.maintenance }?.value
        await flush()
        _ = try? await uncancelled(on: upkeep) { store in store.close() }
    }
}
