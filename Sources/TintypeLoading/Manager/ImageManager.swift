public import FoundationEssentials

/// Loads images from memory, from disk, or with a loader, and decodes, transforms, and caches them.
///
/// ```swift
/// let image = try await ImageManager.shared.image(for: url)
/// ```
///
/// Equal work is shared: however many callers request a URL, it is downloaded once, decoded once for each set of decode options, and
/// transformed once for each transformer. Only loads with different cache policies, or that look in different caches, download it
/// separately. Shared work has the highest priority of its callers, and stops when the last of them cancels. An image in memory is returned
/// without suspension.
///
/// Every method may be called from any task or thread. A load ends exactly once: with an image or with an ``ImageError``.
public final class ImageManager: Sendable {
    /// The caches that images are read from and stored in.
    public let cache: ImageCache

    private let current: Lock<LoadEnvironment>
    /// Held while a part is changed in place. Nothing that a load does waits for it.
    private let changes = RecursiveLock()
    let shared: LoadEnvironment.SharedParts

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - cache: The caches that images are read from and stored in.
    ///   - loader: The loader of images that aren't cached. It replaces all default loaders: to load `file:` and `data:` URLs, too, pass
    ///     `ImageLoaders([DataURLLoader(), FileLoader(), loader])`.
    ///   - coders: The coders that read and write image formats; `ImageCoders.default` of the module `Tintype` has all of this build.
    ///   - configuration: The hooks, limits, and shared resources.
    public convenience init(
        cache: ImageCache, loader: any ImageLoading, coders: any ImageCoder,
        configuration: Configuration = Configuration()
    ) {
        self.init(
            LoadEnvironment(
                cache: cache, loaders: ImageLoaders(of: loader), coders: ImageCoders(of: coders),
                configuration: configuration, shared: LoadEnvironment.SharedParts()))
    }

    init(_ environment: LoadEnvironment) {
        (cache, shared) = (environment.cache, environment.shared)
        current = Lock(environment)
    }

    /// The parts of a load that starts now.
    var environment: LoadEnvironment { current.withLock { $0 } }

    /// The hooks, limits, and shared resources. A change affects loads that start afterwards.
    public var configuration: Configuration {
        get { environment.configuration }
        _modify { yield &self[\.configuration, { $0.with(configuration: $1) }] }
    }

    /// The loaders, which may be added and removed at any time. A change affects loads that start afterwards.
    public var loaders: ImageLoaders {
        get { environment.loaders }
        _modify { yield &self[\.loaders, { $0.with(loaders: $1) }] }
    }

    /// The coders, which may be added and removed at any time. A change affects loads that start afterwards.
    public var coders: ImageCoders {
        get { environment.coders }
        _modify { yield &self[\.coders, { $0.with(coders: $1) }] }
    }

    /// A part of the environment. Changes in place, such as `loaders.add(…)`, happen in turn, so that none is lost.
    private subscript<Part>(
        part: KeyPath<LoadEnvironment, Part>, with: (LoadEnvironment, Part) -> LoadEnvironment
    ) -> Part {
        get { environment[keyPath: part] }
        _modify {
            changes.lock()
            var new = environment[keyPath: part]
            defer {
                // The old environment is released without the lock.
                _ = current.withLock { current in
                    defer { current = with(current, new) }
                    return current
                }
                // New loaders and coders may succeed.
                if Part.self != Configuration.self { removeAllFailures() }
                changes.unlock()
            }
            yield &new
        }
    }

    /// A request as it is carried out, and the parts that carry it out.
    @inline(__always)
    func prepared(_ request: ImageRequest) -> (ImageRequest, LoadEnvironment) {
        let environment = environment
        let request = environment.prepared(request)
        return (request, environment.adopting(request))
    }

    // MARK: Loading

