internal import FoundationEssentials
internal import Logging

let logger = Logger(label: "tintype")

/// The parts and the configuration of a manager as they are when a load begins. A load keeps to them until it ends, whatever
/// the program changes meanwhile.
final class LoadEnvironment: Sendable {
    let cache: any ImageCaching
    let loaders: ImageLoaders
    let coders: ImageCoders
    let configuration: ImageManager.Configuration
    let shared: SharedWork
    /// The number of changes that led to this environment, and of those to the loaders. Loads of different ones aren't shared.
    let generation: Int
    let loaderGeneration: Int

    /// The work that the loads of a manager share, whatever their configuration.
    final class SharedWork: Sendable {
        let images = TaskCoalescer<ImageLoadKey, PipelineOutput>()
        let data = TaskCoalescer<DataLoadKey, DataOutput>()
        let downloads = Downloads()
        let stores = PendingStores()
        let failures: Lock<FailureMemory>

        init(_ configuration: ImageManager.Configuration) {
            failures = Lock(FailureMemory(limit: configuration.failureLimit, lifetime: configuration.failureLifetime))
        }
    }

    /// True if a request for a URL alone stays as it is: nothing in the configuration changes requests.
    let keepsPlainRequests: Bool

    init(
        cache: any ImageCaching, loaders: ImageLoaders, coders: ImageCoders,
        configuration: ImageManager.Configuration, shared: SharedWork, generation: Int = 0, loaderGeneration: Int = 0
    ) {
        self.cache = cache
        self.loaders = loaders
        self.coders = coders
        self.configuration = configuration
        self.shared = shared
        self.generation = generation
        self.loaderGeneration = loaderGeneration
        keepsPlainRequests = configuration.optionsProcessor == nil && configuration.transformer == nil
    }

    /// The same environment with other parts.
    func with(
        loaders: ImageLoaders? = nil, coders: ImageCoders? = nil, configuration: ImageManager.Configuration? = nil
    ) -> LoadEnvironment {
        LoadEnvironment(
            cache: cache, loaders: loaders ?? self.loaders, coders: coders ?? self.coders,
            configuration: configuration ?? self.configuration, shared: shared, generation: generation + 1,
            loaderGeneration: loaderGeneration + (loaders == nil ? 0 : 1))
    }

    // MARK: Requests

    /// The request as it is carried out: changed by the configuration, and without what makes no difference.
    func prepared(_ request: ImageRequest) -> ImageRequest {
        var request = request
        if request.transformer == nil, let transformer = configuration.transformer {
            request.transformer = transformer(request.url)
        }
        if let processor = configuration.optionsProcessor { request = processor(request) }
        if let list = request.transformer as? ImageTransformers, list.transformers.isEmpty { request.transformer = nil }
        if request.scalesDownLargeImages, request.decodeOptions.maximumBytes == nil {
            request.decodeOptions.maximumBytes = configuration.scaleDownLimit
        }
        return request
    }

    /// The identity of a URL in the caches.
    func source(of url: URL) -> String { configuration.cacheKey?(url) ?? url.absoluteString }

    /// The cache key of a prepared request.
    func key(for request: ImageRequest) -> ImageKey {
        let source = request.cacheKey ?? source(of: request.url)
        guard
            request.transformer != nil || request.coder != nil || request.storesVariant
                || request.decodeOptions != DecodeOptions()
        else { return ImageKey(source: source) }
        let extras = ImageVariant.Extras(
            transformer: request.transformer, transformsAnimatedImages: request.transformsAnimatedImages,
            coder: request.coder?.identifier, coderToken: request.coderToken,
            encoding: request.storesVariant ? request.encodeOptions : nil)
        return ImageKey(source: source, variant: ImageVariant(request.decodeOptions, extras))
    }

    /// - Throws: ``ImageError/Code/invalidURL`` or ``ImageError/Code/invalidRequest``.
    func check(_ request: ImageRequest) throws(ImageError) {
        guard request.url.scheme != nil, !request.url.absoluteString.isEmpty else {
            throw ImageError(
                .invalidURL, stage: .request, source: request.url.shortDescription,
                reason: "the URL has no scheme, such as https:")
        }
        guard request.transformer?.hasEmptyKey != true else {
            throw ImageError(
                .invalidRequest, stage: .request, source: request.url.shortDescription,
                reason: "a transformer of the request has an empty key, so that its images can't be told from others")
        }
    }

    func downloadKey(for request: ImageRequest) -> DownloadKey {
        DownloadKey(
            url: request.url, headers: request.headers, ignoring: configuration.insignificantHeaders,
            loaders: loaderGeneration)
    }

