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
        if let animated = environment.animationInMemory(request), animated.isAnimated || !request.requiresAnimation {
            environment.countMemoryHit()
            return animated
        }
        let trace = environment.beginLoad(request)
        do throws(ImageError) {
            let (animated, encoded) = try await environment.animatedImage(for: request, trace)
            guard animated.isAnimated || !request.requiresAnimation else {
                throw ImageError(
                    .notAnimated, stage: .decode, reason: "the image is not animated, but the request requires that")
            }
            environment.endLoad(trace, from: encoded?.source ?? .memory, shared: encoded?.metrics.shared ?? [])
            return animated
        } catch {
            let error = error.withSource(request.url.shortDescription)
            environment.endLoad(trace, with: error)
            throw error
        }
    }
}

extension ImageManager {
    /// Returns the animation whose first frame a display has just loaded; `nil` if the image is still, or its bytes are no animation.
    ///
    /// The display's load is counted already; this is a part of it.
    /// - Throws: An error that may pass, such as that of a source that can't be reached.
    package func displayAnimation(
        for request: ImageRequest, _ result: ImageResult
    ) async throws(ImageError) -> AnimatedImage? {
        var (request, environment) = prepared(request)
        request.transformer = nil
        // The bytes were just loaded; they aren't asked for again.
        if request.cachePolicy != .cacheOnly { request.cachePolicy = .cacheFirst }
        do throws(ImageError) {
            guard let data = result.data else {
                return try await environment.animatedImage(for: request, LoadTrace()).0
            }
            let info = try await environment.info(
                of: data, formatHint: request.decode.formatHint ?? result.image.format,
                priority: WorkPriority(request.priority))
            guard info.frameCount > 1 else { return nil }
            var encoded = EncodedImage(
                data: data, info: info, source: result.source, url: result.url, key: result.key,
                mimeType: result.mimeType)
            encoded.removals = result.removals
            return try await environment.animatedImage(for: request, LoadTrace(), loaded: encoded).0
        } catch {
            guard error.stage == .decode, !error.isCancellation else { throw error }
            return nil
        }
    }
}

extension ImageManager {
    /// Keeps an animation that a display has played while it arrived, so that later loads return it.
    package func keep(_ animation: AnimatedImage, for request: ImageRequest, _ result: ImageResult) async {
        var (request, environment) = prepared(request)
        request.transformer = nil
        _ = environment.stored(
            animation, for: request, result.image.response,
            since: result.removals ?? environment.removals(ofSource: environment.source(of: request)))
    }
}

extension LoadEnvironment {
    private func animationKey(_ request: ImageRequest) -> ImageKey {
        let plain = key(for: request)
        return ImageKey(
            source: plain.source, variant: ImageVariant(description: "animation;\(plain.variant.description)"))
    }

    /// Returns the animation of a prepared request from memory, if the request allows that.
    fileprivate func animationInMemory(_ request: ImageRequest) -> AnimatedImage? {
        guard request.cache.query.contains(.memory),
            request.cachePolicy.ignoresAge, !Task.isCancelled,
            let found = cache.memoryImage(forKey: animationKey(request)), let animation = found.animation,
            accepts(found.response, for: request)
        else { return nil }
        return animation
    }

    /// Returns the animation of a prepared request, and the bytes that it was made of unless it was in memory.
    /// - Parameter loaded: the bytes, if the program has them already.
    fileprivate func animatedImage(
        for request: ImageRequest, _ trace: LoadTrace, loaded: EncodedImage? = nil
    ) async throws(ImageError) -> (AnimatedImage, EncodedImage?) {
        guard !Task.isCancelled else { throw ImageError.cancelled }
        try check(request)
        if let animation = animationInMemory(request), loaded == nil || loaded?.data == animation.data {
            return (animation, nil)
        }
        let now = removals(ofSource: source(of: request))
        let encoded: EncodedImage
        if let loaded {
            encoded = loaded
        } else {
            encoded = try await DataLoad(request, environment: self, trace: trace).image()
        }
        let coder = entryCoder(of: request.url)
        let options = request.decode.completed(
            fileName: request.url.lastPathComponent, mimeType: encoded.mimeType)
        let (animated, _) = try await observe(.decode, of: trace) { [coder] () throws(ImageError) in
            try await coder.perform(priority: WorkPriority(request.priority)) { [coder] context throws(ImageError) in
                try AnimatedImage(encoded.data, options: options, coder, context: context)
            }
        }
        return (stored(animated, for: request, encoded.response, since: encoded.removals ?? now), encoded)
    }

    /// Stores an animation in memory, if the request allows that.
    /// - Returns: the equal one that is there already: one object has the frames of all players.
    fileprivate func stored(
        _ animated: AnimatedImage, for request: ImageRequest, _ response: StoredResponse?,
        since removals: SourceRemovals
    ) -> AnimatedImage {
        guard request.cache.store.contains(.memory), mayStore(response, for: request),
            configuration.shouldCache?(animated.poster, request) ?? true
        else {
            return animated
        }
        let key = animationKey(request)
        if let found = cache.memoryImage(forKey: key), let other = found.animation, other == animated,
            found.response == response
        {
            return other
        }
        cache.storeInMemory(animated.poster.with(animated).with(response), forKey: key) { [cache] in
            cache.removalCount(ofSource: key.source).permitsStoreInMemory(since: removals.images)
        }
        return animated
    }
}
