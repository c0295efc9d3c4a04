internal import FoundationEssentials
internal import Logging

/// The stages of the pipeline. Each runs once for all who wait for its result, and asks only the stage before it.
extension ImageManager {
    typealias Context = SharedJobs<ImageWork, ImageOutcome, ImageUpdate>.Context

    /// The image, stored where the request wants it.
    func makeImage(
        _ request: ImageRequest, _ work: ImageWork, key: ImageKey, _ context: Context
    ) async -> Result<ImageOutcome, ImageError> {
        // Somebody may have stored it between the caller's look and now.
        if work.queriesMemory, let image = memoryImage(request, key: key) {
            return .success(ImageOutcome(image: image, isFromMemory: true))
        }
        var outcome: ImageOutcome
        let stored = await storedVariant(request, work, key: key, priority: context.priority)
        if let stored {
            outcome = stored
        } else {
            let made =
                request.transformer == nil
                ? await decodedImage(request, work.transform.decode, priority: context.priority, context.update)
                : await transformedImage(request, work.transform, priority: context.priority, context.update)
            switch made {
            case .success(let value): outcome = value
            case .failure(let error):
                // A refresh that fails leaves what is there, be it in memory alone.
                if work.refreshes, !error.isCancellation, let image = cache.memoryImage(forKey: key) {
                    return .success(ImageOutcome(image: image, isFromMemory: true))
                }
                return .failure(error)
            }
        }
        guard configuration.shouldCache?(outcome.image, request) ?? true else { return .success(outcome) }
        if stored == nil { outcome.storeError = await store(outcome, request, work, key: key) }
        if work.storeTo.contains(.memory), !outcome.image.isPartial {
            cache.storeInMemory(outcome.image, forKey: key)
        }
        return .success(outcome)
    }

    // MARK: Transform

    private func transformedImage(
        _ request: ImageRequest, _ work: TransformWork, priority: WorkPriority,
        _ update: @escaping @Sendable (ImageUpdate) -> Void
    ) async -> Result<ImageOutcome, ImageError> {
        await transforms.value(for: work, priority: priority, onUpdate: update) { [self] context in
            let decoded = await decodedImage(request, work, context)
            guard case .success(var outcome) = decoded else { return decoded }
            let start = ContinuousClock.now
            do throws(ImageError) {
                outcome.image = try await transformed(outcome.image, request, work, priority: context.priority)
            } catch {
                return .failure(error)
            }
            outcome.transformTime = ContinuousClock.now - start
            return .success(outcome)
        }
    }

    /// The decoded image; its previews are transformed like it on the way.
    private func decodedImage(
        _ request: ImageRequest, _ work: TransformWork,
        _ context: SharedJobs<TransformWork, ImageOutcome, ImageUpdate>.Context
    ) async -> Result<ImageOutcome, ImageError> {
        guard work.decode.isProgressive else {
            return await decodedImage(request, work.decode, priority: context.priority, context.update)
        }
        return await withNewest { [self] (preview: Image) in
            // A preview that cannot be transformed is left out; the image itself will tell why.
            if let image = try? await transformed(preview, request, work, priority: context.priority) {
                context.update(.preview(image))
            }
        } during: { [self] show in
            await decodedImage(request, work.decode, priority: context.priority) { update in
                if case .preview(let image) = update { show(image) } else { context.update(update) }
            }
        }
    }

    private func transformed(
        _ image: Image, _ request: ImageRequest, _ work: TransformWork, priority: WorkPriority
    ) async throws(ImageError) -> Image {
        guard let transformer = request.transformer, !image.isAnimated || work.includesAnimations else { return image }
        return try await configuration.processing.perform(priority: priority) { _ throws(ImageError) in
            try Self.transform(image, with: transformer)
        }
    }

    private static func transform(
        _ image: Image, with transformer: any ImageTransformer
    ) throws(ImageError) -> Image {
        do {
            guard image.isAnimated else { return try image.transformed(transformer) }
            let frames = try image.frames.map { frame in
                let picture = Image(pixels: frame.pixels, properties: image.properties)
                return ImageFrame(pixels: try transformer.transform(picture).pixels, duration: frame.duration)
            }
            var properties = image.properties
            properties.isTransformed = true
            guard let result = Image(frames: frames, properties: properties) else {
                throw ImageError(
                    .transformFailed, stage: .transform,
                    reason: "\(transformer.key) gave the frames of an animation different sizes")
            }
            return result
        } catch let error as ImageError {
            throw error
        } catch {
            throw ImageError(
                .transformFailed, stage: .transform, reason: "the transformer \(transformer.key) failed: \(error)",
                underlying: error)
        }
    }

