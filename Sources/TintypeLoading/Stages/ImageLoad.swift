internal import FoundationEssentials
internal import Logging

/// A load of an image, shared by all requests with its key: memory, disk, network, decode, transform, store.
final class ImageLoad: Sendable {
    let request: ImageRequest
    let key: ImageLoadKey
    let environment: LoadEnvironment
    /// True if memory is asked once more. No part of the key: the image would be the same.
    private let queriesMemory: Bool
    /// The request of the caller: or the request of the load that needs this load.
    private let callersRequest: ImageRequest
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
        let isReload = transformed?.key.isReload ?? request.isReload
        queriesMemory = request.cache.query.contains(.memory) && policy.queriesMemory
        self.key = ImageLoadKey(
            image: key, allowsPartialImage: request.decode.allowsPartialImage,
            download: environment.downloadKey(for: request), generation: environment.generation, policy: policy,
            queriesDisk: environment.queriesDisk(request),
            queriesVariant: queriesVariants && !key.variant.isOriginal && policy != .revalidate
                && environment.mayStoreVariant(request),
            queriesOtherVariants: queriesVariants && !environment.loaders.isLocal(request.url),
            isReload: isReload,
            replacesVariants: callersRequest.storesAnything && (policy.asksSource || isReload),
            renewsByHTTP: request.renewsByHTTP,
            usesOriginalInMemory: request.transformer != nil && request.usesOriginalInMemory,
            retriesFailed: request.retriesFailed,
            removals: removals ?? transformed?.key.removals ?? environment.removals(ofSource: key.source))
    }

    /// The output of the load, which starts unless it is under way.
    func output(
        _ wishes: LoadWishes, priority: LoadPriority,
        onUpdate: (@Sendable (LoadUpdate) -> Void)? = nil
    ) async throws(ImageError) -> PipelineOutput {
        try Self.output(
            await environment.shared.work.value(
                .image(key), wishes, priority: priority, onUpdate: onUpdate, .image(self)))
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
            let image = environment.memoryImage(request, key: key.image)
        {
            switch environment.decision(for: image.response, of: request) {
            case .use(let reason):
                return memoryOutput(image, reason.map { .stale($0) } ?? .cached)
            case .useAndRevalidate:
                environment.revalidateInBackground(callersRequest)
                return memoryOutput(image, .stale(.revalidating))
            case .revalidate, .fetch, .fail: break
            }
        }
        do throws(ImageError) {
            if let stored = try await storedVariant(job) { return stored }
            return try await request.transformer == nil ? makeDecoded(job) : makeTransformed(job)
        } catch {
            // If revalidating fails, the image in memory remains.
            guard key.policy == .revalidate || (key.policy == .http && queriesMemory), !error.isCancellation,
                let image = environment.ownMemoryImage(request, key: key.image),
                environment.mayUse(image.response, after: error, of: request)
            else { throw error }
            return memoryOutput(image, .stale(.failed(error)))
        }
    }

    private func memoryOutput(_ image: Image, _ freshness: Freshness) -> PipelineOutput {
        PipelineOutput(image: image, bytes: nil, source: .memory, freshness: freshness, isStored: true)
    }

    // MARK: Transform

    /// The image of the same request without a transformer, transformed.
    private func makeTransformed(_ job: LoadWork.Job) async throws(ImageError) -> PipelineOutput {
        var plain = request
        plain.transformer = nil
        plain.transformsAnimatedImages = false
        plain.transformsVectorImages = false
        plain.cache.storesVariant = false
        plain.cache.query.remove(.memory)
        if request.cache.queryOriginal?.contains(.memory) == true { plain.cache.query.insert(.memory) }
        let full = plain
        // The memory cache has the image in the size that a request without a transformer gets.
        // The source has another identity for each size that is asked of it.
        if !key.usesOriginalInMemory, !plain.loadsTargetSize {
            plain.decode.shrink(for: request.transformer)
        }
        // In another size, only the transformed image is shown.
        var decoded = try await plainOutput(plain, job, showsUnchanged: plain.decode == full.decode)
        // An image that isn't transformed keeps its size.
        if plain.decode != full.decode, !isTransformed(decoded.image) {
            decoded = try await plainOutput(full, job, showsUnchanged: true, since: decoded.bytes?.removals)
        }
        var output = (value: decoded.image, time: StageTime.zero)
        if isTransformed(decoded.image) {
            output = try await environment.observe(.transform, of: trace) { () throws(ImageError) in
                try await applyTransformer(to: decoded.image, priority: job.priority)
            }
        }
        return PipelineOutput(
            image: output.value.with(decoded.image.response), bytes: decoded.bytes, source: decoded.source,
            freshness: decoded.freshness, decodeTime: decoded.decodeTime, transformTime: output.time)
    }

    /// The output of a request without a transformer. Its previews are transformed.
    private func plainOutput(
        _ plain: ImageRequest, _ job: LoadWork.Job, showsUnchanged: Bool, since removals: SourceRemovals? = nil
    ) async throws(ImageError) -> PipelineOutput {
        let load = ImageLoad(
            plain, key: environment.key(for: plain), environment: environment, trace: trace, for: self,
            since: removals)
        let previews = NewestWork<LoadUpdate> { [self] update in
            // A preview that cannot be transformed is left out; the image itself will tell why.
            switch update {
            case .preview(let image) where showsUnchanged || isTransformed(image):
                if let preview = await transformedPreview(image, job) { job.publish(.preview(preview)) }
            case .outdated(let image) where showsUnchanged || isTransformed(image):
                if let preview = await transformedPreview(image, job) { job.publish(.outdated(preview)) }
            default: break
            }
        }
        let result: Result<PipelineOutput, ImageError>
        do throws(ImageError) {
            let output = try await load.output(for: job) { update in
                switch update {
                case .preview, .outdated: previews.send(update)
                case .progress: job.publish(update)
                case .arriving, .asking: break
                }
            }
            result = .success(output)
        } catch {
            result = .failure(error)
        }
        await previews.end()
        return try result.get()
    }

    private func transformedPreview(_ preview: Image, _ job: LoadWork.Job) async -> Image? {
        // No frame is transformed before it is known whether all are.
        guard !preview.properties.mayMove || preview.isAnimated || request.transformsAnimatedImages else { return nil }
        return try? await applyTransformer(to: preview, priority: job.priority)
    }

    /// True if the request's transformer applies to an image of this kind.
    private func isTransformed(_ image: Image) -> Bool {
        (!image.isAnimated || request.transformsAnimatedImages) && (!image.isVector || request.transformsVectorImages)
    }

    private func applyTransformer(to image: Image, priority: WorkPriority) async throws(ImageError) -> Image {
        guard let transformer = request.transformer, isTransformed(image) else { return image }
        let configuration = environment.configuration
        let decodeOptions = request.decode
        return try await configuration.processing.perform(priority: priority) { isCancelled throws(ImageError) in
            try image.transformed(
                transformer,
                in: ProcessingContext(
                    limits: configuration.limits, pool: configuration.pool, isCancelled: isCancelled)
            ).with { properties in
                // The size at which the source was decoded for the transformer isn't a property of the result.
                properties.decodeOptions.thumbnailSize = decodeOptions.thumbnailSize
                properties.decodeOptions.coversThumbnailSize = decodeOptions.coversThumbnailSize
            }
        }
    }

    // MARK: Decode

    /// The options of the request, completed by the source's name and media type.
    private func options(mimeType: String? = nil) -> DecodeOptions {
        request.decode.completed(fileName: request.url.lastPathComponent, mimeType: mimeType)
    }

    /// The image of the original, or of a larger thumbnail of it.
    private func makeDecoded(_ job: LoadWork.Job) async throws(ImageError) -> PipelineOutput {
        let previews = LoadPreviews(self, job)
        let source = SourceLoad(
            environment, request, key: key.fetch, decoding: .init(request, by: environment.ownCoder),
            for: callersRequest,
            trace: trace)
        let result: SourceLoad.Result<Decoded>
        do throws(ImageError) {
            result = try await source.value(for: job) {
                previews.receive($0)
            } substitute: { () throws(ImageError) in
                try await imageOfLargerVariant(job)
            } isWhole: {
                !$0.image.isPartial
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
        if let animation, image.isAnimated, animation.isPartial == image.isPartial {
            image = image.with(animation)
        }
        return PipelineOutput(
            image: image.with(result.bytes.entry.response), bytes: result.bytes,
            source: result.bytes.source, freshness: result.freshness, decodeTime: result.value.time)
    }

    /// The image of the bytes of the source, if possible the one that the previews have made.
    private func decoded(
        _ bytes: SourceBytes, _ job: LoadWork.Job, after previews: LoadPreviews
    ) async throws(ImageError) -> Decoded {
        if let image = bytes.image {
            let options = options()
            let (made, time) = try await environment.observe(.decode, of: trace) { () throws(ImageError) in
                try await environment.image(image, options: options, priority: job.priority)
            }
            return Decoded(image: made, time: time)
        }
        let (outdated, decoding) = await previews.decoded(of: bytes)
        if let outdated { return outdated }
        return try await decoded(bytes, job, progressive: decoding)
    }

    /// Decodes the bytes of the source.
    func decoded(
        _ bytes: SourceBytes, _ job: LoadWork.Job, progressive: ProgressiveDecoding? = nil
    ) async throws(ImageError) -> Decoded {
        try await decode(
            bytes.data, options(mimeType: bytes.entry.mimeType), job, progressive: progressive)
    }

    /// A decoder of bytes that arrive; `nil` if the coder has none.
    func makeProgressiveDecoding() -> ProgressiveDecoding? {
        ProgressiveDecoding(
            environment.coders, options: options(), environment.configuration, environment.entryCoder(of: request.url))
    }

    /// An image, with the time that its decode took.
    struct Decoded: Sendable {
        var image: Image
        var time: StageTime
    }

    private func decode(
        _ data: Data, _ options: DecodeOptions, _ job: LoadWork.Job,
        progressive: ProgressiveDecoding? = nil
    ) async throws(ImageError) -> Decoded {
        let (image, time) = try await environment.observe(.decode, of: trace) { image in
            ["size": "\(image.size)", "format": "\(image.format?.rawValue ?? "")"]
        } _: { () throws(ImageError) in
            try await environment.decode(
                data, of: request.url, options: options, priority: job.priority, progressive: progressive)
        }
        return Decoded(image: image, time: time)
    }

    // MARK: Variants on disk

    /// The finished thumbnail or transformed image as the disk has it, if the request stores such images.
    private func storedVariant(_ job: LoadWork.Job) async throws(ImageError) -> PipelineOutput? {
        guard key.queriesVariant, let (bytes, decoded) = try await variant(key.image, nil, job),
            let freshness = freshness(
                of: bytes.entry, revalidate: { environment.revalidateInBackground(callersRequest) })
        else { return nil }
        return PipelineOutput(
            image: decoded.image.with(bytes.entry.response), bytes: bytes, source: .disk, freshness: freshness,
            decodeTime: decoded.time, isStored: true)
    }

    /// The freshness of a variant that is used; `nil` if the original has to be asked for instead.
    /// - Parameter revalidate: Called if the source is to be asked in the background.
    func freshness(of variant: DiskCacheEntry, revalidate: () -> Void) -> Freshness? {
        // A file's image is known to be current.
        guard !environment.isFile(request.url) else { return .cached }
        switch environment.decision(for: variant.response, of: request) {
        case .use(let reason): return reason.map { .stale($0) } ?? .cached
        case .useAndRevalidate:
            revalidate()
            return .stale(.revalidating)
        case .revalidate, .fetch, .fail: return nil
        }
    }

    /// A thumbnail that is made of a larger one, where the disk has lost the original; `nil` if there is none.
    private func imageOfLargerVariant(_ job: LoadWork.Job) async throws(ImageError) -> SourceLoad.Result<Decoded>? {
        guard key.policy.ignoresAge, key.queriesOtherVariants, environment.ownCoder == nil,
            let box = request.thumbnailSize, !box.isEmpty
        else { return nil }
        let source = key.image.source
        let wanted = ImageVariant(request.decode)
        func area(_ variant: ImageVariant) -> Double { variant.box.map { Double($0.width) * Double($0.height) } ?? 0 }
        let larger = await environment.cache.variants(ofSource: source).filter { wanted.canBeMade(of: $0) }
        guard !larger.isEmpty else { return nil }
        let original = ImageKey(source: source)
        if key.queriesDisk, await environment.originals.contains(original, in: .disk).contains(.disk) { return nil }
        for variant in larger.sorted(by: { area($0) < area($1) }) {
            let key = ImageKey(source: source, variant: variant)
            if let (bytes, decoded) = try await self.variant(key, options(), job) {
                return SourceLoad.Result(value: decoded, bytes: bytes, freshness: .cached)
            }
        }
        return nil
    }

    /// False for what was made of a file that has changed since.
    func isCurrent(_ variant: DiskCacheEntry) async -> Bool {
        guard environment.isFile(request.url) else { return true }
        let validators = await environment.loaders.currentValidators(of: request.url)
        return validators != nil && validators == variant.validators
    }

    /// Reads a variant from disk.
    /// - Parameter thumbnail: The options of a thumbnail of the variant; `nil` for the variant itself.
    private func variant(
        _ key: ImageKey, _ thumbnail: DecodeOptions?, _ job: LoadWork.Job
    ) async throws(ImageError) -> (SourceBytes, Decoded)? {
        let (entry, time) = await environment.entry(
            for: key, in: environment.cache, of: trace, priority: job.priority)
        guard let entry, environment.accepts(entry.response, for: request), await isCurrent(entry) else { return nil }
        let bytes = SourceBytes(
            entry, source: .disk, isVariant: true, diskTime: time,
            reservation: environment.reservation(bytes: entry.data.count))
        var options = thumbnail ?? DecodeOptions()
        options.formatHint = nil  // The same identity as the original's.
        options.scale = self.options().scale
        options.decodeToHDR = request.decode.decodeToHDR
        options.keepsColorSpace = request.decode.keepsColorSpace
        do throws(ImageError) {
            var decoded = try await decode(entry.data, options, job)
            let properties = entry.imageProperties.flatMap { StoredImageProperties($0) }
            if let properties {
                decoded.image = properties.restored(decoded.image, options: self.options())
            } else {
                decoded.image = decoded.image.with { $0.isTransformed = request.transformer != nil }
            }
            if thumbnail != nil {
                // The larger thumbnail may have another scale, and be an animation.
                decoded.image = decoded.image.with { [decoded] properties in
                    properties.scale = self.options().scale
                    if !decoded.image.isAnimated { properties.loopCount = 0 }
                }
            }
            return (bytes, decoded)
        } catch {
            if error.isCancellation { throw error }
            if EntryCoder.shouldDiscardEntry(after: error) {
                environment.configuration.logger.warning(
                    "discarded a cached variant that doesn't decode: \(key): \(error.reason)")
                await environment.cache.discard(key)
            }
            return nil
        }
    }
}
