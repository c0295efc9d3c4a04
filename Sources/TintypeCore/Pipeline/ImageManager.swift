public import FoundationEssentials

/// Gets images: from memory, from disk, or from a loader, decoded, transformed and cached.
///
/// ```swift
/// let image = try await ImageManager.shared.image(for: url)
/// ```
///
/// Work is shared where it is the same: one download to a URL, one decode to a URL and its decode options, one transform to
/// those and a transformer, whoever asks and however many. The last one who loses interest stops it, and its priority is
/// the highest of those who wait. An image in memory is returned without suspension.
///
/// Every method may be called from anywhere. A load has exactly one end: an image or an ``ImageError``.
public final class ImageManager: Sendable {
    public let cache: any ImageCaching
    public let loader: any ImageLoading
    public let coders: any ImageCoder

    private let settings: Lock<Configuration>
    let failures: Lock<FailedURLs>
    let stores: PendingStores

    let images = SharedJobs<ImageWork, ImageOutcome, ImageUpdate>()
    let transforms = SharedJobs<TransformWork, ImageOutcome, ImageUpdate>()
    let decodes = SharedJobs<DecodeWork, ImageOutcome, ImageUpdate>()
    let fetches = SharedJobs<FetchWork, FetchedData, FetchUpdate>()
    let encodedImages = SharedJobs<EncodedWork, EncodedImage, Never>()

    /// - Parameters:
    ///   - coders: what reads and writes image formats; `ImageCoders.default` of the module `Tintype` has them all.
    public init(
        cache: any ImageCaching, loader: any ImageLoading, coders: any ImageCoder,
        configuration: Configuration = Configuration()
    ) {
        self.cache = cache
        self.loader = loader
        self.coders = coders
        settings = Lock(configuration)
        failures = Lock(FailedURLs(limit: configuration.failureLimit, lifetime: configuration.failureLifetime))
        stores = PendingStores()
    }

    public var configuration: Configuration {
        get { settings.withLock { $0 } }
        set {
            settings.withLock { $0 = newValue }
            failures.withLock { failures in
                failures.limit = newValue.failureLimit
                failures.lifetime = newValue.failureLifetime
            }
        }
    }

    /// See ``Configuration-swift.struct/cacheKey``.
    public var cacheKey: (@Sendable (URL) -> String)? {
        get { settings.withLock { $0.cacheKey } }
        set { settings.withLock { $0.cacheKey = newValue } }
    }

    /// See ``Configuration-swift.struct/shouldDownload``.
    public var shouldDownload: (@Sendable (URL) -> Bool)? {
        get { settings.withLock { $0.shouldDownload } }
        set { settings.withLock { $0.shouldDownload = newValue } }
    }

    // MARK: Loading

    /// The image at a URL, decoded and cached.
    ///
    /// An image that is in memory is returned without suspension. Honours the cancellation of the calling task.
    /// - Throws: ``ImageError``, saying which URL failed, in which stage, and why.
    nonisolated(nonsending) public func image(for url: URL) async throws(ImageError) -> Image {
        let (isPlain, cacheKey) = settings.withLock {
            ($0.optionsProcessor == nil && $0.transformer == nil, $0.cacheKey)
        }
        guard isPlain else { return try await image(for: ImageRequest(url)) }
        // To make a request, which would say no more than the URL, takes as long as all the rest of a hit.
        let key = ImageKey(source: cacheKey?(url) ?? url.absoluteString)
        if let image = cache.memoryImage(forKey: key) { return image }
        return try await perform(prepared(ImageRequest(url)), priority: WorkPriority()).image
    }

    /// The image of a request, decoded and cached.
    nonisolated(nonsending) public func image(for request: ImageRequest) async throws(ImageError) -> Image {
        let request = prepared(request)
        if let image = memoryHit(request, key: key(forPrepared: request)) { return image }
        return try await perform(request, priority: WorkPriority(request.priority)).image
    }

    /// The image at a URL with all that is known of the load.
    nonisolated(nonsending) public func load(_ url: URL) async throws(ImageError) -> ImageResult {
        try await load(ImageRequest(url))
    }

