public import FoundationEssentials

extension ImageManager {
    /// Returns the animation at a URL, whose frames are decoded when they are due. See ``animatedImage(for:)-(ImageRequest)``.
    nonisolated(nonsending) public func animatedImage(for url: URL) async throws(ImageError) -> AnimatedImage {
        try await animatedImage(for: ImageRequest(url))
    }

    /// Returns an animation whose frames are decoded when they are due.
    ///
    /// Memory keeps its bytes and its first frame, and the disk its bytes; neither keeps all frames. As long as it is in memory, every load
    /// returns the same object, so that all players share its decoded frames. A still image has one frame, unless the request
    /// requires an animation (``ImageRequest/requiresAnimation``). The request's transformer doesn't apply: give it to the
    /// ``AnimatedImagePlayer``. Honors the cancellation of the calling task.
    /// - Throws: ``ImageError`` with the URL that failed, the stage, and the reason.
    nonisolated(nonsending) public func animatedImage(for request: ImageRequest) async throws(ImageError)
        -> AnimatedImage
    {
        var (request, environment) = prepared(request)
        request.transformer = nil
        do throws(ImageError) {
            let animated = try await environment.animatedImage(for: request)
            guard animated.isAnimated || !request.requiresAnimation else {
                throw ImageError(
                    .notAnimated, stage: .decode, reason: "the image is not animated, but the request requires that")
            }
            return animated
        } catch {
            throw error.withSource(request.url.shortDescription)
        }
    }
}

extension LoadEnvironment {
    /// Returns the animation of a prepared request, from memory or made of its bytes.
    fileprivate func animatedImage(for request: ImageRequest) async throws(ImageError) -> AnimatedImage {
        guard !Task.isCancelled else { throw ImageError.cancelled }
        try check(request)
        let plain = key(for: request)
        let key = ImageKey(
            source: plain.source, variant: ImageVariant(description: "animation;\(plain.variant.description)"))
        let asksMemory =
            request.queryFrom.contains(.memory)
            && (request.cachePolicy == .cacheFirst || request.cachePolicy == .cacheOnly)
        if asksMemory, let animation = cache.memoryImage(forKey: key)?.storage.animation { return animation }

        let mark = cache.removals?.mark
        let encoded = try await DataLoad(request, environment: self).image()
        var coder = entryCoder
        if let own = request.coder { coder.coders = ImageCoders([own]) }
        let options = request.decodeOptions.completed(
            fileName: request.url.lastPathComponent, mimeType: encoded.mimeType)
        let animated = try await coder.perform(priority: WorkPriority(request.priority)) {
            [coder] context throws(ImageError) in
            try AnimatedImage(encoded.data, options: options, coder, context: context)
        }
        guard request.storeTo.contains(.memory), request.coderToken == 0 else { return animated }
        // Another load may have come first: one object has the frames of all players.
        if let other = cache.memoryImage(forKey: key)?.storage.animation, other == animated { return other }
        let storage = Image.Storage(
            frames: animated.poster.frames, properties: animated.poster.properties, animation: animated)
        cache.storeInMemory(Image(storage: storage), forKey: key)
        if cache.removals?.hasRemoval(of: key, from: .memory, since: mark) ?? false {
            _ = try? await cache.remove(key, from: .memory)
        }
        return animated
    }
}
