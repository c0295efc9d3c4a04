internal import Synchronization

extension ImageManager {
    /// Creates a manager like this one, with some parts replaced.
    ///
    /// ```swift
    /// var configuration = manager.configuration
    /// configuration.originalCache = archive
    /// configuration.cacheSerializer = { image, data, url in try image.encoded(as: .webp) }
    /// let archiving = manager.copy(configuration: configuration)
    /// ```
    ///
    /// A copy shares the decode budget, the caches and the loaders that it doesn't replace, and, unless it has another loader, the
    /// remembered failures. It doesn't share loads: ``cancelAll()``, ``hasActiveLoads``, ``flush()`` and ``statistics`` apply to its own
    /// loads. Later changes to the parts or the configuration of either manager don't affect the other.
    ///
    /// Images that a copy decodes with its own coders are cached under keys with the ``ImageCoder/identifier`` of the coder. Images of a
    /// coder without an identifier are cached in memory only, and only the copy finds them.
    /// - Parameters:
    ///   - cache: The caches that images are read from and stored in; `nil` for this manager's caches.
    ///   - loader: The loader of images that aren't cached; `nil` for the loaders of this manager.
    ///   - coders: The coders that read and write image formats, in place of all others; `nil` for this manager's coders. A variant is
    ///     stored on disk only in a format that a coder writes.
    ///   - configuration: The hooks, limits, and shared resources; `nil` for this manager's configuration.
    public func copy(
        cache: ImageCache? = nil, loader: (any ImageLoading)? = nil, coders: (any ImageCoder)? = nil,
        configuration: Configuration? = nil
    ) -> ImageManager {
        let current = environment
        let failures = loader == nil ? self.shared.failures : Lock(FailureMemory())
        return ImageManager(
            LoadEnvironment(
                cache: cache ?? self.cache, loaders: loader.map { ImageLoaders(of: $0) } ?? current.loaders,
                coders: coders.map { ImageCoders(of: $0) } ?? current.coders,
                ownCoder: coders.map { OwnCoder($0) } ?? current.ownCoder,
                configuration: configuration ?? current.configuration,
                shared: LoadEnvironment.SharedParts(failures: failures)))
    }
}

/// The identity of the coders of a manager that shares its caches with others.
struct OwnCoder: Hashable, Sendable {
    let identifier: String?
    /// Distinguishes coders without an identifier; 0 for others.
    let token: Int

    private static let lastToken = Atomic(0)

    init(_ coder: any ImageCoder) {
        identifier = coder.identifier
        token = identifier == nil ? Self.lastToken.wrappingAdd(1, ordering: .relaxed).newValue : 0
    }
}

extension ImageLoaders {
    /// The loaders of a program: a single loader becomes a list, too.
    init(of loader: any ImageLoading) { self = (loader as? ImageLoaders) ?? ImageLoaders([loader]) }
}

extension ImageCoders {
    /// The coders of a program: a single coder becomes a list, too.
    init(of coder: any ImageCoder) { self = (coder as? ImageCoders) ?? ImageCoders([coder]) }
}
