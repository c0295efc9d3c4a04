/// The caches of a manager: decoded images in memory, and encoded images on disk.
///
/// ```swift
/// let cache = try ImageCache(
///     memory: .init(capacity: .megabytes(100), capacityAfterPurge: .megabytes(60)),
///     disk: .init(directory: path, capacity: .gigabytes(2), maximumAge: .days(7)))
/// let image = cache.memory.image(forKey: key)
/// let swept = try await cache.removeExpired()
/// ```
///
/// Either layer can be a custom cache: a ``MemoryCaching`` or a ``DiskCaching``. Without a disk cache, images are cached in memory only:
///
/// ```swift
/// let manager = ImageManager(cache: ImageCache(memory: .init(capacity: .megabytes(100))))
/// ```
///
/// Remove images through this class or through a manager, not directly from a layer, so that a load in progress doesn't store the image
/// again.
///
/// A cache neither decodes nor encodes. An ``ImageManager`` decodes entries on disk (``ImageManager/cachedImage(for:)-(ImageRequest)``), and
/// encodes the images that a program stores.
public final class ImageCache: Sendable {
    /// The decoded images.
    public let memory: any MemoryCaching
    /// The encoded images; `nil` for a cache in memory only.
    public let disk: (any DiskCaching)?
    private let removals = RemovalCounts()

    /// Creates a cache of two layers.
    /// - Parameters:
    ///   - memory: the cache of decoded images.
    ///   - disk: the cache of encoded images; `nil` for none.
    public init(memory: any MemoryCaching, disk: (any DiskCaching)? = nil) {
        self.memory = memory
        self.disk = disk
    }

    /// Creates a cache that frees memory when the system runs low (``MemoryPressure/system``). The shared pool of pixel buffers then does
    /// so, too.
    /// - Parameters:
    ///   - memory: the limits of the memory cache.
    ///   - disk: the cache of encoded images; `nil` for none.
    public convenience init(
        memory: MemoryCache.Configuration = MemoryCache.Configuration(), disk: (any DiskCaching)? = nil
    ) {
        let memory = MemoryCache(memory)
        memory.observe(.system)
        PixelBufferPool.shared.observe(.system)
        self.init(memory: memory, disk: disk)
    }

    /// Creates a cache in memory and in a directory. It frees memory when the system runs low (``MemoryPressure/system``).
    /// - Parameters:
    ///   - memory: the limits of the memory cache.
    ///   - disk: the directory and the limits of the disk cache.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` for a directory that cannot exist, such as an empty path. Other problems
    ///   with the directory are reported by the first store.
    public convenience init(
        memory: MemoryCache.Configuration = MemoryCache.Configuration(), disk: DiskCache.Configuration
    ) throws(ImageError) {
        try disk.validate()
        self.init(memory: memory, disk: DiskCache(disk))
    }

    private func disk(in layers: CacheLayers) -> (any DiskCaching)? { layers.contains(.disk) ? disk : nil }

    /// Returns which of the given layers have an entry under a key.
    /// - Parameters:
    ///   - key: the key.
    ///   - layers: the layers to ask.
    public func contains(_ key: ImageKey, in layers: CacheLayers = .all) async -> CacheLayers {
        var found: CacheLayers = []
        if layers.contains(.memory), memory.contains(key) { found.insert(.memory) }
        if await disk(in: layers)?.contains(key) == true { found.insert(.disk) }
        return found
    }

    /// Removes the entries under a key.
    /// - Parameters:
    ///   - key: the key.
    ///   - layers: the layers to remove them from.
    /// - Returns: false if there was nothing to remove.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult
    public func remove(_ key: ImageKey, from layers: CacheLayers = .all) async throws(ImageError) -> Bool {
        try await removals.during(source: key.source, layers) { () throws(ImageError) in
            let wasInMemory = layers.contains(.memory) && memory.remove(key)
            return try await disk(in: layers)?.remove(key) == true || wasInMemory
        }
    }

    /// Removes every variant of a source.
    /// - Parameters:
    ///   - source: the source: the key of its original.
    ///   - layers: the layers to remove them from.
    /// - Returns: false if there was none.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult
    public func removeAll(ofSource source: String, from layers: CacheLayers = .all) async throws(ImageError) -> Bool {
        try await removals.during(source: source, layers) { () throws(ImageError) in
            let wasInMemory = layers.contains(.memory) && memory.removeAll(ofSource: source) > 0
            return try await disk(in: layers)?.removeAll(ofSource: source) ?? 0 > 0 || wasInMemory
        }
    }

