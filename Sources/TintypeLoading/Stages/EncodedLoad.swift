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
        // Memory doesn't know whether a file has changed, and the disk does.
        if environment.isFile(request.url), request.cache.query.contains(.disk) { request.cache.query = .disk }
        let image = environment.key(for: request)
        load = ImageLoad(request, key: image, environment: environment, trace: trace)
        var key = load.key
        key.image = ImageKey(source: image.source, variant: image.variant.encoded(as: format, options))
        key.queriesVariant = environment.queriesVariants(request) && environment.mayStoreEncoded(of: request.url)
        key.product = .encoded
        (self.key, self.format, self.options) = (key, format, options)
    }

    /// The wishes of the request.
    private var wishes: LoadWishes {
        var wishes = load.wishes
        wishes.layers = wishes.layers.forEncoding
        if request.cache.store.contains(.disk), environment.mayStoreEncoded(of: request.url) {
            wishes.layers.insert(.imageOnDisk)
        }
        return wishes
    }

    /// The bytes as this request's result.
    func image() async throws(ImageError) -> EncodedImage {
        let value = try await environment.shared.work.value(.image(key), wishes, .encoded(self))
        guard case .encoded(let output) = value else { throw .cancelled }  // Never: the key says so.
        try environment.check(isAnimated: output.info.isAnimated, of: request)
        var metrics = output.made?.metrics(of: load.trace) ?? ImageMetrics(of: load.trace, nil)
        if output.made == nil { metrics.disk = output.diskTime.asPart(of: load.trace.id) }
        metrics.encode = output.encodeTime.asPart(of: load.trace.id)
        metrics.bytes = output.entry.data.count
        return EncodedImage(
            data: output.entry.data, info: output.info, source: output.source, freshness: output.freshness,
            url: request.url, key: key.image, mimeType: format.mimeType, metrics: metrics,
            storeError: request.cache.waitsForStore ? try await environment.firstError(of: output.writes) : nil,
            response: output.entry.answer)
    }

    func run(_ job: LoadWork.Job) async throws(ImageError) -> EncodedOutput {
        if var found = try await cached(job),
            let freshness = load.freshness(of: found.entry, revalidate: revalidateInBackground)
        {
            found.freshness = freshness
            return found
        }
        // While the source is asked, bytes on disk aren't held, but read once more afterwards.
        let made: PipelineOutput
        do throws(ImageError) {
            made = try await load.output(for: job)
        } catch {
            guard !error.isCancellation, var found = try await cached(job),
                environment.mayUse(found.entry.answer, after: error, of: request)
            else { throw error }
            found.freshness = .stale(.failed(error))
            return found
        }
        // What was made of bytes that are still current is current, too.
        if case .notModified = made.freshness, var found = try await cached(job),
            found.entry.validators == made.bytes?.entry.validators
        {
            found.entry.answer = made.image.response
            found.entry.created = environment.configuration.date()
            (found.made, found.freshness) = (made, .notModified)
            return found
        }
        let (encoded, time) = try await environment.observe(.encode, of: load.trace) { () throws(ImageError) in
            try await environment.encoded(
                made.image, of: request.url, as: format, options: options, priority: job.priority)
        }
        var entry = DiskCacheEntry(
            data: encoded.data, created: environment.configuration.date(), mimeType: format.mimeType,
            validators: made.bytes?.entry.validators)
        entry.answer = made.image.response
        return EncodedOutput(
            entry: entry, info: encoded.info, source: made.source, freshness: made.freshness, made: made,
            encodeTime: time)
    }

    private func revalidateInBackground() {
        environment.revalidateInBackground(request) { request, trace in
            let load = EncodedLoad(request, as: format, options, environment: environment, trace: trace)
            return (Revalidation(key: load.key, wishes: load.wishes), .encoded(load))
        }
    }

    /// The bytes as the disk has them, whatever their age.
    private func cached(_ job: LoadWork.Job) async throws(ImageError) -> EncodedOutput? {
        guard key.queriesVariant else { return nil }
        let (entry, time) = await environment.entry(
            for: key.image, in: environment.cache, of: load.trace, priority: job.priority)
        guard let entry, environment.accepts(entry.answer, for: request), await load.isCurrent(entry)
        else { return nil }
        do throws(ImageError) {
            let info = try await environment.info(
                of: entry.data, of: request.url, formatHint: format, priority: job.priority)
            return EncodedOutput(entry: entry, info: info, source: .disk, freshness: .cached, diskTime: time)
        } catch {
            guard !error.isCancellation else { throw error }
            if EntryCoder.shouldDiscardEntry(after: error) {
                await environment.cache.discard(key.image, since: key.fetch.removals.images)
            }
            return nil
        }
    }

    /// Stores the bytes, and for callers who came when the load of the image had ended, what they wish of that.
    func store(_ output: EncodedOutput, _ wishes: LoadWishes) async {
        guard let made = output.made else { return }
        await load.store(made, wishes.ofNeed)
        guard wishes.layers.contains(.imageOnDisk), load.mayKeep(made),
            // Nobody knows from which contents of a file an image in memory was made.
            made.bytes != nil || !environment.isFile(request.url)
        else { return }
        let write = await environment.write(
            key.image, to: environment.cache, since: (made.bytes?.removals ?? key.fetch.removals).images,
            of: made.bytes?.fetch ?? key.fetch, bytes: output.entry.data.count,
            lifetime: wishes.lifetime, madeOf: made.bytes?.entry, load.trace
        ) { () throws(ImageError) in output.entry }
        output.stores.add(write)
    }
}

/// The bytes of an image in a format of the caller's choice.
struct EncodedOutput: Sendable {
    var entry: DiskCacheEntry
    var info: ImageInfo
    var source: ImageOrigin
    var freshness: Freshness
    /// The image of which the bytes were made, or by which they were confirmed; `nil` if the disk had them.
    var made: PipelineOutput?
    var diskTime = StageTime.zero
    var encodeTime = StageTime.zero
    let stores = OutputStores()

    /// The writes to disk of the bytes, and of the image that they were made of.
    var writes: [Promise<ImageError?>] { (made?.stores.writes ?? []) + stores.writes }
}
