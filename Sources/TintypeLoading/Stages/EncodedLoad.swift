internal import FoundationEssentials

/// One load of an image in a format of the caller's choice, shared by all requests with its key: from disk, or encoded anew.
struct EncodedLoad: Sendable {
    private let load: ImageLoad
    private let key: ImageLoadKey
    private let format: ImageFormat
    private let options: EncodeOptions

    private var environment: LoadEnvironment { load.environment }
    private var request: ImageRequest { load.request }

    init(
        _ request: ImageRequest, as format: ImageFormat, _ options: EncodeOptions, environment: LoadEnvironment,
        trace: LoadTrace
    ) {
        var request = request
        // The disk gets the bytes of this format instead.
        request.cache.storesVariant = false
        let image = environment.key(for: request)
        load = ImageLoad(request, key: image, environment: environment, trace: trace)
        var key = load.key
        key.image = ImageKey(source: image.source, variant: image.variant.encoded(as: format, options))
        key.queriesVariant =
            environment.queriesVariants(request) && request.cachePolicy != .revalidate
            && environment.mayStoreVariants(of: request.url)
        key.product = .encoded
        (self.key, self.format, self.options) = (key, format, options)
    }

    /// The bytes as this request's result.
    func image() async throws(ImageError) -> EncodedImage {
        let work = LoadWork.Work { [self] job async throws(ImageError) in
            .encoded(try await run(job))
        } store: { [self] value, wishes in
            if case .encoded(let output) = value { await store(output, wishes) }
        }
        let value = try await environment.shared.work.value(
            .image(key), wishes, priority: LoadPriority(request.priority), work)
        guard case .encoded(let output) = value else { throw .cancelled }  // Never: the key is that of such bytes.
        if let image = output.made?.image { try environment.check(image, of: request) }
        return await result(output)
    }

    /// The image and its original are stored by the loads that this one needs, which have these wishes with other names.
    private var wishes: LoadWishes {
        var wishes = load.wishes
        if wishes.layers.remove(.imageInMemory) != nil { wishes.layers.insert(.originalInMemory) }
        if request.cache.store.contains(.disk), environment.cache.hasDisk,
            environment.mayStoreVariants(of: request.url)
        {
            wishes.layers.insert(.imageOnDisk)
        }
        return wishes
    }

    private func run(_ job: LoadWork.Job) async throws(ImageError) -> EncodedOutput {
        if let stored = try await stored(job) { return stored }
        let made = try await load.output(for: job)
        let (encoded, time) = try await environment.observe(.encode, of: load.trace) { () throws(ImageError) in
            try await environment.encoded(made.image, as: format, options: options, priority: job.priority)
        }
        let entry = DiskCacheEntry(
            data: encoded.data, created: environment.configuration.date(), mimeType: format.mimeType,
            validators: environment.isFile(request.url) ? made.bytes?.entry.validators : nil,
            response: made.image.response)
        return EncodedOutput(
            entry: entry, info: encoded.info, source: made.source, freshness: made.freshness, made: made,
            encodeTime: time, encodedBy: load.trace.id)
    }

    /// The bytes as the disk has them.
    private func stored(_ job: LoadWork.Job) async throws(ImageError) -> EncodedOutput? {
        guard key.queriesVariant else { return nil }
        let (entry, time) = await environment.entry(
            for: key.image, in: environment.cache, of: load.trace, priority: job.priority)
        guard let entry, environment.accepts(entry.response, for: request), await load.isCurrent(entry),
            let freshness = load.freshness(of: entry)
        else { return nil }
        do throws(ImageError) {
            let info = try await environment.info(of: entry.data, formatHint: format, priority: job.priority)
            // A format may have lost the frames of an animation.
            guard info.isAnimated || !request.requiresAnimation else { return nil }
            return EncodedOutput(entry: entry, info: info, source: .disk, freshness: freshness, diskTime: time)
        } catch {
            guard !error.isCancellation else { throw error }
            if EntryCoder.shouldDiscardEntry(after: error) { await environment.cache.discard(key.image) }
            return nil
        }
    }

    private func store(_ output: EncodedOutput, _ wishes: LoadWishes) async {
        guard wishes.layers.contains(.imageOnDisk), let made = output.made, !made.image.isPartial,
            // Nobody knows from which contents of a file an image in memory was made.
            made.bytes != nil || !environment.isFile(request.url),
            environment.mayStore(made.image.response, for: request),
            made.mayBeCached({ environment.configuration.shouldCache?(made.image, request) ?? true })
        else { return }
        let (cache, source) = (environment.cache, key.image.source)
        let removals = made.bytes?.removals ?? key.removals
        var entry = output.entry
        entry.limit(to: wishes.lifetime)
        let write = Promise<ImageError?>()
        output.writes.append(write)
        await environment.begin(write, of: load.key.fetch, bytes: entry.data.count, load.trace) {
            [entry] () throws(ImageError) in
            try await cache.store(entry, forKey: key.image) {
                cache.removalCount(ofSource: source).permitsStoreOnDisk(since: removals.images)
            }
        }
    }

    private func result(_ output: EncodedOutput) async -> EncodedImage {
        var image = EncodedImage(
            data: output.entry.data, info: output.info, source: output.source, url: request.url, key: key.image,
            mimeType: format.mimeType)
        image.freshness = output.freshness
        image.response = output.entry.response
        image.storeError = request.cache.waitsForStore ? await output.error : nil
        image.metrics.request = load.trace.id
        image.metrics.disk = output.diskTime
        image.metrics.encode = output.encodeTime
        image.metrics.bytes = output.entry.data.count
        guard let made = output.made else { return image }
        image.metrics.shared = made.sharedStages(with: load.trace.id)
        if output.encodedBy != load.trace.id { image.metrics.shared.insert(.encode) }
        image.metrics.decode = made.decodeTime
        image.metrics.transform = made.transformTime
        image.metrics.load = made.bytes?.loadTime ?? .zero
        image.metrics.disk = made.bytes?.diskTime ?? .zero
        image.metrics.networkProtocol = made.bytes?.response?.networkProtocol
        return image
    }
}

/// The bytes of an image in a format of the caller's choice.
struct EncodedOutput: Sendable {
    var entry: DiskCacheEntry
    var info: ImageInfo
    var source: ImageSource
    var freshness: Freshness
    /// The image of which the bytes were made; `nil` if the disk had them.
    var made: PipelineOutput?
    var diskTime = StageTime.zero
    var encodeTime = StageTime.zero
    /// The number of the load that encoded the image.
    var encodedBy: Int?
    /// The writes to disk that the load began.
    let writes = DiskWrites()

    /// The first error of the writes, once all have ended.
    var error: ImageError? {
        get async {
            if let error = await made?.writes.error { return error }
            return await writes.error
        }
    }
}
