/// A memory cache in front of a disk cache.
///
/// ```swift
/// let cache = ImageCache(
///     memory: .init(capacity: .megabytes(100), capacityAfterPurge: .megabytes(60)),
///     disk: .init(directory: path, capacity: .gigabytes(2), maximumAge: .days(7)))
/// cache.memory.image(forKey: key)
/// let swept = try await cache.disk.removeExpired()
/// ```
public final class ImageCache: ImageCaching {
    public let memory: any MemoryCaching
    /// A ``NoDiskCache`` in a cache in memory alone.
    public let disk: any DiskCaching
    /// Reads and writes images for the calls that take or give decoded ones of the disk.
    public let coder: any ImageCoder
    /// False for a cache in memory alone.
    public var hasDisk: Bool { !(disk is NoDiskCache) }
    let processing: WorkQueue
    private let removalLog = RemovalLog()
    public var removals: RemovalLog? { removalLog }
    /// Many who ask for one image at once share one read and one decode.
    let reads = TaskCoalescer<ImageRead, CachedImage?>()

    /// - Parameters:
    ///   - disk: `nil` for a cache in memory alone.
    ///   - coder: reads and writes images for ``image(forKey:in:options:)`` and ``store(_:data:forKey:in:options:)``.
    ///   - processing: where that is done.
    public init(
        memory: any MemoryCaching, disk: (any DiskCaching)?, coder: any ImageCoder,
        processing: WorkQueue = .processing
    ) {
        self.memory = memory
        self.disk = disk ?? NoDiskCache()
        self.coder = coder
        self.processing = processing
    }

    /// A cache that gives memory back when the system runs out of it (``MemoryPressure/system``), as the shared pool of pixel buffers
    /// does from then on.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` for a directory that can be none, such as an empty path. Whether
    ///   the directory can be used is seen when something is stored.
    public convenience init(
        memory: MemoryCache.Configuration = MemoryCache.Configuration(),
        disk: DiskCache.Configuration?, coder: any ImageCoder
    ) throws(ImageError) {
        if let disk { try disk.validate() }
        let memory = MemoryCache(memory)
        let disk = disk.map { DiskCache($0) }
        memory.observe(.system)
        disk?.observe(.system)
        PixelBufferPool.shared.observe(.system)
        self.init(memory: memory, disk: disk, coder: coder)
    }

    public func memoryImage(forKey key: ImageKey) -> Image? { memory.image(forKey: key) }

    public func storeInMemory(_ image: Image, forKey key: ImageKey) { memory.store(image, forKey: key) }

    public func entry(forKey key: ImageKey) async -> DiskCacheEntry? { await disk.entry(forKey: key) }

    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        await disk.entry(forKey: key, priority: priority)
    }

    public func variants(ofSource source: String) async -> [ImageVariant] {
        await disk.variants(ofSource: source)
    }

    /// Keeps an encoded image; does nothing without a disk cache.
    public func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError) {
        try await disk.store(entry, forKey: key)
    }

    public func contains(_ key: ImageKey, in layers: CacheLayers = .all) async -> CacheLayers {
        var found = CacheLayers.none
        if layers.contains(.memory), memory.contains(key) { found.insert(.memory) }
        if layers.contains(.disk), await disk.contains(key) { found.insert(.disk) }
        return found
    }

    public func containsInMemory(_ key: ImageKey) -> Bool { memory.contains(key) }

    public func discard(_ key: ImageKey) async { _ = try? await disk.remove(key) }

    public func remove(_ key: ImageKey, from layers: CacheLayers = .all) async throws(ImageError) {
        removalLog.recordRemoval(of: key)
        if layers.contains(.memory) { memory.remove(key) }
        if layers.contains(.disk) { try await disk.remove(key) }
    }

    public func removeAll(source: String, from layers: CacheLayers = .all) async throws(ImageError) {
        removalLog.recordRemoval(ofSource: source)
        if layers.contains(.memory) { memory.removeAll(source: source) }
        if layers.contains(.disk) { try await disk.removeAll(source: source) }
    }

    public func clear(_ layers: CacheLayers = .all) async throws(ImageError) {
        removalLog.recordRemovalOfAll()
        if layers.contains(.memory) { memory.removeAll() }
        if layers.contains(.disk) { try await disk.removeAll() }
    }

    /// Sweeps the disk; see ``DiskCache/removeExpired()``.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheSweep {
        try await disk.removeExpired()
    }

    public func flush() async { await disk.flush() }
}
