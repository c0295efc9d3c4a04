internal import FoundationEssentials
internal import Logging

/// A load of an image, shared by all requests with its key: memory, disk, network, decode, transform, store.
final class ImageLoad: Sendable {
    let request: ImageRequest
    let key: ImageLoadKey
    let environment: LoadEnvironment
    /// True if memory is asked once more. Not part of the key: the image would be the same.
    private let queriesMemory: Bool
    /// The request of the caller, which has a transformer if this load makes the image for it.
    let callersRequest: ImageRequest
    let trace: LoadTrace

    /// - Parameters:
    ///   - request: The request as the environment prepared it.
    ///   - trace: The load of the caller.
    ///   - transformed: The load that needs this load for its transformer.
    ///   - removals: The removals when the bytes of the image were asked for; `nil` for the present counts.
    init(
        _ request: ImageRequest, key: ImageKey, environment: LoadEnvironment, trace: LoadTrace,
        for transformed: ImageLoad? = nil, since removals: SourceRemovals? = nil
    ) {
        self.request = request
        callersRequest = transformed?.callersRequest ?? request
        self.trace = trace
        self.environment = environment
        let policy = request.cachePolicy
        let queriesVariants = environment.queriesVariants(request)
        let isReload = transformed?.key.fetch.isReload ?? request.isReload
        queriesMemory = request.cache.query.contains(.memory) && policy != .reload
        let fetch = FetchKey(
            original: key.original, download: DownloadKey(request, environment), policy: policy,
            queriesDisk: environment.queriesDisk(request), isReload: isReload, retriesFailed: request.retriesFailed,
            removals: removals ?? transformed?.key.fetch.removals ?? environment.removals(ofSource: key.source))
        self.key = ImageLoadKey(
            image: key, fetch: fetch, allowsPartialImage: request.decode.allowsPartialImage,
            generation: environment.generation,
            queriesVariant: queriesVariants && !key.variant.isOriginal && policy != .revalidate
                && environment.mayStoreVariant(request),
            queriesOtherVariants: queriesVariants && !environment.loaders.isLocal(request.url),
            renewsByHTTP: request.renewsByHTTP,
            usesOriginalInMemory: request.transformer != nil && request.usesOriginalInMemory)
    }

    /// The output of the load, which starts unless it is under way.
    func output(
        _ wishes: LoadWishes, following priority: WorkPriority? = nil, onUpdate: (@Sendable (LoadUpdate) -> Void)? = nil
    ) async throws(ImageError) -> PipelineOutput {
        try Self.output(
            await environment.shared.work.value(
                .image(key), wishes, following: priority, onUpdate: onUpdate, .image(self)))
    }

    /// The output for a job that needs it.
    func output(
        for job: LoadWork.Job, onUpdate: (@Sendable (LoadUpdate) -> Void)? = nil
    ) async throws(ImageError) -> PipelineOutput {
        try Self.output(await job.value(.image(key), onUpdate: onUpdate, .image(self)))
    }

    private static func output(_ value: LoadValue) throws(ImageError) -> PipelineOutput {
        guard case .image(let output) = value else { throw .cancelled }  // Never: the key stands for an image.
        return output
    }

    func run(_ job: LoadWork.Job) async throws(ImageError) -> PipelineOutput {
        // Another load may have stored it since the caller looked.
        if queriesMemory, environment.cache.memory.contains(key.image),
            let image = environment.memoryImage(request, key: key.image),
            case .use(let freshness) = environment.decision(for: image.response, of: request)
        {
            if case .stale(.revalidating) = freshness { environment.revalidateInBackground(callersRequest) }
            return memoryOutput(image, freshness)
        }
        do throws(ImageError) {
            if let stored = try await storedVariant(job) { return stored }
            return try await request.transformer == nil ? makeDecoded(job) : makeTransformed(job)
        } catch {
            // If revalidating fails, the image in memory remains.
            guard key.fetch.policy == .revalidate || (key.fetch.policy == .http && queriesMemory),
                !error.isCancellation, let image = environment.ownMemoryImage(request, key: key.image),
                environment.mayUse(image.response, after: error, of: request)
            else { throw error }
            return memoryOutput(image, .stale(.failed(error)))
        }
    }

    private func memoryOutput(_ image: Image, _ freshness: Freshness) -> PipelineOutput {
        PipelineOutput(image: image, bytes: nil, source: .memory, freshness: freshness, isStored: true)
    }

    // MARK: Decode

    /// The options of the request, completed by the source's name and media type.
    func options(mimeType: String? = nil) -> DecodeOptions {
        request.decode.completed(fileName: request.url.fileName, mimeType: mimeType)
    }

    /// The image of the original, or of a larger thumbnail of it.
    private func makeDecoded(_ job: LoadWork.Job) async throws(ImageError) -> PipelineOutput {
        let previews = LoadPreviews(self, job)
        let source = SourceLoad(
            environment, request, key: key.fetch, decoding: .init(request, by: environment.ownCoder),
            for: callersRequest, trace: trace)
        let result: SourceLoad.Result<Decoded>
        do throws(ImageError) {
            result = try await source.value(for: job) {
                previews.receive($0)
            } substitute: { () throws(ImageError) in
                try await imageOfLargerVariant(job)
            } decode: { bytes throws(ImageError) in
                try await decoded(bytes, job, after: previews)
            }
        } catch {
            await previews.end(.failure(error))
            throw error
        }
        var image = result.value.image
        // An animation that plays already goes on, and ends where its file does.
        let animation = await previews.end(.success(result.bytes.data), isCut: image.isPartial)
        if let animation, image.isAnimated, animation.isPartial == image.isPartial { image = image.with(animation) }
        return PipelineOutput(
            image: image.with(result.bytes.entry.answer), bytes: result.bytes,
            source: result.source, freshness: result.freshness, decodeTime: result.value.time)
    }

    /// The image of the bytes of the source, if possible the one that the previews have made.
    func decoded(
        _ bytes: SourceBytes, _ job: LoadWork.Job, after previews: LoadPreviews? = nil
    ) async throws(ImageError) -> Decoded {
        if let image = bytes.image {
            let options = options()
            let (made, time) = try await environment.observe(.decode, of: trace) { () throws(ImageError) in
                try await environment.image(image, options: options, priority: job.priority)
            }
            return Decoded(image: made, time: time)
        }
        let (outdated, decoding) = await previews?.decoded(of: bytes) ?? (nil, nil)
        if let outdated { return outdated }
        return try await decode(bytes.data, options(mimeType: bytes.entry.mimeType), job, progressive: decoding)
    }

    /// An image, with the time that its decode took.
    struct Decoded: Sendable {
        var image: Image
        var time: StageTime
    }

    func decode(
        _ data: Data, _ options: DecodeOptions, _ job: LoadWork.Job, progressive: ProgressiveDecoding? = nil
    ) async throws(ImageError) -> Decoded {
        let (image, time) = try await environment.observe(.decode, of: trace) { image in
            ["size": "\(image.size)", "format": "\(image.format?.rawValue ?? "")"]
        } _: { () throws(ImageError) in
            try await environment.decode(
                data, of: request.url, options: options, priority: job.priority, progressive: progressive)
        }
        return Decoded(image: image, time: time)
    }
}
