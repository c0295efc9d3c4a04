internal import FoundationEssentials
internal import Logging

/// Encoded images on disk, each in a file of its own that any viewer opens.
///
/// - Readers see an entry whole or not at all, in this process and any other that uses the directory. A read notices damage, even of one
///   bit, and discards the entry.
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
/// The files are the cache. The index is derived from them, and may be thrown away. No memory is shared with other processes.
///
///     entries/.tintype              the mark by which the folder is this cache's
///     entries/ab/<S>-<V>            an entry: S is a hash of the source (ab its first byte), V one of the variant
///     entries/ab/<S>-<V>.<writer>   an entry that is being written
///     index.sqlite                  name, size, last use, and ends of each entry; the totals
///     journal/<writer>              the names of entries that changed and are not in the index yet
///     trash/                        cleared entries that are being removed
///
/// | operation | work |
/// | --- | --- |
/// | read | Opens the file that the key's hash names, reads it, and verifies it: no index, no lock. A miss is an open that fails. |
/// | store | Appends the name to the journal, writes the unfinished file, renames it. |
/// | remove | Appends the name, unlinks the file. |
/// | batch | Looks at the files whose names wait, and writes their rows in one transaction: after 512 names, a hundredth of the capacity, or five seconds, and at `flush()` and `close()`. |
/// | evict | After a batch, removes the files of the rows that were used least recently, and the rows with them. |
/// | use | Kept in memory until the next batch, which writes it to the row. The file's own time follows when it is a minute off. |
/// | clear | Renames `entries` into `trash`, and removes the files there. |
///
/// **Crashes.** A journal record is a hint: a batch looks at the file, and only ENOENT means that there is none. So order, repetition, and
/// several writers of one name don't matter. The writer of a journal holds its lock; if any process can take the lock, the writer has ended,
/// and the next batch takes its names over. What loses a row or a file heals: an eviction meets rows without files, and folders are
/// compared with the index after it was made anew or the computer lost power, and a few at each sweep. Nothing waits for
/// the medium: a loss of power may lose the latest entries and what they replaced, but no other.
///
/// **Order.** Stores and removals of one source happen in the order of the calls; those of others don't wait for them. A removal cancels the
/// stores that began before it. Between processes the later rename or unlink wins.
///
/// **Safety.** The directory must belong to the user, and nobody else may write to it. Paths are relative to the open directory, and no link
/// is followed. Only files that the cache has named are ever removed.
///
/// **Waiting.** SQLite, locks, and the disk are waited for on threads of the cache. While another process holds the index, stores go on into
/// the journal, up to 8,192 names or 64 MB; further ones are dropped and counted.
///
/// **Parts**, in the order in which to read them. `OperationOrder` puts the operations on a source in order. `EntryName` and `EntryFile` are
/// the names and the format of the files, `EntryReader` finds and verifies entries, and `ReadNotes` has what it leaves to be done. `DiskStore`
/// changes files. `PendingWrites` and `Journal` keep the names of these files until `IndexKeeper` writes their rows into the `DiskIndex`. All
/// share the limits, the open directory, and the log of the `DiskContext`.
public final class DiskCache: DiskCaching {
    let store: DiskStore
    private let reads: WorkQueue
    /// The threads that change files.
    private let writes = WorkQueue(label: "disk cache writes", width: 4)
    /// One thread for the index, which waits for the disk longer than anything else does.
    private let upkeep = WorkQueue(label: "disk cache upkeep", width: 1)
    let order = OperationOrder()
    /// The longest time for which names wait to be written to the index.
    private let batchDelay: Duration
    private let subscription = MemoryPressure.Subscription()
    private let background = Lock(Background())

    /// The work that was begun in the background.
    private struct Background {
        var hasBatch = false
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
        batchDelay: Duration = .seconds(5), now: @escaping @Sendable () -> Date,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        store = DiskStore(configuration.withAbsoluteDirectory, faults: faults, now: now, log: log)
        reads = queue
        self.batchDelay = batchDelay
    }

