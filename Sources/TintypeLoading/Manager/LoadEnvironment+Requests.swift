internal import FoundationEssentials

/// Requests as they are carried out, and their identities.
extension LoadEnvironment {
    /// The request as it is carried out: changed by the configuration, and without settings that make no difference.
    func prepared(_ request: ImageRequest) -> ImageRequest {
        var request = request
        if request.ownCachePolicy == nil, configuration.cachePolicy != .cacheFirst {
            request.cachePolicy = configuration.cachePolicy
        }
        if request.transformer == nil, let transformer = configuration.transformer {
            request.transformer = transformer(request.url)
        }
        if let processor = configuration.optionsProcessor { request = processed(request, by: processor) }
        if let list = request.transformer as? ImageTransformers, list.transformers.isEmpty { request.transformer = nil }
        if request.scalesDownLargeImages, request.decode.maximumBytes == nil {
            request.decode.maximumBytes = configuration.scaleDownLimit
        }
        return request
    }

    /// The request as the program's processor returns it. The processor sees the defaults of the configuration in their places.
    private func processed(_ request: ImageRequest, by processor: (ImageRequest) -> ImageRequest) -> ImageRequest {
        var filled = request
        if filled.cache.key == nil, configuration.cacheKey != nil { filled.cache.key = source(of: request) }
        var processed = processor(filled)
        // The processor may have changed what the key is made of.
        if request.cache.key == nil, processed.cache.key == filled.cache.key { processed.cache.key = nil }
        return processed
    }

    /// The identity of a URL in the caches.
    func source(of url: URL) -> String {
        // All URLs for which the program has no key would share an image.
        if let key = configuration.cacheKey?(url), !key.isEmpty { return key }
        return url.absoluteString
    }

    /// The identity of a request's source in the caches.
    func source(of request: ImageRequest) -> String {
        let source = sourceOfAnySize(of: request)
        return request.targetSize.map { "\($0.width)x\($0.height) \(source)" } ?? source
    }

    private func sourceOfAnySize(of request: ImageRequest) -> String {
        if let key = request.cache.key { return key }
        let source = source(of: request.url)
        guard let parts = request.box?.parts else { return source }
        var prefix = ""
        if let hooks = parts.hooks { prefix = "hooks=\(MD5.hexadecimal(hooks.identifier.utf8)) " }
        guard !parts.isPlainGet else { return prefix + source }
        let digest = parts.body.map { " " + MD5.hexadecimal($0) } ?? ""
        return "\(prefix)\(parts.method)\(digest) \(source)"
    }

    /// The cache key of a prepared request.
    func key(for request: ImageRequest) -> ImageKey {
        let source = source(of: request)
        guard
            request.transformer != nil || ownCoder != nil || request.cache.storesVariant
                || request.decode != DecodeOptions()
        else { return ImageKey(source: source) }
        let variant = ImageVariant(
            request.decode, transformer: request.transformer,
            transformsAnimatedImages: request.transformsAnimatedImages,
            transformsVectorImages: request.transformsVectorImages,
            coder: ownCoder?.identifier, coderToken: ownCoder?.token ?? 0,
            encoding: request.cache.storesVariant ? request.cache.encoding : nil)
        return ImageKey(source: source, variant: variant)
    }

    /// - Throws: ``ImageError/Code/notAnimated``.
    func check(isAnimated: Bool, of request: ImageRequest) throws(ImageError) {
        guard isAnimated || !request.requiresAnimation else {
            throw ImageError(
                .notAnimated, stage: .decode,
                reason: "the image isn't animated, but the request requires an animated image")
        }
    }

    /// - Throws: ``ImageError/Code/invalidURL`` or ``ImageError/Code/invalidRequest``.
    func check(_ request: ImageRequest) throws(ImageError) {
        let problem: (code: ImageError.Code, reason: String)
        if request.url.scheme == nil || request.url.absoluteString.isEmpty {
            problem = (.invalidURL, "the URL has no scheme, such as https:")
        } else if request.transformer?.hasEmptyKey == true {
            problem = (
                .invalidRequest, "a transformer of the request has an empty key, so its images can't be told apart"
            )
        } else if request.cache.key?.isEmpty == true {
            problem = (.invalidRequest, "the cache key or the identifier of the request is empty")
        } else if let method = request.box?.parts.method, !HTTPFields.isToken(method) {
            problem = (.invalidRequest, "the method of the request isn't an HTTP method: “\(method.prefix(20))”")
        } else {
            return
        }
        throw ImageError(problem.code, stage: .request, source: request.url.shortDescription, reason: problem.reason)
    }
}
