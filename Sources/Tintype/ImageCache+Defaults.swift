/// The cache of ``ImageManager/shared``.
private let sharedCache: ImageCache = {
    let memory = MemoryCache()
    memory.observe(.system)
    PixelBufferPool.shared.observe(.system)
    return ImageCache(memory: memory, disk: DiskCache())
}()

extension LayeredImageCache where Memory == MemoryCache, Disk == DiskCache {
    /// The cache of ``ImageManager/shared``: memory, and the user's cache directory on disk.
    ///
    /// If that directory cannot be used, the cache works in memory alone, and failures are logged. The memory is trimmed when
    /// the system runs out of it.
    public static var `default`: ImageCache { sharedCache }

    /// Creates a cache in memory and in a directory.
    ///
    /// It decodes with the coders and limits of its manager; without a manager, with the coders of this build.
    /// - Parameters:
    ///   - memory: the limits of the memory cache.
    ///   - disk: the directory and the limits of the disk cache.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` for a directory that cannot exist, such as an empty path. Other problems
    ///   with the directory are reported by the first store.
    public convenience init(
        memory: MemoryCache.Configuration = MemoryCache.Configuration(), disk: DiskCache.Configuration
    ) throws(ImageError) {
        try self.init(memory: memory, disk: disk, coding: EntryCoderSource(fallbackCoders: ImageCoders.default))
    }
}

extension LayeredImageCache {
    /// Creates a cache of two layers.
    ///
    /// It decodes with the coders of its manager; without a manager, with the coders of this build.
    /// - Parameters:
    ///   - memory: the cache of decoded images.
    ///   - disk: the cache of encoded images.
    ///   - limits: the limits on decoded images; `nil` for the manager's limits.
    ///   - budget: the memory that all decodes together may use; `nil` for the manager's budget.
    public convenience init(memory: Memory, disk: Disk, limits: DecodeLimits? = nil, budget: DecodeBudget? = nil) {
        self.init(
            memory: memory, disk: disk,
            coding: EntryCoderSource(limits: limits, budget: budget, fallbackCoders: ImageCoders.default))
    }
}
