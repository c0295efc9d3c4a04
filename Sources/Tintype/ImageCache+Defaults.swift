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
}