    /// The limits, which can change at any time. Lowered limits hold after the next store or sweep.
    /// The directory, the capacity for encoded images in memory, and the codec stay what they were.
    public var configuration: Configuration {
        get { store.context.limits.withLock { $0 } }
        set {
            store.context.limits.withLock { limits in
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
        if let entry = order.entry(forKey: key), entry.expires.map({ $0 > store.context.date }) ?? true {
            store.context.counters.withLock { $0.hits += 1 }
            return entry
        }
        var entry: DiskCacheEntry?
        switch store.reader.entryAtOnce(forKey: key) {
        case .none: break
        case .found(let found): entry = found
        case .unknown:
            entry = await read(priority: priority ?? WorkPriority()) { store in store.reader.entry(forKey: key) } ?? nil
        }
        if store.notes.takeDue() { writeIndexLater() }
        if entry == nil, store.reader.searchPaths.withLock({ !$0.isEmpty }) {
            let found = await read(priority: priority ?? WorkPriority()) { store in
                store.reader.searchedEntry(forKey: key)
            }
            entry = found??.entry
            if let found, let found, found.isAdopted { adopt(found.entry, forKey: key) }
        }
        return entry
    }

    /// Stores an image that a search path had.
    private func adopt(_ entry: DiskCacheEntry, forKey key: ImageKey) {
        Task.immediateDetached { _ = try? await self.store(entry, forKey: key) }
    }

    public func contains(_ key: ImageKey) async -> Bool {
        if order.entry(forKey: key) != nil { return true }
        if let isThere = store.reader.containsAtOnce(key) { return isThere }
        return await read { store in store.reader.contains(key) } ?? false
    }

    public func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError) {
        try await store(entry, forKey: key) { true }
    }

    public func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) {
        guard let ticket = order.begin(entry, forKey: key, EntryName(key), while: isCurrent) else { return }
        defer { order.end(ticket) }
        var encoded: DiskCacheEntry?
        if store.reader.payloadCodec != nil {
            encoded = try await WorkQueue.processing.perform { [store] _ throws(ImageError) in
                try store.reader.encoded(entry)
            }
        }
        guard await order.turn(of: ticket) else { return }
        try await write { [encoded] store throws(ImageError) in try store.store(entry, encoded: encoded, forKey: key) }
        writeIndexWhenDue()
        maintainOnce()
    }

    @discardableResult public func remove(_ key: ImageKey) async throws(ImageError) -> Bool {
        order.cancel { $0 == key }
        defer { writeIndexWhenDue() }
        return try await inOrder(EntryName(key)) { store throws(ImageError) in try store.remove(key) }
    }

    @discardableResult public func removeAll(ofSource source: String) async throws(ImageError) -> Int {
        order.cancel { $0.source == source }
        defer { writeIndexWhenDue() }
        return try await inOrder(EntryName(source: source)) { store throws(ImageError) in
            try store.removeAll(ofSource: source)
        }
    }

    /// Removes everything. The images are gone when the call returns, even in a task that is cancelled.
    public func removeAll() async throws(ImageError) {
        order.cancel { _ in true }
        try await inOrder(nil) { store throws(ImageError) in try store.removeAll() }
        while try await uncancelled(on: upkeep, { store in store.emptyTrash(limit: 500) }) {}
        if store.keeper.needsComparison {
            // The disk may have room for the index again.
            _ = try? await uncancelled(on: upkeep) { store throws(ImageError) in try store.settle() }
        }
    }