    // MARK: Layers

    /// True if the disk may have the source of a request. Local files and `data:` URLs aren't copied there.
    func queriesDisk(_ request: ImageRequest) -> Bool {
        cache.hasDisk && request.queryFrom.contains(.disk) && request.cachePolicy != .reload
            && !loaders.isLocal(request.url)
    }

    /// The layers in which the images of a request are stored.
    func layersToStore(_ request: ImageRequest) -> CacheLayers {
        guard request.storeTo.contains(.disk), !cache.hasDisk || loaders.isLocal(request.url) else {
            return request.storeTo
        }
        return request.storeTo.subtracting(.disk)
    }

    // MARK: Memory

    /// Returns the image of a prepared request from memory, if the request allows that, and counts the lookup.
    func memoryHit(_ request: ImageRequest, key: ImageKey) -> Image? {
        guard request.queryFrom.contains(.memory),
            request.cachePolicy == .cacheFirst || request.cachePolicy == .cacheOnly
        else { return nil }
        return memoryImage(request, key: key)
    }

    /// Returns the image in memory that fits a prepared request. For a request for the first frame alone that may also be the first
    /// frame of the whole animation, which stays in memory unchanged.
    func memoryImage(_ request: ImageRequest, key: ImageKey) -> Image? {
        var image: Image?
        if request.transformer == nil, request.coder == nil, let animation = request.decodeOptions.ofWholeAnimation {
            // One lookup of the two counts.
            let animationKey = ImageKey(source: key.source, variant: ImageVariant(animation))
            image =
                cache.containsInMemory(key) || !cache.containsInMemory(animationKey)
                ? cache.memoryImage(forKey: key) : cache.memoryImage(forKey: animationKey)?.firstFrame
        } else {
            image = cache.memoryImage(forKey: key)
        }
        guard let image, image.isAnimated || !request.requiresAnimation else { return nil }
        return image
    }

    // MARK: Coding

    /// Counts the bytes of a source in the decode budget, as long as loads hold them.
    func reservation(bytes: Int = 0) -> BodyReservation { BodyReservation(configuration.budget, bytes: bytes) }

    /// The coders, limits, and shared resources for decoding and encoding.
    var entryCoder: EntryCoder {
        EntryCoder(
            coders: coders, limits: configuration.limits, pool: configuration.pool, budget: configuration.budget,
            processing: configuration.processing)
    }

    /// Decodes on the processing queue, when the budget has room.
    func decode(
        _ data: Data, options: DecodeOptions, coder: (any ImageCoder)? = nil, priority: WorkPriority,
        progressive: ProgressiveDecoding? = nil
    ) async throws(ImageError) -> Image {
        guard let progressive else {
            return try await entryCoder.decode(data, options: options, coder: coder, priority: priority)
        }
        let coder: any ImageCoder = coder ?? coders
        return try await entryCoder.perform(priority: priority) { context throws(ImageError) in
            if let image = try progressive.finish(bytes: data.count, context) { return image }
            return try coder.decode(data, options: options, context: context)
        }
    }

    /// Reads the header on the processing queue.
    func info(
        of data: Data, formatHint: ImageFormat?, coder: (any ImageCoder)?, priority: WorkPriority
    ) async throws(ImageError) -> ImageInfo {
        let coder: any ImageCoder = coder ?? coders
        return try await configuration.processing.perform(priority: priority) {
            [configuration] isCancelled throws(ImageError) in
            let context = DecodeContext(
                limits: configuration.limits, pool: configuration.pool, budget: configuration.budget,
                isCancelled: isCancelled)
            guard let list = coder as? ImageCoders else { return try coder.info(of: data, context: context) }
            return try list.info(of: data, hint: formatHint, context: context)
        }
    }

    /// Encodes an image for the disk cache, with the properties that its file format doesn't keep.
    func encodedEntry(
        _ image: Image, options: EncodeOptions, coder: (any ImageCoder)? = nil, priority: WorkPriority
    ) async throws(ImageError) -> DiskCacheEntry {
        let (data, format) = try await entryCoder.encode(image, options: options, coder: coder, priority: priority)
        return DiskCacheEntry(
            data: data, created: configuration.date(), mimeType: format.mimeType,
            imageProperties: StoredImageProperties(image.properties).encoded)
    }

    // MARK: Failures

    func remember(_ error: ImageError, of url: URL, as key: FailureMemory.Key) {
        guard !error.isCancellation, !loaders.isLocal(url), loaders.shouldRememberFailure(error, of: url) else {
            return
        }
        let now = configuration.now()
        shared.failures.withLock { $0.insert(key, url: url, error, at: now) }
    }
}
