public import FoundationEssentials
internal import Logging

/// What the disk has of a source beside its bytes.
extension ImageManager {
    /// The keys of all that the disk cache has of a URL: the original, thumbnails and transformed images. ``removeAll(of:)``
    /// removes them together.
    public func cachedVariants(of url: URL) async -> [ImageKey] {
        let source = source(of: url)
        return await cache.variants(ofSource: source).map { ImageKey(source: source, variant: $0) }
    }

    /// Forgets every size and transform of a URL, in memory and on disk.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``
    public func removeAll(of url: URL) async throws(ImageError) {
        try await cache.removeAll(ofSource: source(of: url), from: .all)
    }

    private func source(of url: URL) -> String { key(for: ImageRequest(url)).source }

    /// A thumbnail, made of a larger one on the disk where the original is not there any more, instead of asking the
    /// source again; `nil` if there is none.
    func imageOfLargerVariant(_ work: DecodeWork, priority: WorkPriority) async -> ImageOutcome? {
        guard let box = work.options.thumbnailSize, !box.isEmpty, work.fetch.readsDisk, !work.fetch.refreshes else {
            return nil
        }
        let start = ContinuousClock.now
        let source = work.fetch.source
        guard !(await cache.contains(ImageKey(source: source), in: .disk).contains(.disk)) else { return nil }
        let wanted = ImageVariant(work.options)
        let larger = await cache.variants(ofSource: source).filter { wanted.canBeMade(of: $0) }
        func area(_ variant: ImageVariant) -> Double { variant.box.map { Double($0.width) * Double($0.height) } ?? 0 }
        let smallestFirst = larger.sorted { area($0) < area($1) }
        for variant in smallestFirst {
            let key = ImageKey(source: source, variant: variant)
            guard let entry = await cache.entry(forKey: key, priority: priority) else { continue }
            let fetched = FetchedData(entry, source: .disk, diskTime: ContinuousClock.now - start)
            if let image = await image(of: entry, work.options(), priority: priority) {
                return ImageOutcome(image: image.value, fetched: fetched, decodeTime: image.time)
            }
            guard !Task.isCancelled else { return nil }
            logger.warning("cached entry does not decode, removed: \(key)")
            _ = try? await cache.remove(key, from: .disk)
        }
        return nil
    }

    private func image(
        of entry: DiskCacheEntry, _ options: DecodeOptions, priority: WorkPriority
    ) async -> (value: Image, time: Duration)? {
        let (configuration, coders) = (configuration, coders)
        var options = options
        options.formatHint = nil  // That of the original; a variant says itself what it is.
        let start = ContinuousClock.now
        let image = try? await configuration.processing.decode(
            limits: configuration.limits, pool: configuration.pool, budget: configuration.budget, priority: priority
        ) { [options] context throws(ImageError) in
            try coders.decode(entry.data, options: options, context: context)
        }
        return image.map { ($0, ContinuousClock.now - start) }
    }
}
