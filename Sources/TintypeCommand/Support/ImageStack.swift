internal import Tintype

/// The manager that a command loads with.
struct ImageStack {
    let manager: ImageManager

    /// - Parameters:
    ///   - directory: where the disk cache is; `nil` for none.
    ///   - timeout: how long a server may be silent.
    init(
        directory: String?, memory: MemoryCache.Configuration = MemoryCache.Configuration(), jobs: Int = 6,
        timeout: Duration? = nil
    ) throws(ImageError) {
        let cache: any ImageCaching =
            if let directory {
                try ImageCache(memory: memory, disk: DiskCache.Configuration(directory: directory))
            } else {
                MemoryImageCache(memory: memory)
            }
        var loaders: [any ImageLoading] = [FileLoader(), DataURLLoader()]
        #if HTTP
        var http = ImageDownloader.Configuration(maximumConcurrentDownloads: jobs)
        if let timeout { http.timeout = timeout }
        loaders.append(ImageDownloader(http))
        #endif
        manager = ImageManager(cache: cache, loader: ImageLoaders(loaders), coders: ImageCoders.default)
    }
}
