extension MemoryCache {
    /// The memory cache of ``ImageCache/default``, which is trimmed when the system runs low on memory.
    public static let `default`: MemoryCache = {
        let memory = MemoryCache()
        memory.observe(.system)
        PixelBufferPool.shared.observe(.system)
        return memory
    }()
}

extension DiskCache {
    /// The disk cache of ``ImageCache/default``, in the user's cache directory.
    ///
    /// If that directory can't be used, the program continues without a disk cache, and failures are logged.
    public static let `default` = DiskCache()
}

extension ImageCache {
    /// The cache of ``ImageManager/shared``.
    public static let `default` = ImageCache(memory: MemoryCache.default, disk: DiskCache.default)
}
