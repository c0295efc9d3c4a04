internal import FoundationEssentials

/// The parts and the configuration of a manager as they are when a load starts. A load keeps to them until it ends, even if
/// the program changes them meanwhile.
final class LoadEnvironment: Sendable {
    /// The cache of images.
    let cache: ImageCache
    /// The cache of the bytes that sources send: the same, unless the program has a separate cache for originals.
    let originals: ImageCache
    let hasOwnOriginals: Bool
    let loaders: ImageLoaders
    let coders: ImageCoders
    /// The identity of the coders, if the caches have images of other coders, too.
    let ownCoder: OwnCoder?
    let configuration: ImageManager.Configuration
    let shared: SharedParts
    /// The number of changes that led to this environment, and of those to the loaders. Loads with different coders aren't shared.
    let generation: Int
    let loaderGeneration: Int

    /// The work that the loads of a manager share, independent of their configuration.
    final class SharedParts: Sendable {
        let work = LoadWork()
        let stores = PendingStores()
        /// The revalidations in the background, whose answers are stored.
        let revalidations = PendingStores()
        let counters = LoadCounters()
        let failures: Lock<FailureMemory>

        init(_ configuration: ImageManager.Configuration, failures: Lock<FailureMemory>? = nil) {
            self.failures = failures ?? Lock(FailureMemory(limit: configuration.failureLimit))
        }
    }

    /// True if a request for a URL alone keeps its key: nothing in the configuration changes requests.
    let keepsPlainRequests: Bool

    init(
        cache: ImageCache, originals: ImageCache? = nil, loaders: ImageLoaders, coders: ImageCoders,
        ownCoder: OwnCoder? = nil, configuration: ImageManager.Configuration, shared: SharedParts, generation: Int = 0,
        loaderGeneration: Int = 0
    ) {
        self.cache = cache
        self.originals = originals ?? cache
        hasOwnOriginals = originals.map { $0 as AnyObject !== cache as AnyObject } ?? false
        self.loaders = loaders
        self.coders = coders
        self.ownCoder = ownCoder
        self.configuration = configuration
        self.shared = shared
        self.generation = generation
        self.loaderGeneration = loaderGeneration
        keepsPlainRequests =
            configuration.optionsProcessor == nil && configuration.transformer == nil
            && configuration.cachePolicy == .cacheFirst && ownCoder == nil
    }

    /// The same environment with other parts.
    func with(
        loaders: ImageLoaders? = nil, coders: ImageCoders? = nil, configuration: ImageManager.Configuration? = nil
    ) -> LoadEnvironment {
        let configuration = configuration ?? self.configuration
        return LoadEnvironment(
            cache: cache, originals: configuration.originalCache, loaders: loaders ?? self.loaders,
            coders: coders ?? self.coders, ownCoder: ownCoder, configuration: configuration, shared: shared,
            generation: generation + 1,
            loaderGeneration: loaderGeneration + (loaders == nil ? 0 : 1))
    }

    /// The environment of a prepared request: this one, unless the request brings its own bytes.
    func adopting(_ request: ImageRequest) -> LoadEnvironment {
        guard let bytes = request.box?.parts.bytes else { return self }
        return LoadEnvironment(
            cache: cache, originals: hasOwnOriginals ? originals : nil, loaders: ImageLoaders([bytes]), coders: coders,
            ownCoder: ownCoder, configuration: configuration, shared: shared, generation: generation,
            loaderGeneration: loaderGeneration)
    }

    // MARK: Requests

    /// The request as it is carried out: changed by the configuration, and without settings that make no difference.
    func prepared(_ request: ImageRequest) -> ImageRequest {
        var request = request
        if request.ownCachePolicy == nil, configuration.cachePolicy != .cacheFirst {
            request.cachePolicy = configuration.cachePolicy
        }
        if request.transformer == nil, let transformer = configuration.transformer {
            request.transformer = transformer(request.url)
        }
        if let processor = configuration.optionsProcessor { request = processed(request, by: processor) }
        if let list = request.transformer as? ImageTransformers, list.transformers.isEmpty { request.transformer = nil }
        if request.scalesDownLargeImages, request.decode.maximumBytes == nil {
            request.decode.maximumBytes = configuration.scaleDownLimit
        }
        return request
    }

    /// The request as the program's processor returns it. The processor sees the defaults of the configuration in their places.
    private func processed(
        _ request: ImageRequest, by processor: (ImageRequest) -> ImageRequest
    ) -> ImageRequest {
        var filled = request
        if filled.cache.key == nil, configuration.cacheKey != nil { filled.cache.key = source(of: request) }
        var processed = processor(filled)
        // The key was the key of the other URL.
        if processed.url != request.url, request.cache.key == nil, processed.cache.key == filled.cache.key {
            processed.cache.key = nil
        }
        return processed
    }

    /// The identity of a URL in the caches.
    func source(of url: URL) -> String { configuration.cacheKey?(url) ?? url.absoluteString }