    // MARK: Decode

    private func decodedImage(
        _ request: ImageRequest, _ work: DecodeWork, priority: WorkPriority,
        _ update: @escaping @Sendable (ImageUpdate) -> Void
    ) async -> Result<ImageOutcome, ImageError> {
        await decodes.value(for: work, priority: priority, onUpdate: update) { [self] context in
            if let made = await imageOfLargerVariant(work, priority: context.priority) { return .success(made) }
            let configuration = configuration
            let progressive =
                work.isProgressive
                ? ProgressiveDecode(request.coder ?? coders, options: work.options(), configuration) : nil
            let fetched: FetchedData
            switch await arrivingData(work, progressive, context) {
            case .success(let data): fetched = data
            case .failure(let error): return .failure(error)
            }
            let result = await decode(fetched, request, work, priority: context.priority, progressive)
            guard case .failure(let error) = result, !error.isCancellation else { return result }
            guard fetched.source == .disk else {
                rememberFailure(error, of: work.fetch)
                return result
            }
            return await reload(after: error, request, work, context)
        }
    }

    /// The bytes of a source. While they arrive, previews are made of them and told.
    private func arrivingData(
        _ work: DecodeWork, _ progressive: ProgressiveDecode?,
        _ context: SharedJobs<DecodeWork, ImageOutcome, ImageUpdate>.Context
    ) async -> Result<FetchedData, ImageError> {
        guard let progressive else {
            return await fetchedData(work.fetch, priority: context.priority) { context.update(.progress($0.progress)) }
        }
        let processing = configuration.processing
        return await withNewest { (data: ArrivingData) in
            let preview = try? await processing.perform(priority: context.priority) { isCancelled in
                progressive.preview(of: data, isCancelled: isCancelled)
            }
            if let preview = preview ?? nil { context.update(.preview(preview)) }
        } during: { [self] arrive in
            await fetchedData(work.fetch, priority: context.priority) { update in
                context.update(.progress(update.progress))
                arrive(update.data)
            }
        }
    }

    /// An entry that does not decode is worth nothing: it goes, and the source is asked once more.
    private func reload(
        after error: ImageError, _ request: ImageRequest, _ work: DecodeWork,
        _ context: SharedJobs<DecodeWork, ImageOutcome, ImageUpdate>.Context
    ) async -> Result<ImageOutcome, ImageError> {
        guard Self.isWorthless(after: error) else { return .failure(error) }
        await forget(work.fetch, after: error)
        guard work.fetch.mayLoad else { return .failure(error) }
        var anew = work.fetch
        anew.readsDisk = false
        let update: @Sendable (FetchUpdate) -> Void = { context.update(.progress($0.progress)) }
        switch await fetchedData(anew, priority: context.priority, update) {
        case .failure(let error): return .failure(error)
        case .success(let fetched):
            let result = await decode(fetched, request, work, priority: context.priority)
            if case .failure(let error) = result { rememberFailure(error, of: anew) }
            return result
        }
    }

    /// Whether an entry that could not be read is worth nothing: a limit of this program's says nothing against it.
    static func isWorthless(after error: ImageError) -> Bool {
        !error.isCancellation && ![.limitExceeded, .outOfMemory, .formatNotEnabled].contains(error.code)
    }

    /// Removes an entry that could not be read.
    func forget(_ work: FetchWork, after error: ImageError) async {
        logger.warning("cached entry does not decode, removed: \(work.source): \(error.reason)")
        _ = try? await cache.remove(ImageKey(source: work.source), from: .disk)
    }

