internal import FoundationEssentials

extension ImageManager {
    /// One load, from the request to its one end. `request` has been prepared.
    nonisolated(nonsending) func perform(
        _ request: ImageRequest, priority: WorkPriority, onUpdate: @escaping @Sendable (ImageUpdate) -> Void = { _ in }
    ) async throws(ImageError) -> ImageResult {
        let start = ContinuousClock.now
        let key = key(forPrepared: request)
        if let image = memoryHit(request, key: key) {
            var result = Self.memoryResult(image, request, key: key, start: start)
            if request.options.contains(.queryMemoryData) {
                result.data = await cache.entry(forKey: key.original)?.data
                result.metrics.total = ContinuousClock.now - start
            }
            return result
        }
        let name = request.url.shortDescription
        guard !Task.isCancelled else { throw ImageError.gaveUp.concerning(name) }
        try checkURL(request)
        let shown = request.options.contains(.refreshCached) ? cache.memoryImage(forKey: key) : nil
        if let shown { onUpdate(.preview(shown)) }
        // Half an image is no progress over a whole one.
        let isProgressive = shown == nil && request.options.contains(.progressiveLoad)
        let work = work(for: request, key: key, isProgressive: isProgressive)
        let result = await images.value(for: work, priority: priority, onUpdate: onUpdate) { [self] context in
            await makeImage(request, work, key: key, context)
        }
        switch result {
        case .success(let outcome):
            guard outcome.image.isAnimated || !request.options.contains(.matchAnimatedImage) else {
                throw ImageError(
                    .notAnimated, stage: .decode, source: name,
                    reason: "the image does not move, and only one that does was to be had")
            }
            return Self.result(outcome, request, key: key, start: start)
        case .failure(let error): throw error.concerning(name)
        }
    }

    func checkURL(_ request: ImageRequest) throws(ImageError) {
        guard request.url.scheme != nil, !request.url.absoluteString.isEmpty else {
            throw ImageError(
                .invalidURL, stage: .request, source: request.url.shortDescription,
                reason: "the URL has no scheme, such as https:")
        }
    }

    func fetchWork(for request: ImageRequest, key: ImageKey) -> FetchWork {
        FetchWork(
            url: request.url, source: key.source, headers: request.headers,
            readsDisk: !loader.isLocal(request.url) && request.queryFrom.contains(.disk)
                && !request.options.contains(.fromLoaderOnly),
            mayLoad: !request.options.contains(.fromCacheOnly),
            refreshes: request.options.contains(.refreshCached),
            retriesFailed: request.options.contains(.retryFailed))
    }

    /// Local files and `data:` URLs are not copied to the disk cache.
    func layersToStore(_ request: ImageRequest) -> CacheLayers {
        loader.isLocal(request.url) ? request.storeTo.subtracting(.disk) : request.storeTo
    }

    private func work(for request: ImageRequest, key: ImageKey, isProgressive: Bool) -> ImageWork {
        let fetch = fetchWork(for: request, key: key)
        let decode = DecodeWork(
            fetch: fetch, options: request.decode, coder: request.coder.map { _ in Self.nextCoder() },
            isProgressive: isProgressive)
        let transform = TransformWork(
            decode: decode, transformer: request.transformer?.key ?? "",
            includesAnimations: request.options.contains(.transformAnimatedImage))
        return ImageWork(
            transform: transform,
            queriesMemory: request.queryFrom.contains(.memory)
                && request.options.isDisjoint(with: [.fromLoaderOnly, .refreshCached]),
            storeTo: layersToStore(request), storesVariant: request.storesVariant, encode: request.encode,
            waitsForStore: request.options.contains(.waitStoreCache),
            needsAnimation: request.options.contains(.matchAnimatedImage))
    }

    private static let coderCount = Lock(0)

    static func nextCoder() -> Int {
        coderCount.withLock { count in
            count += 1
            return count
        }
    }

    static func memoryResult(
        _ image: Image, _ request: ImageRequest, key: ImageKey, start: ContinuousClock.Instant
    ) -> ImageResult {
        var metrics = ImageMetrics()
        metrics.total = ContinuousClock.now - start
        return ImageResult(
            image: image, data: nil, source: .memory, url: request.url, key: key, mimeType: nil, metrics: metrics)
    }

    private static func result(
        _ outcome: ImageOutcome, _ request: ImageRequest, key: ImageKey, start: ContinuousClock.Instant
    ) -> ImageResult {
        var metrics = ImageMetrics()
        metrics.total = ContinuousClock.now - start
        metrics.decode = outcome.decodeTime
        metrics.transform = outcome.transformTime
        if let fetched = outcome.fetched {
            metrics.disk = fetched.diskTime
            metrics.load = fetched.loadTime
            metrics.bytes = fetched.data.count
            metrics.networkProtocol = fetched.networkProtocol
        }
        return ImageResult(
            image: outcome.image, data: outcome.fetched?.data,
            source: outcome.isFromMemory ? .memory : outcome.fetched?.source ?? .memory, url: request.url, key: key,
            mimeType: outcome.fetched?.entry.mimeType, metrics: metrics, storeError: outcome.storeError)
    }
}