    /// Returns the image at a URL, decoded and cached.
    ///
    /// An image in memory is returned without suspension. Honors the cancellation of the calling task.
    ///
    /// ```swift
    /// let image = try await manager.image(for: url)
    /// ```
    /// - Parameter url: the URL.
    /// - Throws: ``ImageError`` with the URL that failed, the stage, and the reason.
    nonisolated(nonsending) public func image(for url: URL) async throws(ImageError) -> Image {
        let environment = environment
        guard environment.keepsPlainRequests else { return try await image(for: ImageRequest(url)) }
        // Making a request, which would say no more than the URL, takes as long as the rest of a hit.
        let key = ImageKey(source: environment.source(of: url))
        if let image = cache.memory.image(forKey: key) {
            guard image.response.map({ $0.isForPlainRequests && !environment.loaders.addsRequestHeaders }) ?? true
            else { return try await self.image(for: ImageRequest(url)) }
            environment.countMemoryHit()
            return image
        }
        let request = environment.prepared(ImageRequest(url))
        return try await Self.loaded(request, key, environment).image
    }

    /// Returns the image of a request, decoded and cached.
    ///
    /// An image in memory is returned without suspension. Honors the cancellation of the calling task.
    ///
    /// ```swift
    /// let small = ImageRequest(url, thumbnailSize: PixelSize(width: 40, height: 40))
    /// let thumbnail = try await manager.image(for: small)
    /// ```
    /// - Parameter request: the request.
    /// - Throws: ``ImageError`` with the URL that failed, the stage, and the reason.
    nonisolated(nonsending) public func image(for request: ImageRequest) async throws(ImageError) -> Image {
        let (request, environment) = prepared(request)
        let key = environment.key(for: request)
        if let hit = environment.memoryHit(request, key: key) { return hit.image }
        return try await Self.loaded(request, key, environment).image
    }

    /// Returns the image at a URL, with everything that is known of the load.
    /// - Parameter url: the URL.
    /// - Throws: ``ImageError`` with the URL that failed, the stage, and the reason.
    nonisolated(nonsending) public func load(_ url: URL) async throws(ImageError) -> ImageResult {
        try await load(ImageRequest(url))
    }

    /// Returns the image of a request, with everything that is known of the load.
    ///
    /// ```swift
    /// let result = try await manager.load(ImageRequest(url))
    /// print(result.source, result.image.size, result.metrics.load.total)
    /// ```
    /// - Parameter request: the request.
    /// - Throws: ``ImageError`` with the URL that failed, the stage, and the reason.
    nonisolated(nonsending) public func load(_ request: ImageRequest) async throws(ImageError) -> ImageResult {
        let (request, environment) = prepared(request)
        return try await Self.result(request, environment)
    }

    /// Starts a load that any number of observers can subscribe to, and whose priority can be changed.
    /// - Parameter url: the URL.
    public func task(for url: URL) -> ImageTask { task(for: ImageRequest(url)) }

    /// Starts a load that any number of observers can subscribe to, and whose priority can be changed.
    ///
    /// Until its first suspension, the load runs on the calling thread: don't hold locks that your hooks or loaders take.
    /// - Parameter request: the request.
    public func task(for request: ImageRequest) -> ImageTask {
        let (request, environment) = prepared(request)
        return ImageTask(request, environment)
    }

    /// True if a load is in progress.
    public var hasActiveLoads: Bool { shared.work.hasJobs }

    /// Ends every load in progress with ``ImageError/Code/cancelled``.
    public func cancelAll() { shared.work.cancelAll() }

    // MARK: Failures

    /// Allows the URL of a request that failed to be loaded again at once, with any header fields.
    /// - Parameter request: the request.
    public func removeFailure(of request: ImageRequest) {
        let source = key(for: request).source
        shared.failures.withLock { $0.removeAll(source: source) }
    }

    /// Allows every URL that failed to be loaded again at once.
    public func removeAllFailures() { shared.failures.withLock { $0.removeAll() } }
}
