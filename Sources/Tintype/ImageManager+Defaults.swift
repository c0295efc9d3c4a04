extension ImageLoaders {
    /// Loads `http` and `https` (with the trait HTTP), `file` and `data` URLs.
    public static let `default`: ImageLoaders = {
        var loaders: [any ImageLoading] = [DataURLLoader(), FileLoader()]
        #if HTTP
        loaders.append(ImageDownloader())
        #endif
        return ImageLoaders(loaders)
    }()
}

extension ImageManager {
    /// The manager for programs that need only one, with all defaults.
    public static let shared = ImageManager()

    /// A manager of these parts, with the coders of this build.
    public convenience init(
        cache: any ImageCaching = ImageCache.default, loader: any ImageLoading = ImageLoaders.default,
        configuration: Configuration = Configuration()
    ) {
        self.init(cache: cache, loader: loader, coders: ImageCoders.default, configuration: configuration)
    }
}