    /// The identity of a request's source in the caches.
    func source(of request: ImageRequest) -> String {
        let source = sourceOfAnySize(of: request)
        return request.targetSize.map { "\($0.width)x\($0.height) \(source)" } ?? source
    }

    private func sourceOfAnySize(of request: ImageRequest) -> String {
        if let key = request.cache.key { return key }
        let source = source(of: request.url)
        guard let parts = request.box?.parts else { return source }
        var prefix = ""
        if let hooks = parts.hooks { prefix = "hooks=\(MD5.hexadecimal(hooks.identifier.utf8)) " }
        guard !parts.isPlainGet else { return prefix + source }
        let digest = parts.body.map { " " + MD5.hexadecimal($0) } ?? ""
        return "\(prefix)\(parts.method)\(digest) \(source)"
    }

    /// The cache key of a prepared request.
    func key(for request: ImageRequest) -> ImageKey {
        let source = source(of: request)
        guard
            request.transformer != nil || ownCoder != nil || request.cache.storesVariant
                || request.decode != DecodeOptions()
        else { return ImageKey(source: source) }
        let variant = ImageVariant(
            request.decode, transformer: request.transformer,
            transformsAnimatedImages: request.transformsAnimatedImages,
            transformsVectorImages: request.transformsVectorImages,
            coder: ownCoder?.identifier, coderToken: ownCoder?.token ?? 0,
            encoding: request.cache.storesVariant ? request.cache.encoding : nil)
        return ImageKey(source: source, variant: variant)
    }

    /// - Throws: ``ImageError/Code/notAnimated``.
    func check(isAnimated: Bool, of request: ImageRequest) throws(ImageError) {
        guard isAnimated || !request.requiresAnimation else {
            throw ImageError(
                .notAnimated, stage: .decode,
                reason: "the image isn't animated, but the request requires an animated image")
        }
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
        guard request.cache.key?.isEmpty != true else {
            throw ImageError(
                .invalidRequest, stage: .request, source: request.url.shortDescription,
                reason: "the cache key, or the identifier, of the request is empty")
        }
        if let method = request.box?.parts.method, !Self.isToken(method) {
            throw ImageError(
                .invalidRequest, stage: .request, source: request.url.shortDescription,
                reason: "the method of the request is no HTTP method: “\(method.prefix(20))”")
        }
    }

