internal import FoundationEssentials

extension ImageManager {
    /// Returns the bytes of an image, from disk or from a loader, without decoding them: to send them on, to write them to a file, or to
    /// decode them when the image is shown.
    ///
    /// The download is shared with loads of the image, and the bytes are stored on disk if the request's
    /// ``ImageRequest/CacheOptions/store`` says so. Only the header is read: bytes that no coder accepts as an image are an error, and are
    /// not stored. Bytes of a refresh that are damaged behind their header replace the cached image. Memory isn't queried; thumbnails and
    /// transformers don't apply. Honors the cancellation of the calling task.
    ///
    /// ```swift
    /// let encoded = try await manager.data(for: request)
    /// print(encoded.info.format, encoded.info.size, encoded.data.count)
    /// ```
    /// - Parameter request: the request.
    /// - Throws: ``ImageError`` with the URL that failed, the stage, and the reason.
    nonisolated(nonsending) public func data(for request: ImageRequest) async throws(ImageError) -> EncodedImage {
        let (request, environment) = prepared(request)
        return try await Self.data(request, environment)
    }

    /// Returns the image of a request in a format, for a server that sends thumbnails.
    ///
    /// ```swift
    /// let request = ImageRequest(url, thumbnailSize: PixelSize(width: 320, height: 320))
    /// let thumbnail = try await manager.encoded(for: request, as: .webp)
    /// ```
    ///
    /// The bytes are stored on disk if the request's ``ImageRequest/CacheOptions/store`` says so, beside the original, and then come from there:
    /// nothing is decoded, and nothing encoded. Until then, ``image(for:)-(ImageRequest)`` makes the image, and equal requests share the
    /// work. The bytes have the age of their original: the request's policy decides whether they may be used, and they are renewed when the
    /// source says that it hasn't changed.
    ///
    /// Bytes that the program passes are encoded each time: for uploads, use ``ImageRequest/init(identifier:mimeType:load:)``. An
    /// image that already has the format is encoded anew; ``data(for:)`` returns the bytes as they came. An animation keeps
    /// its frames if the format can have any. Honors the cancellation of the calling task.
    ///
    /// - Parameters:
    ///   - request: The image, with its size and its transformer. Its ``ImageRequest/CacheOptions/storesVariant`` has no effect.
    ///   - format: The format of the bytes, one of the ``ImageCoders/encodableFormats`` of ``coders``.
    ///   - options: The quality and all else that decides the bytes; part of their cache key.
    /// - Throws: ``ImageError`` with the URL that failed, the stage, and the reason; ``ImageError/Code/formatNotEncodable`` before anything is
    ///   loaded.
    nonisolated(nonsending) public func encoded(
        for request: ImageRequest, as format: ImageFormat, options: EncodeOptions = EncodeOptions()
    ) async throws(ImageError) -> EncodedImage {
        let (request, environment) = prepared(request)
        return try await Self.bytes(request, environment) { trace throws(ImageError) in
            _ = try environment.coders.encoder(of: format)
            let load = EncodedLoad(request, as: format, options, environment: environment, trace: trace)
            return try await load.image()
        }
    }

    /// The bytes of a prepared request, as its source sends them.
    nonisolated(nonsending) static func data(
        _ request: ImageRequest, _ environment: LoadEnvironment
    ) async throws(ImageError) -> EncodedImage {
        try await bytes(request, environment) { trace throws(ImageError) in
            try await DataLoad(request, environment: environment, trace: trace).image()
        }
    }

    private nonisolated(nonsending) static func bytes(
        _ request: ImageRequest, _ environment: LoadEnvironment,
        _ load: nonisolated(nonsending) (LoadTrace) async throws(ImageError) -> EncodedImage
    ) async throws(ImageError) -> EncodedImage {
        let start = ContinuousClock.now
        let trace = environment.beginLoad(request)
        do throws(ImageError) {
            guard !Task.isCancelled else { throw ImageError.cancelled }
            try environment.check(request)
            var image = try await load(trace)
            image.metrics.total = ContinuousClock.now - start
            environment.endLoad(trace, from: image.source, image.metrics)
            return image
        } catch {
            let error = error.withSource(request.url.shortDescription)
            environment.endLoad(trace, with: error)
            throw error
        }
    }
}
