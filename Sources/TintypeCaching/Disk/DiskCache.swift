internal import FoundationEssentials
internal import Logging

// `Documentation/development/disk-cache.md` has the design, and the file of each part.

/// A cache of encoded images on disk. Each image has a file of its own, which starts with the image.
///
/// - Readers see an entry completely or not at all, in this process and in any other that uses the directory. A read detects damage, even
///   of a single bit, and discards the entry.
/// - The limits hold after every store.
/// - Reads wait neither for writes nor for sweeps.
/// - If the directory can't be used, reads find nothing, and writes throw an error with the cause. Each cause is logged once.
///
/// The directory is the whole state of the cache: there is no index, no file lock, and no memory shared with other processes. The directory
/// must belong to the user, and other users must not be able to write to it; otherwise the cache only reads it.
///
/// Viewers can open the files: they ignore the cache's data after the image. XML parsers don't, and refuse the file of an SVG ("Extra
/// content at the end of the document"). Write the ``DiskCacheEntry/data`` of its entry to another file instead.
///
/// ```swift
/// let cache = DiskCache(.init(directory: path, capacity: .gigabytes(2), maximumAge: .days(7)))
/// try await cache.store(DiskCacheEntry(data: bytes, created: Date()), forKey: key)
/// let entry = await cache.entry(forKey: key)
/// ```
public final class DiskCache: DiskCaching {
    let store: DiskStore
    let reads: WorkQueue
    /// The threads that change files.
    private let writes = WorkQueue(label: "disk cache writes", width: 4)
    /// One thread for walks through the directory, which take longer than anything else.
    let upkeep = WorkQueue(label: "disk cache upkeep", width: 1)
    let order = OperationOrder()
    /// The time after which a process that stores writes the sizes for others, and looks for its directory again.
    private static let saveInterval = Duration.seconds(60)
    /// The work in the background.
    private let background = Lock((hasTimer: false, maintenance: Task<Void, Never>?.none))

    /// Creates a cache without accessing the disk. The directory is created when the first entry is stored.
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

    /// The limits, which can change at any time. Lowered limits hold after the next store or sweep. The directory and the codec can't be
    /// changed.
    public var configuration: Configuration {
        get { store.limits.withLock { $0 } }
        set {
            store.limits.withLock { limits in
                let (directory, codec) = (limits.directory, limits.payloadCodec)
                limits = newValue
                (limits.directory, limits.payloadCodec) = (directory, codec)
            }
        }
    }