    /// True for a token of HTTP (RFC 9110, section 5.6.2).
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }

    func downloadKey(for request: ImageRequest) -> DownloadKey {
        DownloadKey(
            url: request.url, headers: loaders.requestHeaders(request.headers, for: request.url),
            ignoring: configuration.insignificantHeaders, parts: request.box?.parts, targetSize: request.targetSize,
            loaders: loaderGeneration)
    }

    // MARK: Layers

    /// True if images on disk can be found by others: not images of coders without an identifier.
    var cachesOnDisk: Bool { (ownCoder?.token ?? 0) == 0 }

    /// True if the disk may have the source of a request. Local files and `data:` URLs aren't copied there.
    func queriesDisk(_ request: ImageRequest) -> Bool {
        originals.disk != nil && (request.cache.queryOriginal ?? request.cache.query).contains(.disk)
            && request.cachePolicy != .reload && !loaders.isLocal(request.url)
    }

    /// True if a request looks on disk for images that were made of its source.
    func queriesVariants(_ request: ImageRequest) -> Bool {
        cache.disk != nil && request.cache.query.contains(.disk) && request.cachePolicy != .reload
    }

    /// True if the disk may have the image of a request beside the original of its source.
    func mayStoreVariant(_ request: ImageRequest) -> Bool {
        request.cache.storesVariant && mayStoreVariants(of: request.url)
    }

    /// True if the disk may have images that were made of a URL.
    func mayStoreVariants(of url: URL) -> Bool { cachesOnDisk && (!loaders.isLocal(url) || isFile(url)) }

    /// True if the disk may have images of a URL in a format of the caller's choice: as they are, and so not beside a serializer.
    func mayStoreEncoded(of url: URL) -> Bool {
        cache.disk != nil && configuration.cacheSerializer == nil && mayStoreVariants(of: url)
    }

    /// True for a file, which may change at any time.
    func isFile(_ url: URL) -> Bool { url.scheme?.lowercased() == "file" && loaders.isLocal(url) }

    /// True if the bytes of a request's source are stored on disk.
    func storesOriginal(_ request: ImageRequest) -> Bool {
        (request.cache.storeOriginal ?? request.cache.store).contains(.disk) && originals.disk != nil
            && !loaders.isLocal(request.url)
    }

    // MARK: Memory

    /// Returns the image of a prepared request from memory, if the request allows that, and counts the lookup and the load.
    func memoryHit(_ request: ImageRequest, key: ImageKey) -> Image? {
        guard request.cache.query.contains(.memory), request.cachePolicy.queriesMemory,
            let image = memoryImage(request, key: key)
        else { return nil }
        if !request.cachePolicy.ignoresAge {
            guard case .use(nil) = decision(for: image.response, of: request) else { return nil }
        }
        countMemoryHit()
        return image
    }

    /// Returns the image in memory that fits a prepared request. For a request for the first frame alone that may also be the first
    /// frame of the whole animation, which stays in memory unchanged.
    func memoryImage(_ request: ImageRequest, key: ImageKey) -> Image? {
        var image: Image?
        if request.transformer == nil, ownCoder == nil, let animation = request.decode.ofWholeAnimation {
            // Only one of the two lookups goes into the statistics.
            let animationKey = ImageKey(source: key.source, variant: ImageVariant(animation))
            image =
                cache.memory.contains(key) || !cache.memory.contains(animationKey)
                ? cache.memory.image(forKey: key) : cache.memory.image(forKey: animationKey)?.firstFrame
        } else {
            image = cache.memory.image(forKey: key)
        }
        guard let image, image.isAnimated || !request.requiresAnimation, accepts(image.response, for: request)
        else { return nil }
        return image
    }

    /// Returns the image in memory under exactly this key, regardless of age.
    func ownMemoryImage(_ request: ImageRequest, key: ImageKey) -> Image? {
        guard let image = cache.memory.image(forKey: key), accepts(image.response, for: request) else {
            return nil
        }
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

    /// The same for the bytes of a URL.
    func entryCoder(of url: URL) -> EntryCoder {
        var coder = entryCoder
        coder.origin = origin(of: url)
        return coder
    }

    /// The server of a URL; `nil` for bytes of the user.
    func origin(of url: URL) -> String? {
        loaders.isLocal(url) ? nil : "\(url.scheme ?? "")://\(url.host() ?? ""):\(url.port ?? 0)"
    }

    /// Decodes on the processing queue, when the budget has room.
    func decode(
        _ data: Data, of url: URL, options: DecodeOptions, priority: WorkPriority,
        progressive: ProgressiveDecoding? = nil
    ) async throws(ImageError) -> Image {
        let coder = entryCoder(of: url)
        guard let progressive else { return try await coder.decode(data, options: options, priority: priority) }
        return try await coder.perform(priority: priority) { [coders] context throws(ImageError) in
            if let image = try progressive.finish(data, context) { return image }
            return try coders.decode(data, options: options, context: context)
        }
    }

    /// Reads the header on the processing queue.
    func info(
        of data: Data, of url: URL, formatHint: ImageFormat?, priority: WorkPriority
    ) async throws(ImageError) -> ImageInfo {
        try await configuration.processing.perform(priority: priority) {
            [self] isCancelled throws(ImageError) in
            try coders.info(of: data, hint: formatHint, context: headerContext(of: url, isCancelled))
        }
    }

    private func headerContext(of url: URL, _ isCancelled: @escaping @Sendable () -> Bool) -> ProcessingContext {
        var context = ProcessingContext(
            limits: configuration.limits, pool: configuration.pool, budget: configuration.budget,
            isCancelled: isCancelled)
        context.origin = origin(of: url)
        return context
    }

    /// Encodes an image for the disk cache, with the properties that its file format doesn't keep.
    func encodedEntry(
        _ image: Image, options: EncodeOptions, priority: WorkPriority
    ) async throws(ImageError) -> DiskCacheEntry {
        let (data, format) = try await entryCoder.encode(image, options: options, priority: priority)
        return DiskCacheEntry(
            data: data, created: configuration.date(), mimeType: format.mimeType,
            imageProperties: StoredImageProperties(image.properties).encoded)
    }

    /// Encodes an image on the processing queue, and reads the header of the result.
    ///
    /// Before all decodes that wait: otherwise decoded images would pile up.
    func encoded(
        _ image: Image, of url: URL, as format: ImageFormat, options: EncodeOptions
    ) async throws(ImageError) -> (data: Data, info: ImageInfo) {
        try await configuration.processing.perform(priority: WorkPriority(.veryHigh)) {
            [self] isCancelled throws(ImageError) in
            let data = try coders.encode(
                image, as: format, options: options, context: ProcessingContext(isCancelled: isCancelled))
            let info = try? coders.info(of: data, hint: format, context: headerContext(of: url, isCancelled))
            // A coder may write what no coder reads.
            return (data, info ?? ImageInfo(format: format, size: image.size, hasAlpha: image.hasAlpha))
        }
    }

    // MARK: Failures

    func remember(_ error: ImageError, of url: URL, as key: FailureMemory.Key) {
        guard !error.isCancellation, !loaders.isLocal(url) else { return }
        let lifetime =
            configuration.failureLifetime?(error, url)
            ?? configuration.failureLifetimes.lifetime(
                of: error, isTemporary: !loaders.shouldRememberFailure(error, of: url))
        let now = configuration.now()
        shared.failures.withLock { $0.insert(key, url: url, error, for: lifetime, at: now) }
    }
}