    /// Removes everything.
    /// - Parameter layers: the layers to clear.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    public func removeAll(from layers: CacheLayers = .all) async throws(ImageError) {
        try await removals.during(source: nil, layers) { () throws(ImageError) in
            if layers.contains(.memory) { memory.removeAll() }
            try await disk(in: layers)?.removeAll()
        }
    }

    /// Frees the space of expired entries in memory and on disk. Lookups never return expired entries, even before that.
    /// - Returns: the entries that were removed from disk.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheUsage {
        memory.removeExpired()
        return try await disk?.removeExpired() ?? CacheUsage()
    }

    /// Returns the number of images or files in some layers, and the bytes that they take.
    /// - Parameter layers: the layers, in memory or on disk.
    public func usage(of layers: CacheLayers = .all) async -> CacheUsage {
        var usage = await disk(in: layers)?.usage() ?? CacheUsage()
        let statistics = layers.contains(.memory) ? memory.statistics : CacheStatistics()
        usage += CacheUsage(entries: statistics.entries, bytes: statistics.bytes)
        return usage
    }

    /// Waits until all earlier stores are on disk.
    public func flush() async { await disk?.flush() }

    // MARK: Loads

    /// Returns the number of removals so far of a source and of everything. Each removal raises it before it removes anything, and at its
    /// end.
    package func removalCount(ofSource source: String) -> RemovalCount { removals.count(ofSource: source) }

    /// Starts to store an image of the program's, which replaces others. Loads that started before its end don't store what it replaces.
    package func beginReplacement(ofSource source: String) async { await removals.beginReplacement(ofSource: source) }

    package func endReplacement(ofSource source: String) { removals.endReplacement(ofSource: source) }

    /// Removes every variant of a source that newer bytes replace, unless it was replaced by something newer since the load began. It doesn't
    /// count as a removal.
    package func clear(
        source: String, forReplacement number: Int, since count: RemovalCount
    ) async throws(ImageError) {
        try await removals.replace(source: source, by: number, since: count) { () throws(ImageError) in
            memory.removeAll(ofSource: source)
            _ = try await disk?.removeAll(ofSource: source)
        }
    }

    /// Reads an entry from disk, once a budget has room for its bytes.
    package func entry(
        forKey key: ImageKey, priority: WorkPriority, within budget: DecodeBudget
    ) async throws(ImageError) -> DiskCacheEntry? {
        try await disk?.entry(forKey: key, priority: priority, within: budget)
    }

    /// Stores a decoded image in memory, unless its source was removed since the load began. A removal can't come between the check and the
    /// store.
    package func storeInMemory(_ image: Image, forKey key: ImageKey, since count: RemovalCount? = nil) {
        memory.store(image, forKey: key) {
            count.map { removals.count(ofSource: key.source).permitsStore(in: \.memory, since: $0) } ?? true
        }
    }

    /// Stores an encoded image on disk, unless its source was removed since the load began. Does nothing without a disk cache.
    package func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, since count: RemovalCount? = nil
    ) async throws(ImageError) {
        try await disk?.store(entry, forKey: key) { [removals] in
            count.map { removals.count(ofSource: key.source).permitsStore(in: \.disk, since: $0) } ?? true
        }
    }

    /// Removes a damaged entry from disk, unless another may have been stored since the load that found it began. Unlike
    /// ``remove(_:from:)``, this doesn't keep loads in progress from storing a better image.
    package func discard(_ key: ImageKey, since count: RemovalCount) async {
        guard removals.count(ofSource: key.source).permitsStore(in: \.disk, since: count) else { return }
        _ = try? await disk?.remove(key)
    }
}

extension DiskCaching {
    /// Reads an entry, once a budget has room for its bytes.
    func entry(
        forKey key: ImageKey, priority: WorkPriority, within budget: DecodeBudget
    ) async throws(ImageError) -> DiskCacheEntry? {
        switch self {
        case let files as DiskCache:
            return try await budget.whenRoom(priority: priority, on: files.reads) {
                await files.entry(forKey: key, priority: priority)
            }
        case let tiers as TieredDiskCache:
            return await tiers.entry(forKey: key) { tier in
                // No error: a cache that can't be read has no entries.
                try? await tier.entry(forKey: key, priority: priority, within: budget)
            }
        default:
            // A cache of the program's own, or on another machine, may wait for anything, even for other reads. It has no turn among them.
            try await budget.waitForRoom(priority: priority)
            return await entry(forKey: key, priority: priority)
        }
    }
}
