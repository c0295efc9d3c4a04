package import Tintype

/// The manager that a command uses, and its cache.
package struct ImageStack {
    package let manager: ImageManager

    /// Creates a manager.
    /// - Parameters:
    ///   - directory: the directory of the disk cache; `nil` for none.
    ///   - memory: the configuration of the memory cache.
    ///   - jobs: the number of transfers at once.
    ///   - timeout: the longest time without data from a server.
    ///   - network: the further options of transfers.
    ///   - coders: the coders to decode and encode with.
    package init(
        directory: String?, memory: MemoryCache.Configuration = MemoryCache.Configuration(), jobs: Int = 6,
        timeout: Duration? = nil, network: NetworkOptions = NetworkOptions(), coders: ImageCoders = .default
    ) throws(ImageError) {
        let cache =
            if let directory {
                try ImageCache(memory: memory, disk: DiskCache.Configuration(directory: directory))
            } else {
                ImageCache(memory: memory)
            }
        var loaders: [any ImageLoading] = [FileLoader(), DataURLLoader()]
        #if HTTP
        var http = network.configuration
        http.maximumConcurrentDownloads = jobs
        if let timeout { http.timeout = timeout }
        loaders.append(ImageDownloader(http))
        #endif
        manager = ImageManager(cache: cache, loader: ImageLoaders(loaders), coders: coders)
    }
}
