internal import Tintype

/// The manager that a command loads with, and the cache under it.
struct ImageStack {
    let manager: ImageManager
    let cache: ImageCache

    /// - Parameters:
    ///   - directory: where the disk cache is; `nil` for none.
    ///   - timeout: how long a server may be silent.
    init(
        directory: String?, memory: MemoryCache.Configuration = MemoryCache.Configuration(), jobs: Int = 6,
        timeout: Duration? = nil
    ) throws(ImageError) {
        let disk = directory.map { DiskCache.Configuration(directory: $0) }
        cache = try ImageCache(memory: memory, disk: disk, coder: ImageCoders.default)
        var loaders: [any ImageLoading] = [FileLoader(), DataURLLoader()]
        #if HTTP
        var http = ImageDownloader.Configuration(maximumConcurrentDownloads: jobs)
        if let timeout { http.timeout = timeout }
        loaders.append(ImageDownloader(http))
        #endif
        manager = ImageManager(cache: cache, loader: ImageLoaders(loaders), coders: ImageCoders.default)
    }
}
