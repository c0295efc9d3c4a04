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
        if let hit = environment.memoryHit(request, key: key) {
            result = memoryResult(hit, request, key: key)
        } else {
            result = try await loaded(request, key, environment, following: priority, onUpdate: onUpdate)
        }
        if result.source == .memory, request.cache.queriesData, environment.queriesDisk(request),
            let entry = await environment.originals.disk?.entry(forKey: key.original),
            environment.accepts(entry.answer, for: request)
        {
            (result.data, result.mimeType) = (entry.data, entry.mimeType)
        }
        result.metrics.total = ContinuousClock.now - start
        return result
    }

    /// The result of a load, stored as this request asks.
    nonisolated(nonsending) static func loaded(
        _ request: ImageRequest, _ key: ImageKey, _ environment: LoadEnvironment,
        following priority: WorkPriority? = nil, onUpdate: (@Sendable (LoadUpdate) -> Void)? = nil
    ) async throws(ImageError) -> ImageResult {
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
            var result = ImageResult(image: output.image, source: output.source, url: request.url, key: key)
            result.freshness = output.freshness
            if request.cache.waitsForStore {
                result.storeError = try await environment.firstError(of: output.stores.writes)
            }
            result.metrics = output.metrics(of: trace)
            if let bytes = output.bytes, !bytes.isVariant, bytes.image == nil {
                (result.data, result.mimeType) = (bytes.data, bytes.entry.mimeType)
            }
            if case .cached = output.freshness {} else { result.response = output.bytes?.loaded?.response }
            environment.endLoad(trace, from: output.source, result.metrics)
            return result
        } catch {
            let error = error.withSource(request.url.shortDescription)
            environment.endLoad(trace, with: error)
            throw error
        }
    }

    static func memoryResult(
        _ hit: (image: Image, freshness: Freshness), _ request: ImageRequest, key: ImageKey
    ) -> ImageResult {
        var result = ImageResult(image: hit.image, source: .memory, url: request.url, key: key)
        result.freshness = hit.freshness
        return result
    }
}