    // MARK: Entries

    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        var lookup = DiskLookup.unknown
        if let entry = waitingEntry(forKey: key) {
            lookup = .found(entry)
        } else {
            lookup = store.lookUp(key, atOnce: DiskStore.largestReadAtOnce)
            if case .unknown = lookup {
                let read = await readUnlessCanceled(priority) { store in store.lookUp(key, atOnce: nil) }
                lookup = read ?? .unknown
            }
        }
        switch lookup {
        case .found(let entry):
            store.counters.withLock { $0.hits += 1 }
            return entry
        case .unknown: return nil
        case .stale(let stale): removeLater(stale)
        case .none: break
        }
        var searched: DiskCacheEntry?
        if store.searchPlaces.withLock({ !$0.isEmpty }) {
            guard let answer = await readUnlessCanceled(priority, { store in store.searchedEntry(forKey: key) }) else {
                return nil
            }
            searched = answer
        }
        let isHit = searched != nil
        store.counters.withLock { if isHit { $0.hits += 1 } else { $0.misses += 1 } }
        return searched
    }

    /// The entry of a store that is not on disk yet.
    private func waitingEntry(forKey key: ImageKey) -> DiskCacheEntry? {
        guard let entry = order.entry(forKey: key), entry.expires.map({ $0.cacheTime > store.time }) ?? true else {
            return nil
        }
        return entry
    }

    /// Removes a file that a read found to be damaged or expired, after the operations on its source that have begun.
    func removeLater(_ stale: StaleFile) {
        Task.immediate { _ = try? await inOrder(stale.name) { store in store.remove(stale) } }
    }

    public func contains(_ key: ImageKey) async -> Bool {
        if waitingEntry(forKey: key) != nil { return true }
        if case .none = store.lookUp(key, atOnce: 0) { return false }
        return (try? await perform(on: reads) { store in store.validName(forKey: key) != nil }) ?? false
    }

    public func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) {
        guard let ticket = order.begin(entry, forKey: key, while: isCurrent) else { return }
        defer { order.end(ticket) }
        var entry = entry
        if store.payloadCodec != nil {
            entry = try await perform(on: .processing) { [entry] store throws(ImageError) in try store.encoded(entry) }
        }
        guard await order.turn(of: ticket) else { return }
        try await perform(on: writes) { [entry] store throws(ImageError) in try store.store(entry, forKey: key) }
        workInBackground()
    }

    @discardableResult public func remove(_ key: ImageKey) async throws(ImageError) -> Bool {
        order.cancel { $0 == key }
        return try await inOrder(EntryName(key)) { store throws(ImageError) in
            try store.remove { _ in [EntryName(key)] } > 0
        }
    }

    @discardableResult public func removeAll(ofSource source: String) async throws(ImageError) -> Int {
        order.cancel { $0.source == source }
        return try await inOrder(EntryName(source: source)) { store throws(ImageError) in
            try store.remove { directory throws(FileError) in try directory.names(ofSource: source) }
        }
    }

    /// Removes everything. The images are gone when the call returns, even in a canceled task.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    public func removeAll() async throws(ImageError) {
        order.cancel { _ in true }
        try await inOrder(nil) { store throws(ImageError) in try store.removeAll() }
        while try await perform(on: upkeep, { store in store.emptyTrash() }) {}
    }

    /// Removes expired entries, entries over lowered limits, and files that a crash left behind.
    ///
    /// It works in slices, so that other stores can run in between.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheUsage {
        await drain()
        var sweep = CacheUsage()
        let directory = try await perform(on: upkeep) { store throws(ImageError) in try store.directoryForRemoving() }
        guard let directory else { return sweep }
        for folder in 0..<EntryName.folders {
            sweep += try await perform(on: upkeep) { store in store.removeExpired(inFolder: folder, of: directory) }
        }
        sweep += try await perform(on: upkeep) { store in
            store.hand.withLock { $0.areSizesKnown = true }
            return store.evict(in: directory)
        }
        return sweep
    }

    // MARK: Usage

    /// Returns the number of entries and the space that their files take.
    /// - Complexity: O(*n*) with the number of entries: it lists all folders.
    public func usage() async -> CacheUsage {
        await drain()
        return (try? await perform(on: upkeep) { store in store.countedUsage() }) ?? CacheUsage()
    }

    /// The statistics since the cache was created. ``CacheStatistics/entries`` and ``CacheStatistics/bytes`` are the totals known to this
    /// process: the contents of each folder when it last read it, updated by its own stores and removals since.
    public var statistics: CacheStatistics {
        var statistics = store.counters.withLock { $0 }
        let total = store.hand.withLock { $0.sizes.total }
        (statistics.entries, statistics.bytes) = (total.entries, total.bytes)
        return statistics
    }

    // MARK: Queues

    typealias Work<Result> = @Sendable (DiskStore) throws(ImageError) -> Result

    /// Runs work to its end, even if the calling task is canceled: a question that isn't answered would look like a missing entry.
    func perform<Result: Sendable>(
        on queue: WorkQueue, priority: WorkPriority? = nil, _ body: @escaping Work<Result>
    ) async throws(ImageError) -> Result {
        let task = Task.immediateDetached { [store] in
            await Swift.Result { () async throws(ImageError) in
                try await queue.perform(priority: priority) { _ throws(ImageError) in try body(store) }
            }
        }
        return try await task.value.get()
    }

    /// Reads for a load, which doesn't wait for a slow disk once it is canceled; `nil` then.
    private func readUnlessCanceled<Result: Sendable>(
        _ priority: WorkPriority, _ body: @escaping @Sendable (DiskStore) -> Result
    ) async -> Result? {
        try? await reads.perform(priority: priority) { [store] _ in body(store) }
    }

    /// Runs work on the files of a source, or on all files for `nil`, after what was asked for before.
    func inOrder<Result: Sendable>(
        _ name: EntryName?, _ body: @escaping Work<Result>
    ) async throws(ImageError) -> Result {
        let ticket = order.begin(name)
        defer { order.end(ticket) }
        _ = await order.turn(of: ticket)
        return try await perform(on: writes, body)
    }

    /// Waits for the stores and removals that began before, and for the removals of what reads found to be damaged.
    func drain() async { _ = try? await inOrder(nil) { _ in } }

    // MARK: In the background

    /// Waits until all earlier operations are complete, even if the calling task is canceled.
    public func flush() async {
        await drain()
        _ = try? await perform(on: upkeep) { store in
            store.checkDirectory()
            if let directory = store.preparedDirectory { store.evict(in: directory) }
            store.saveSizes()
        }
    }

    /// Starts work that follows a store: a save of the sizes a minute later, and, once in the life of the cache, maintenance.
    private func workInBackground() {
        background.withLock { background in
            if background.maintenance == nil {
                background.maintenance = Task(priority: .utility) { [weak self] in await self?.maintain() }
            }
            guard !background.hasTimer else { return }
            background.hasTimer = true
            Task { [weak self] in
                try? await Task.sleep(for: Self.saveInterval)
                self?.background.withLock { $0.hasTimer = false }
                if let self { try? await perform(on: upkeep) { store in store.saveSizes() } }
            }
        }
    }

    /// Learns how full the cache is if no process has noted it, and removes what crashes left behind, in slices.
    func maintain() async {
        let priority = WorkPriority(.veryLow)
        if !store.hand.withLock({ $0.areSizesKnown }) {
            for folder in 0..<EntryName.folders {
                try? await perform(on: upkeep, priority: priority) { store in store.look(folder: folder) }
            }
            try? await perform(on: upkeep, priority: priority) { store in
                store.hand.withLock { $0.areSizesKnown = true }
                if let directory = store.preparedDirectory { store.evict(in: directory) }
            }
        }
        while (try? await perform(on: upkeep, priority: priority) { store in store.emptyTrash() }) == true {}
    }

    /// Waits for all operations in progress, including those in the background, and closes all files. A later call opens them again.
    public func close() async {
        await background.withLock { $0.maintenance }?.value
        await flush()
        _ = try? await perform(on: upkeep) { store in
            if let open = store.directory.withLock({ $0 }) { store.forget(open) }
        }
    }
}
