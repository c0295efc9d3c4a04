extension ImageCache {
    /// The cache of ``ImageManager/shared``: memory, and the user's cache directory on disk. Where that directory cannot be
    /// used, memory alone serves; what fails is logged. The memory is trimmed when the system runs out of it.
    public static let `default`: ImageCache = {
        let memory = MemoryCache()
        memory.observe(.system)
        PixelBufferPool.shared.observe(.system)
        return ImageCache(memory: memory, disk: DiskCache())
    }()

    /// A cache in memory and in a directory, with the coders of this build.
    /// - Parameter disk: `nil` for a cache in memory alone.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` for a directory that can be none, such as an empty path. Whether the
    ///   directory can be used is seen when something is stored.
    public convenience init(
        memory: MemoryCache.Configuration = MemoryCache.Configuration(), disk: DiskCache.Configuration?
    ) throws(ImageError) {
        try self.init(memory: memory, disk: disk, coder: ImageCoders.default)
    }

    /// A cache of these parts, with the coders of this build.
    public convenience init(memory: any MemoryCaching, disk: (any DiskCaching)?) {
        self.init(memory: memory, disk: disk, coder: ImageCoders.default)
    }
}