    private func decode(
        _ fetched: FetchedData, _ request: ImageRequest, _ work: DecodeWork, priority: WorkPriority,
        _ progressive: ProgressiveDecode? = nil
    ) async -> Result<ImageOutcome, ImageError> {
        let configuration = configuration
        let coder = request.coder ?? coders
        let start = ContinuousClock.now
        do throws(ImageError) {
            let image = try await configuration.processing.decode(
                limits: configuration.limits, pool: configuration.pool, budget: configuration.budget, priority: priority
            ) { context throws(ImageError) in
                if let image = try progressive?.finish(bytes: fetched.data.count, context) { return image }
                return try coder.decode(
                    fetched.data, options: work.options(mimeType: fetched.entry.mimeType), context: context)
            }
            return .success(
                ImageOutcome(image: image, fetched: fetched, decodeTime: ContinuousClock.now - start))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Fetch

    func fetchedData(
        _ work: FetchWork, priority: WorkPriority, _ update: @escaping @Sendable (FetchUpdate) -> Void
    ) async -> Result<FetchedData, ImageError> {
        await fetches.value(for: work, priority: priority, onUpdate: update) { [self] context in
            let start = ContinuousClock.now
            let entry =
                work.readsDisk
                ? await cache.entry(forKey: ImageKey(source: work.source), priority: context.priority) : nil
            let diskTime = ContinuousClock.now - start
            let cached = entry.map { FetchedData($0, source: .disk, diskTime: diskTime) }
            if let cached, !work.refreshes || !work.mayLoad { return .success(cached) }
            do throws(ImageError) {
                try allowLoad(work)
                return .success(try await load(work, validators: entry?.validators, diskTime: diskTime, context))
            } catch {
                // A refresh that brings nothing new, or fails, leaves what is there.
                if let cached, !error.isCancellation { return .success(cached) }
                return .failure(error)
            }
        }
    }

    private func allowLoad(_ work: FetchWork) throws(ImageError) {
        guard work.mayLoad else {
            throw ImageError(
                .notCached, stage: .cache, reason: "the image is not cached, and only the cache was to be asked")
        }
        let configuration = configuration
        if let shouldDownload = configuration.shouldDownload, !shouldDownload(work.url) {
            throw ImageError(.loadingDisallowed, stage: .request, reason: "the program does not allow to load this URL")
        }
        guard loader.canLoad(work.url) else {
            throw ImageError(
                .invalidURL, stage: .request,
                reason: "no loader takes URLs that begin with \(work.url.scheme ?? "")")
        }
        guard !work.retriesFailed else { return }
        let failure = failures.withLock { $0.failure(of: work.url.absoluteString, at: configuration.now()) }
        if let failure {
            throw ImageError(
                .recentlyFailed, stage: .request,
                reason: "failed a short while ago and is not tried again yet: \(failure.reason)",
                statusCode: failure.statusCode, underlying: failure)
        }
    }

    private func load(
        _ work: FetchWork, validators: CacheValidators?, diskTime: Duration,
        _ context: SharedJobs<FetchWork, FetchedData, FetchUpdate>.Context
    ) async throws(ImageError) -> FetchedData {
        let start = ContinuousClock.now
        let arriving = ArrivingData()
        let request = LoadRequest(
            url: work.url, headers: work.headers, priority: context.priority, validators: validators
        ) { progress in
            arriving.append(progress)
            let seen = ImageProgress(receivedBytes: progress.receivedBytes, expectedBytes: progress.expectedBytes)
            context.update(FetchUpdate(progress: seen, data: arriving))
        }
        let loaded: LoadedData
        do throws(ImageError) {
            loaded = try await loader.load(request)
            guard !loaded.data.isEmpty else {
                throw ImageError(.emptyBody, stage: .load, reason: "the source sent no bytes")
            }
        } catch {
            rememberFailure(error, of: work)
            throw error
        }
        failures.withLock { $0.remove(work.url.absoluteString) }
        let entry = DiskCacheEntry(
            data: loaded.data, created: configuration.date(), mimeType: loaded.mimeType, validators: loaded.validators)
        return FetchedData(
            entry, source: .network, diskTime: diskTime, loadTime: ContinuousClock.now - start,
            networkProtocol: loaded.networkProtocol)
    }

    func rememberFailure(_ error: ImageError, of work: FetchWork) {
        guard !error.isCancellation, !loader.isLocal(work.url), loader.shouldRememberFailure(error) else { return }
        let now = configuration.now()
        failures.withLock { $0.insert(work.url.absoluteString, error, at: now) }
    }
}
