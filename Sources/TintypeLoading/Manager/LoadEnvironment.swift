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
        /// Those that are under way.
        let revalidating = Lock(Set<Revalidation>())
        let counters = LoadCounters()
        let failures: Lock<FailureMemory>

        init(failures: Lock<FailureMemory> = Lock(FailureMemory())) { self.failures = failures }
    }

    /// True if a request for a URL alone keeps its key: nothing in the configuration changes requests.
    let keepsPlainRequests: Bool

    init(
        cache: ImageCache, loaders: ImageLoaders, coders: ImageCoders, ownCoder: OwnCoder? = nil,
        configuration: ImageManager.Configuration, shared: SharedParts, generation: Int = 0, loaderGeneration: Int = 0
    ) {
        (self.cache, self.loaders, self.coders, self.ownCoder) = (cache, loaders, coders, ownCoder)
        (self.configuration, self.shared) = (configuration, shared)
        (self.generation, self.loaderGeneration) = (generation, loaderGeneration)
        originals = configuration.originalCache ?? cache
        hasOwnOriginals = originals !== cache
        keepsPlainRequests =
            configuration.optionsProcessor == nil && configuration.transformer == nil
            && configuration.cachePolicy == .cacheFirst && ownCoder == nil
    }

    /// The same environment with other parts.
    func with(
        loaders: ImageLoaders? = nil, coders: ImageCoders? = nil, configuration: ImageManager.Configuration? = nil
    ) -> LoadEnvironment {
        LoadEnvironment(
            cache: cache, loaders: loaders ?? self.loaders, coders: coders ?? self.coders, ownCoder: ownCoder,
            configuration: configuration ?? self.configuration, shared: shared, generation: generation + 1,
            loaderGeneration: loaderGeneration + (loaders == nil ? 0 : 1))
    }

    /// The environment of a prepared request: this one, unless the request brings its own bytes.
    func adopting(_ request: ImageRequest) -> LoadEnvironment {
        guard let bytes = request.box?.parts.bytes else { return self }
        return LoadEnvironment(
            cache: cache, loaders: ImageLoaders([bytes]), coders: coders, ownCoder: ownCoder,
            configuration: configuration, shared: shared, generation: generation, loaderGeneration: loaderGeneration)
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
    func memoryHit(_ request: ImageRequest, key: ImageKey) -> (image: Image, freshness: Freshness)? {
        guard request.cache.query.contains(.memory), request.cachePolicy != .reload,
            let image = memoryImage(request, key: key)
        else { return nil }
        var freshness = Freshness.cached
        if !request.cachePolicy.ignoresAge {
            guard case .use(let present) = decision(for: image.response, of: request) else { return nil }
            freshness = present
            if case .stale(.revalidating) = freshness { revalidateInBackground(request) }
        }
        countMemoryHit()
        return (image, freshness)
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
        guard let image = cache.memory.image(forKey: key), accepts(image.response, for: request) else { return nil }
        return image
    }

    // MARK: Failures

    /// Returns the remembered failure of a transfer, or of decoding its bytes in a way.
    func failure(
        ofSource source: String, _ message: DownloadKey.Message, decoding: FailureMemory.Decoding?
    ) -> ImageError? {
        let now = configuration.now()
        return shared.failures.withLock { failures in
            failures.failure(of: .init(source: source, message: message), at: now)
                ?? decoding.flatMap {
                    failures.failure(of: .init(source: source, message: message, decoding: $0), at: now)
                }
        }
    }

    func remember(_ error: ImageError, of url: URL, as key: FailureMemory.Key) {
        guard !error.isCancellation, !loaders.isLocal(url) else { return }
        let lifetime =
            configuration.failureLifetime?(error, url)
            ?? (loaders.shouldRememberFailure(error, of: url) ? error.usualLifetime : .zero)
        var error = error
        // Its header fields may be larger than an image.
        error.response = nil
        let (limit, now) = (configuration.failureLimit, configuration.now())
        shared.failures.withLock { $0.insert(key, error, for: lifetime, limit: limit, at: now) }
    }
}
