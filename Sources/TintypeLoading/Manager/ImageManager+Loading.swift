internal import FoundationEssentials

extension ImageManager {
    /// The result of a prepared request, from memory or from a load.
    nonisolated(nonsending) static func result(
        _ request: ImageRequest, _ environment: LoadEnvironment, following priority: WorkPriority? = nil,
        onUpdate: (@Sendable (LoadUpdate) -> Void)? = nil
    ) async throws(ImageError) -> ImageResult {
        let start = ContinuousClock.now
        let key = environment.key(for: request)
        var result: ImageResult
        if let image = environment.memoryHit(request, key: key) {
            result = memoryResult(image, request, key: key)
            if request.cache.queriesData { result.data = await environment.original(of: request, key: key)?.data }
        } else {
            let loaded = try await loaded(request, key, environment, following: priority, onUpdate: onUpdate)
            result = self.result(loaded, request, key: key)
            if result.source == .memory, request.cache.queriesData {
                result.data = await environment.original(of: request, key: key)?.data
            }
        }
        result.metrics.total = ContinuousClock.now - start
        return result
    }

    nonisolated(nonsending) static func output(
        _ request: ImageRequest, _ key: ImageKey, _ environment: LoadEnvironment
    ) async throws(ImageError) -> PipelineOutput {
        try await loaded(request, key, environment).output
    }

    /// The end of a caller's load.
    private struct Loaded {
        var output: PipelineOutput
        var metrics: ImageMetrics
        var storeError: ImageError?
    }

    /// The output of a load, stored as this request asks.
    private nonisolated(nonsending) static func loaded(
        _ request: ImageRequest, _ key: ImageKey, _ environment: LoadEnvironment,
        following priority: WorkPriority? = nil, onUpdate: (@Sendable (LoadUpdate) -> Void)? = nil
    ) async throws(ImageError) -> Loaded {
        let trace = environment.beginLoad(request)
        do throws(ImageError) {
            guard !Task.isCancelled else { throw ImageError.cancelled }
            try environment.check(request)
            // During revalidation the cached image stays on screen; partial previews are suppressed.
            let shown = request.cachePolicy == .revalidate ? environment.ownMemoryImage(request, key: key) : nil
            if let shown { onUpdate?(.outdated(shown)) }
            let load = ImageLoad(request, key: key, environment: environment, trace: trace)
            var wishes = load.wishes
            wishes.previews = request.isProgressive && shown == nil && onUpdate != nil
            wishes.outdated = request.cachePolicy == .revalidate && shown == nil && onUpdate != nil
            let output = try await load.output(wishes, following: priority, onUpdate: onUpdate.map(wishes.filter))
            try environment.check(isAnimated: output.image.isAnimated, of: request)
            let storeError = request.cache.waitsForStore ? try await output.stores.writes.firstError : nil
            let metrics = output.metrics(of: trace)
            environment.endLoad(trace, from: output.source, metrics)
            return Loaded(output: output, metrics: metrics, storeError: storeError)
        } catch {
            let error = error.withSource(request.url.shortDescription)
            environment.endLoad(trace, with: error)
            throw error
        }
    }

    static func memoryResult(_ image: Image, _ request: ImageRequest, key: ImageKey) -> ImageResult {
        ImageResult(image: image, source: .memory, url: request.url, key: key)
    }

    private static func result(_ loaded: Loaded, _ request: ImageRequest, key: ImageKey) -> ImageResult {
        let output = loaded.output
        var result = ImageResult(image: output.image, source: output.source, url: request.url, key: key)
        result.freshness = output.freshness
        result.storeError = loaded.storeError
        result.metrics = loaded.metrics
        guard let bytes = output.bytes else { return result }
        if !bytes.isVariant, bytes.image == nil {
            result.data = bytes.data
            result.mimeType = bytes.entry.mimeType
        }
        result.response = bytes.response
        return result
    }
}