    /// The image of a request with all that is known of the load.
    nonisolated(nonsending) public func load(_ request: ImageRequest) async throws(ImageError) -> ImageResult {
        try await perform(prepared(request), priority: WorkPriority(request.priority))
    }

    /// A load that begins at once, can be watched by anybody, and changes its priority while it runs.
    public func task(for url: URL) -> ImageTask { task(for: ImageRequest(url)) }

    /// A load that begins at once, can be watched by anybody, and changes its priority while it runs.
    public func task(for request: ImageRequest) -> ImageTask {
        let request = prepared(request)
        return ImageTask(request: request) { [self] priority, onUpdate async throws(ImageError) in
            try await perform(request, priority: priority, onUpdate: onUpdate)
        }
    }

    // MARK: Looking around

    /// What the image of a request is cached by.
    public func key(for request: ImageRequest) -> ImageKey { key(forPrepared: prepared(request)) }

    /// The image of a request if it is in memory; at once.
    public func cachedImage(for request: ImageRequest) -> Image? {
        let request = prepared(request)
        return memoryImage(request, key: key(forPrepared: request))
    }

    /// True while a load is under way.
    public var isRunning: Bool { images.jobCount > 0 || encodedImages.jobCount > 0 }

    /// Ends every load that is under way with ``ImageError/Code/cancelled``.
    public func cancelAll() {
        images.cancelAll()
        encodedImages.cancelAll()
    }

    /// Waits until everything that was loaded is stored where its request wanted it.
    public func flush() async {
        await stores.wait()
        await cache.flush()
    }

    /// Lets a URL that failed be tried again at once.
    public func removeFailure(of url: URL) { failures.withLock { $0.remove(url.absoluteString) } }

    /// Lets every URL that failed be tried again at once.
    public func removeAllFailures() { failures.withLock { $0.removeAll() } }

    // MARK: Inside

    /// The request as the options and the processor want it.
    func prepared(_ request: ImageRequest) -> ImageRequest {
        let (processor, transformer, scaleDownLimit) = settings.withLock {
            ($0.optionsProcessor, $0.transformer, $0.scaleDownLimit)
        }
        var request = processor?(request) ?? request
        if request.transformer == nil, let transformer { request.transformer = transformer(request.url) }
        // What changes nothing is as good as none.
        if let list = request.transformer as? ImageTransformers, list.transformers.isEmpty { request.transformer = nil }
        guard !request.options.isEmpty else { return request }
        if request.options.contains(.decodeFirstFrameOnly) { request.decode.firstFrameOnly = true }
        if request.options.contains(.scaleDownLargeImages), request.decode.maximumBytes == nil {
            request.decode.maximumBytes = scaleDownLimit
        }
        return request
    }

    func key(forPrepared request: ImageRequest) -> ImageKey {
        let source = request.cacheKey ?? cacheKey?(request.url) ?? request.url.absoluteString
        guard request.transformer != nil || request.decode != DecodeOptions() else { return ImageKey(source: source) }
        return ImageKey(source: source, variant: ImageVariant(request.decode, transformer: request.transformer?.key))
    }

    func memoryHit(_ request: ImageRequest, key: ImageKey) -> Image? {
        guard request.queryFrom.contains(.memory), request.options.isDisjoint(with: [.fromLoaderOnly, .refreshCached])
        else { return nil }
        return memoryImage(request, key: key)
    }

    /// What the memory has for a request; for one that wants no more than the first frame, also that of the whole
    /// animation, which stays as it is.
    func memoryImage(_ request: ImageRequest, key: ImageKey) -> Image? {
        var image = cache.memoryImage(forKey: key)
        if image == nil, request.transformer == nil, let animation = request.decode.ofWholeAnimation {
            image =
                cache.memoryImage(forKey: ImageKey(source: key.source, variant: ImageVariant(animation)))?.firstFrame
        }
        guard let image, image.isAnimated || !request.options.contains(.matchAnimatedImage) else { return nil }
        return image
    }
}
