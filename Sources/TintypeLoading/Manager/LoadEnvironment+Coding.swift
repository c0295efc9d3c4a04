internal import FoundationEssentials

/// Decoding and encoding on the processing queue.
extension LoadEnvironment {
    /// Counts the bytes of a source in the decode budget, as long as loads hold them.
    func reservation() -> BodyReservation { BodyReservation(configuration.budget) }

    /// The coders, limits, and shared resources for decoding and encoding.
    var entryCoder: EntryCoder {
        EntryCoder(
            coders: coders, limits: configuration.limits, pool: configuration.pool, budget: configuration.budget,
            processing: configuration.processing)
    }

    /// The same for the bytes of a URL.
    func entryCoder(of url: URL) -> EntryCoder {
        var coder = entryCoder
        coder.origin = origin(of: url)
        return coder
    }

    /// The server of a URL; `nil` for bytes of the user.
    func origin(of url: URL) -> String? {
        loaders.isLocal(url) ? nil : "\(url.scheme ?? "")://\(url.host() ?? ""):\(url.port ?? 0)"
    }

    /// Decodes on the processing queue, when the budget has room.
    func decode(
        _ data: Data, of url: URL, options: DecodeOptions, priority: WorkPriority,
        progressive: ProgressiveDecoding? = nil
    ) async throws(ImageError) -> Image {
        let coder = entryCoder(of: url)
        guard let progressive else { return try await coder.decode(data, options: options, priority: priority) }
        return try await coder.perform(priority: priority) { [coders] context throws(ImageError) in
            if let image = try progressive.finish(data, context) { return image }
            return try coders.decode(data, options: options, context: context)
        }
    }

    /// Reads the header on the processing queue.
    func info(
        of data: Data, of url: URL, formatHint: ImageFormat?, priority: WorkPriority
    ) async throws(ImageError) -> ImageInfo {
        try await configuration.processing.perform(priority: priority) { [self] isCancelled throws(ImageError) in
            try coders.info(of: data, hint: formatHint, context: headerContext(of: url, isCancelled))
        }
    }

    /// The context for reading the header of bytes of a URL.
    func headerContext(of url: URL, _ isCancelled: @escaping @Sendable () -> Bool = { false }) -> ProcessingContext {
        var context = ProcessingContext(
            limits: configuration.limits, pool: configuration.pool, budget: configuration.budget,
            isCancelled: isCancelled)
        context.origin = origin(of: url)
        return context
    }

    /// The entry of an image for the disk cache, with the properties that its file format doesn't keep.
    /// - Parameter data: The encoded image; `nil` to encode it.
    func encodedEntry(
        _ image: Image, as data: Data? = nil, options: EncodeOptions, priority: WorkPriority
    ) async throws(ImageError) -> DiskCacheEntry {
        let encoded: (data: Data, format: ImageFormat?)
        if let data {
            encoded = (data, ImageFormat(sniffing: data))
        } else {
            encoded = try await entryCoder.encode(image, options: options, priority: priority)
        }
        return DiskCacheEntry(
            data: encoded.data, created: configuration.date(), mimeType: encoded.format?.mimeType,
            imageProperties: StoredImageProperties(image.properties).encoded)
    }

    /// Encodes an image on the processing queue, and reads the header of the result.
    func encoded(
        _ image: Image, of url: URL, as format: ImageFormat, options: EncodeOptions, priority: WorkPriority
    ) async throws(ImageError) -> (data: Data, info: ImageInfo) {
        try await configuration.processing.perform(priority: priority, releasesImage: true) {
            [self] isCancelled throws(ImageError) in
            let data = try coders.encode(
                image, as: format, options: options, context: ProcessingContext(isCancelled: isCancelled))
            let info = try? coders.info(of: data, hint: format, context: headerContext(of: url, isCancelled))
            // A coder may write what no coder reads.
            return (data, info ?? ImageInfo(format: format, size: image.size, hasAlpha: image.hasAlpha))
        }
    }

    /// Returns an image as the options would have it decoded: in their size, with as many frames.
    func image(_ image: Image, options: DecodeOptions, priority: WorkPriority) async throws(ImageError) -> Image {
        let frames = options.firstFrameOnly ? image.firstFrame : image
        let scale = options.scale.map(Image.validScale) ?? frames.scale
        let whole = scale == frames.scale ? frames : frames.with { $0.scale = scale }
        let (limits, pool) = (configuration.limits, configuration.pool)
        let count = whole.animation?.frameCount ?? 1
        let pixelBytes = whole.pixels.format.bytesPerPixel
        let size = options.outputSize(for: whole.size, frameCount: count, bytesPerPixel: pixelBytes)
        guard size != whole.size else { return whole }
        try limits.check(size: whole.size, output: size, bytesPerPixel: pixelBytes)
        return try await configuration.processing.perform(priority: priority) { _ throws(ImageError) in
            try whole.resized(to: size, pool: pool).with { properties in
                properties.sourceSize = properties.sourceSize ?? whole.size
                properties.decodeOptions = options
            }
        }
    }
}