    /// Removes entries that have expired, and those that exceed limits that were lowered, and looks for files that a crash left behind.
    ///
    /// It works in slices, between which others store.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheSweep {
        await performDiscards()
        var sweep = try await perform { store throws(ImageError) in try store.settle() }
        while true {
            let slice = try await perform { store throws(ImageError) in try store.keeper.removeExpiredSlice() }
            sweep.files += slice.files
            sweep.bytes += slice.bytes
            guard slice.files > 0 else { break }
        }
        try await perform { store throws(ImageError) in try store.keeper.sweepFolders(4) }
        return sweep
    }

    // MARK: Usage

    /// Returns the number of entries, and the space that their files take.
    public func usage() async -> CacheUsage {
        await settle()
        return (try? await perform { store in store.keeper.usage() }) ?? CacheUsage()
    }

    /// Purges encoded images in memory (``Configuration/encodedMemoryCapacity``) until they take at most `bytes`, the least recently used
    /// first.
    public func trimEncodedMemory(to bytes: ByteCount) { store.reader.encodedMemory?.trim(to: bytes.bytes) }

    /// Purges encoded images from memory from now on when memory is scarce, to half of the capacity and then all; `nil` to stop.
    public func observe(_ pressure: MemoryPressure?) {
        guard let memory = store.reader.encodedMemory else { return }
        subscription.replace(with: pressure) { level in
            switch level {
            case .warning: memory.trim(to: memory.capacity / 2)
            case .critical: memory.removeAll()
            }
        }
    }

    /// The encoded images in memory.
    public var encodedMemoryUsage: CacheUsage { store.reader.encodedMemory?.usage ?? CacheUsage() }

    /// The totals as they are known without a look at the disk, once something was stored.
    func approximateUsage() async -> CacheUsage {
        statistics.stores == 0 ? await usage() : store.pending.usage
    }

    /// The statistics since the cache was made. ``CacheStatistics/entries`` and ``CacheStatistics/bytes`` are the totals as this process
    /// knows them: those of the last batch or call of ``usage()``, and what was stored since.
    public var statistics: CacheStatistics {
        var statistics = store.context.counters.withLock { $0 }
        (statistics.entries, statistics.bytes) = (store.pending.usage.entries, store.pending.usage.bytes)
        return statistics
    }

    // MARK: Queues

    func read<Result: Sendable>(
        priority: WorkPriority = WorkPriority(), _ body: @escaping @Sendable (DiskStore) -> Result
    ) async -> Result? {
        try? await reads.perform(priority: priority) { [store] _ in body(store) }
    }

    /// Runs work that changes files.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (DiskStore) throws(ImageError) -> Result
    ) async throws(ImageError) -> Result {
        try await writes.perform { [store] _ throws(ImageError) in try body(store) }
    }

    /// Runs work on the files of a source, or on all files for `nil`, after what was asked for before, even if the calling task is
    /// cancelled.
    func inOrder<Result: Sendable>(
        _ name: EntryName?, _ body: @escaping @Sendable (DiskStore) throws(ImageError) -> Result
    ) async throws(ImageError) -> Result {
        let ticket = order.begin(name)
        defer { order.end(ticket) }
        _ = await order.turn(of: ticket)
        return try await uncancelled(on: writes, body)
    }

    /// Runs work that needs the index.
    func perform<Result: Sendable>(
        priority: WorkPriority = WorkPriority(), _ body: @escaping @Sendable (DiskStore) throws(ImageError) -> Result
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

    /// Makes the index agree with the files, for answers that only the index has.
    func settle() async {
        await drain()
        _ = try? await perform { store throws(ImageError) in try store.settle() }
    }

    /// Waits for the stores and removals that began before, and removes the files that reading noted.
    private func drain() async {
        let ticket = order.begin(nil)
        _ = await order.turn(of: ticket)
        order.end(ticket)
        await performDiscards()
    }

    /// Removes the files that reading noted, each in its turn.
    func performDiscards() async {
        for (name, discard) in store.notes.discards {
            try? await inOrder(name) { store in store.perform(discard, of: name) }
        }
    }

    // MARK: In the background

    /// Waits until everything that was asked for before is done and in the index, even if the calling task is cancelled.
    public func flush() async {
        await drain()
        _ = try? await uncancelled(on: upkeep) { store throws(ImageError) in
            try store.keeper.writeIndex(writesRecentUses: true)
        }
    }

    /// Removes the files that reading noted, and writes the index.
    private func writeIndexLater() {
        guard begin(\.hasBatch) else { return }
        Task { [weak self] in
            await self?.performDiscards()
            _ = try? await self?.perform { [weak self] store throws(ImageError) in
                self?.background.withLock { $0.hasBatch = false }
                try store.keeper.writeIndex()
            }
        }
    }

    /// Sees to it that the names that wait get into the index.
    private func writeIndexWhenDue() {
        if store.isBatchDue { writeIndexLater() } else if !store.pending.isEmpty { startTimer() }
    }

    /// Writes the index after ``batchDelay``, unless a batch comes first. If it can't be written then, it is tried again.
    private func startTimer() {
        guard begin(\.hasTimer) else { return }
        Task { [weak self, batchDelay] in
            try? await Task.sleep(for: batchDelay)
            guard let self else { return }
            background.withLock { $0.hasTimer = false }
            guard !store.pending.isEmpty else { return }
            _ = try? await perform { store throws(ImageError) in try store.keeper.writeIndex() }
            if !store.pending.isEmpty { startTimer() }
        }
    }

    /// - Returns: false if the work has begun already.
    private func begin(_ work: any WritableKeyPath<Background, Bool> & Sendable) -> Bool {
        background.withLock { background in
            defer { background[keyPath: work] = true }
            return !background[keyPath: work]
        }
    }

    /// Maintains the directory once in the life of the cache.
    private func maintainOnce() {
        background.withLock { background in
            guard background.maintenance == nil else { return }
            background.maintenance = Task(priority: .utility) { [weak self] in await self?.maintain() }
        }
    }

    /// Makes a lost index again from the files, and removes some of what a crash left behind, in slices.
    func maintain() async {
        let priority = WorkPriority(.veryLow)
        do throws(ImageError) {
            // Also takes the journals of processes over that ended without closing the cache.
            _ = try await perform(priority: priority) { store throws(ImageError) in try store.keeper.writeIndex() }
            while try await perform(priority: priority, { store throws(ImageError) in try store.keeper.compareSlice() })
            {}
            while try await perform(priority: priority, { store in store.emptyTrash(limit: 500) }) {}
            try await perform(priority: priority) { store throws(ImageError) in try store.keeper.sweepFolders(1) }
        } catch {
            // Logged already; the next process tries again.
        }
    }

    /// Waits for everything that is under way, also in the background, and closes all files. A later call opens them again.
    ///
    /// A cache that is released without this call leaves its last changes in a journal, from which the next process takes them over.
    public func close() async {
        await background.withLock { $0.maintenance }?.value
        await flush()
        _ = try? await uncancelled(on: upkeep) { store in store.close() }
    }
}
