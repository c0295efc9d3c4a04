extension ImageLoaders {
    /// Loaders for `http` and `https` URLs (with the trait HTTP, through `ImageDownloader.shared`), and for `file` and `data` URLs.
    public static let `default`: ImageLoaders = {
        var loaders: [any ImageLoading] = [DataURLLoader(), FileLoader()]
        #if HTTP
        loaders.append(ImageDownloader.shared)
        #endif
        return ImageLoaders(loaders)
    }()
}

extension ImageManager {
    /// A manager with all defaults, which loads through `ImageDownloader.shared`.
    public static let shared = ImageManager()

    /// Creates a manager with the coders of this build.
    ///
    /// - Parameters:
    ///   - cache: The caches that images are read from and stored in.
    ///   - loader: The loader of images that aren't cached. It replaces all default loaders: to load `file:` and `data:` URLs, too, pass
    ///     `ImageLoaders([DataURLLoader(), FileLoader(), loader])`.
    ///   - configuration: The hooks, limits, and shared resources.
    public convenience init(
        cache: ImageCache = ImageCache.default, loader: any ImageLoading = ImageLoaders.default,
        configuration: Configuration = Configuration()
    ) {
        self.init(cache: cache, loader: loader, coders: ImageCoders.default, configuration: configuration)
    }
}
