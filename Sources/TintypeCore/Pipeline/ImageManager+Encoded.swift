internal import FoundationEssentials
internal import Logging

/// Images that are not decoded.
extension ImageManager {
    /// The bytes of an image, from disk or from a loader, without decoding it: to send them on, to write them to a file, or to
    /// decode them when they are to be shown.
    ///
    /// The download is shared with those who want the image, and what came is kept on disk if the request's `storeTo` says so.
    /// Only the header is read: bytes that no coder of this build takes for an image are an error, and are not kept. Memory
    /// is not asked, and thumbnails and transformers mean nothing here. Honours the cancellation of the calling task.
    /// - Throws: ``ImageError``, saying which URL failed, in which stage, and why.
    nonisolated(nonsending) public func data(for request: ImageRequest) async throws(ImageError) -> EncodedImage {
        let start = ContinuousClock.now
        let request = prepared(request)
        let name = request.url.shortDescription
        guard !Task.isCancelled else { throw ImageError.gaveUp.concerning(name) }
        try checkURL(request)
        let key = key(forPrepared: request).original
        let work = EncodedWork(
            fetch: fetchWork(for: request, key: key), formatHint: request.decode.formatHint,
            coder: request.coder.map { _ in Self.nextCoder() },
            storesOnDisk: layersToStore(request).contains(.disk),
            waitsForStore: request.options.contains(.waitStoreCache))
        let result = await encodedImages.value(
            for: work, priority: WorkPriority(request.priority), onUpdate: { _ in }
        ) { [self] context in
            await encodedImage(request, work, key: key, priority: context.priority)
        }
        switch result {
        case .success(var image):
            image.metrics.total = ContinuousClock.now - start
            return image
        case .failure(let error): throw error.concerning(name)
        }
    }

    private func encodedImage(
        _ request: ImageRequest, _ work: EncodedWork, key: ImageKey, priority: WorkPriority
    ) async -> Result<EncodedImage, ImageError> {
        var fetch = work.fetch
        while true {
            let fetched: FetchedData
            switch await fetchedData(fetch, priority: priority, { _ in }) {
            case .success(let data): fetched = data
            case .failure(let error): return .failure(error)
            }
            let start = ContinuousClock.now
            do throws(ImageError) {
                let info = try await info(of: fetched, request, work, priority: priority)
                let time = ContinuousClock.now - start
                var image = encodedImage(fetched, info, request, key: key, time: time)
                if work.storesOnDisk, fetched.claimStore() {
                    image.storeError = await keep(bytes: fetched.data.count, waits: work.waitsForStore) {
                        [cache] () throws(ImageError) in try await cache.store(fetched.entry, forKey: key)
                    }
                }
                return .success(image)
            } catch {
                guard fetched.source == .disk, Self.isWorthless(after: error) else {
                    if fetched.source != .disk { rememberFailure(error, of: fetch) }
                    return .failure(error)
                }
                await forget(fetch, after: error)
                guard fetch.mayLoad else { return .failure(error) }
                fetch.readsDisk = false
            }
        }
    }

    private func info(
        of fetched: FetchedData, _ request: ImageRequest, _ work: EncodedWork, priority: WorkPriority
    ) async throws(ImageError) -> ImageInfo {
        let (configuration, coder) = (configuration, request.coder ?? coders)
        let hint =
            work.formatHint
            ?? ImageFormat.hint(fileName: work.fetch.url.lastPathComponent, mimeType: fetched.entry.mimeType)
        return try await configuration.processing.perform(priority: priority) { isCancelled throws(ImageError) in
            let context = DecodeContext(
                limits: configuration.limits, pool: configuration.pool, budget: configuration.budget,
                isCancelled: isCancelled)
            guard let list = coder as? ImageCoders else { return try coder.info(of: fetched.data, context: context) }
            return try list.info(of: fetched.data, hint: hint, context: context)
        }
    }

    private func encodedImage(
        _ fetched: FetchedData, _ info: ImageInfo, _ request: ImageRequest, key: ImageKey, time: Duration
    ) -> EncodedImage {
        var metrics = ImageMetrics()
        metrics.disk = fetched.diskTime
        metrics.load = fetched.loadTime
        metrics.decode = time
        metrics.bytes = fetched.data.count
        metrics.networkProtocol = fetched.networkProtocol
        return EncodedImage(
            data: fetched.data, info: info, source: fetched.source, url: request.url, key: key,
            mimeType: fetched.entry.mimeType, metrics: metrics)
    }
}
