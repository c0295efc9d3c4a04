/// A cache in memory and on disk, with Tintype's own implementations of both.
///
/// ```swift
/// let cache = try ImageCache(
///     memory: .init(capacity: .megabytes(100), capacityAfterPurge: .megabytes(60)),
///     disk: .init(directory: path, capacity: .gigabytes(2), maximumAge: .days(7)))
/// let image = cache.memory.image(forKey: key)
/// let swept = try await cache.disk.removeExpired()
/// ```
public typealias ImageCache = LayeredImageCache<MemoryCache, DiskCache>

/// A cache in memory alone.
///
/// ```swift
/// let manager = ImageManager(cache: MemoryImageCache(memory: .init(capacity: .megabytes(100))))
/// ```
public typealias MemoryImageCache = LayeredImageCache<MemoryCache, NoDiskCache>

/// A memory cache in front of a disk cache.
///
/// Most programs use ``ImageCache``, which is this class with Tintype's own caches. A program with its own memory or disk cache
/// creates `LayeredImageCache(memory: mine, disk: DiskCache())`.
///
/// Remove images through this class, or through a manager, rather than from its layers: then a load in progress doesn't store the image
/// again.
///
/// A cache neither decodes nor encodes: it stores decoded images in memory, and bytes on disk. An ``ImageManager`` decodes entries on disk
/// (``ImageManager/cachedImage(for:)``), and encodes the images that a program stores.
public final class LayeredImageCache<Memory: MemoryCaching, Disk: DiskCaching>: ImageCaching {
    // Declared first: in a generic class, only properties before those of unknown size have a constant offset, and every hit
    // reads this property.
    private let lookup: any MemoryCaching
    public let hasDisk: Bool
    private let removals = RemovalCounts()
    /// The decoded images.
    public let memory: Memory
    /// The encoded images.
    public let disk: Disk

    /// Creates a cache of two layers.
    /// - Parameters:
    ///   - memory: the cache of decoded images.
    ///   - disk: the cache of encoded images.
    public init(memory: Memory, disk: Disk) {
        lookup = memory
        hasDisk = !(disk is NoDiskCache)
        self.memory = memory
        self.disk = disk
    }

    public func memoryImage(forKey key: ImageKey) -> Image? { lookup.image(forKey: key) }

    public func containsInMemory(_ key: ImageKey) -> Bool { lookup.contains(key) }

    public func storeInMemory(_ image: Image, forKey key: ImageKey, while isCurrent: @Sendable () -> Bool) {
        lookup.store(image, forKey: key, while: isCurrent)
    }

    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        await disk.entry(forKey: key, priority: priority)
    }

    public func variants(ofSource source: String) async -> [ImageVariant] {
        await disk.variants(ofSource: source)
    }

    /// Stores an encoded image on disk; does nothing without a disk cache.
    /// - Parameters:
    ///   - entry: the encoded image with its properties.
    ///   - key: the key.
    ///   - isCurrent: the condition. Returns true to store.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    public func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) {
        try await disk.store(entry, forKey: key, while: isCurrent)
    }

    public func contains(_ key: ImageKey, in layers: CacheLayers) async -> CacheLayers {
        var found: CacheLayers = []
        if layers.contains(.memory), memory.contains(key) { found.insert(.memory) }
        if layers.contains(.disk), await disk.contains(key) { found.insert(.disk) }
        return found
    }

    @discardableResult
    public func remove(_ key: ImageKey, from layers: CacheLayers) async throws(ImageError) -> Bool {
        try await removals.during(source: key.source, layers) { () throws(ImageError) in
            let wasInMemory = layers.contains(.memory) && memory.remove(key)
            return layers.contains(.disk) ? try await disk.remove(key) || wasInMemory : wasInMemory
        }
    }

    @discardableResult
    public func removeAll(ofSource source: String, from layers: CacheLayers) async throws(ImageError) -> Bool {
        try await removals.during(source: source, layers) { () throws(ImageError) in
            let wasInMemory = layers.contains(.memory) && memory.removeAll(ofSource: source) > 0
            return layers.contains(.disk) ? try await disk.removeAll(ofSource: source) > 0 || wasInMemory : wasInMemory
        }
    }

    public func removeAll(from layers: CacheLayers) async throws(ImageError) {
        try await removals.during(source: nil, layers) { () throws(ImageError) in
            if layers.contains(.memory) { memory.removeAll() }
            if layers.contains(.disk) { try await disk.removeAll() }
        }
    }

    /// Removes expired images from memory, and sweeps the disk; see ``DiskCache/removeExpired()``.
    /// - Returns: the entries that the sweep removed from disk.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheUsage {
        memory.removeExpired()
        return try await disk.removeExpired()
    }

    public func usage(of layers: CacheLayers) async -> CacheUsage {
        var usage = layers.contains(.disk) ? await disk.usage() : CacheUsage()
        guard layers.contains(.memory) else { return usage }
        let statistics = memory.statistics
        usage += CacheUsage(entries: statistics.entries, bytes: statistics.bytes)
        return usage
    }

    public func flush() async { await disk.flush() }

    public func discard(_ key: ImageKey) async { _ = try? await disk.remove(key) }

    public func removalCount(ofSource source: String) -> RemovalCount { removals.count(ofSource: source) }
}

extension LayeredImageCache where Memory == MemoryCache, Disk == DiskCache {
    /// Creates a cache that frees memory when the system runs out of it (``MemoryPressure/system``). From then on, the shared
    /// pool of pixel buffers does so too.
    /// - Parameters:
    ///   - memory: the limits of the memory cache.
    ///   - disk: the directory and the limits of the disk cache.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` for a directory that cannot exist, such as an empty path. Other problems
    ///   with the directory are reported by the first store.
    public convenience init(
        memory: MemoryCache.Configuration = MemoryCache.Configuration(), disk: DiskCache.Configuration
    ) throws(ImageError) {
        try disk.validate()
        let memory = MemoryCache(memory)
        let disk = DiskCache(disk)
        memory.observe(.system)
        PixelBufferPool.shared.observe(.system)
        self.init(memory: memory, disk: disk)
    }
}

extension LayeredImageCache where Memory == MemoryCache, Disk == NoDiskCache {
    /// Creates a cache in memory alone, which frees memory when the system runs out of it (``MemoryPressure/system``). From
    /// then on, the shared pool of pixel buffers does so too.
    /// - Parameter memory: the limits of the memory cache.
    public convenience init(memory: MemoryCache.Configuration = MemoryCache.Configuration()) {
        let memory = MemoryCache(memory)
        memory.observe(.system)
        PixelBufferPool.shared.observe(.system)
        self.init(memory: memory, disk: NoDiskCache())
    }
}
