internal import FoundationEssentials
internal import Logging

extension ImageLoad {
    /// The finished thumbnail or transformed image as the disk has it, if the request stores such images.
    func storedVariant(_ job: LoadWork.Job) async throws(ImageError) -> PipelineOutput? {
        guard key.queriesVariant, let (bytes, decoded) = try await variant(key.image, nil, job),
            let freshness = freshness(
                of: bytes.entry, revalidate: { environment.revalidateInBackground(callersRequest) })
        else { return nil }
        return PipelineOutput(
            image: decoded.image.with(bytes.entry.answer), bytes: bytes, source: .disk, freshness: freshness,
            decodeTime: decoded.time, isStored: true)
    }

    /// The freshness of a variant that is used; `nil` if the original has to be asked for instead.
    /// - Parameter revalidate: Called if the source is to be asked in the background.
    func freshness(of variant: DiskCacheEntry, revalidate: () -> Void) -> Freshness? {
        // A file's image is known to be current.
        guard !environment.isFile(request.url) else { return .cached }
        guard case .use(let freshness) = environment.decision(for: variant.answer, of: request) else { return nil }
        if case .stale(.revalidating) = freshness { revalidate() }
        return freshness
    }

    /// A thumbnail that is made of a larger one, where the disk has lost the original; `nil` if there is none.
    func imageOfLargerVariant(_ job: LoadWork.Job) async throws(ImageError) -> SourceLoad.Result<Decoded>? {
        guard key.fetch.policy.ignoresAge, key.queriesOtherVariants, environment.ownCoder == nil,
            let box = request.thumbnailSize, !box.isEmpty
        else { return nil }
        let source = key.image.source
        let wanted = ImageVariant(request.decode)
        func area(_ variant: ImageVariant) -> Double { variant.box.map { Double($0.width) * Double($0.height) } ?? 0 }
        let stored = await environment.cache.disk?.variants(ofSource: source) ?? []
        let larger = stored.filter { wanted.canBeMade(of: $0) }
        guard !larger.isEmpty else { return nil }
        let (fetch, originals) = (key.fetch, environment.originals)
        if fetch.queriesDisk, await originals.contains(fetch.original, in: .disk).contains(.disk) { return nil }
        for variant in larger.sorted(by: { area($0) < area($1) }) {
            let key = ImageKey(source: source, variant: variant)
            if let (bytes, decoded) = try await self.variant(key, options(), job) {
                return SourceLoad.Result(value: decoded, bytes: bytes, freshness: .cached, source: .disk)
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
        let (entry, time) = await environment.entry(for: key, in: environment.cache, of: trace, priority: job.priority)
        guard let entry, environment.accepts(entry.answer, for: request), await isCurrent(entry) else { return nil }
        let bytes = SourceBytes(
            entry, source: .disk, isVariant: true, diskTime: time, reservation: environment.reservation())
        var options = thumbnail ?? DecodeOptions()
        options.formatHint = nil  // The same identity as the original's.
        options.page = 0  // It has no others.
        options.scale = self.options().scale
        options.decodeToHDR = request.decode.decodeToHDR
        options.keepsColorSpace = request.decode.keepsColorSpace
        let properties = entry.imageProperties.flatMap { StoredImageProperties($0) }
        if thumbnail != nil, let size = properties?.size(under: options) {
            (options.thumbnailSize, options.preservesAspectRatio) = (size, false)
        }
        do throws(ImageError) {
            var decoded = try await bytes.decoding { () throws(ImageError) in
                try await decode(entry.data, options, job)
            }
            if let properties {
                decoded.image = properties.restored(decoded.image, options: self.options())
            } else {
                decoded.image = decoded.image.with { $0.isTransformed = request.transformer != nil }
            }
            if thumbnail != nil {
                // The larger thumbnail may have another scale, and be an animation.
                decoded.image = decoded.image.with { [decoded] properties in
                    properties.scale = self.options().scale ?? 1
                    if !decoded.image.isAnimated { properties.loopCount = 0 }
                }
            }
            return (bytes, decoded)
        } catch {
            if error.isCancellation { throw error }
            if EntryCoder.shouldDiscardEntry(after: error) {
                environment.configuration.logger.warning(
                    "discarded a cached variant that couldn't be decoded: \(key): \(error.reason)")
                await environment.cache.discard(key, since: self.key.fetch.removals.images)
            }
            return nil
        }
    }
}
