public import FoundationEssentials

extension ImageManager {
    /// Returns the bytes at a URL without decoding them. See ``data(for:)-(ImageRequest)``.
    /// - Parameter url: the URL.
    /// - Throws: ``ImageError`` with the URL.
    nonisolated(nonsending) public func data(for url: URL) async throws(ImageError) -> EncodedImage {
        try await data(for: ImageRequest(url))
    }

    /// Returns the bytes of an image, from disk or from a loader, without decoding them: to send them on, to write them to a file, or to
    /// decode them when the image is shown.
    ///
    /// The download is shared with loads of the image, and the bytes are stored on disk if the request's
    /// ``ImageRequest/CacheOptions/store`` says so. Only the header is read: bytes that no coder accepts as an image are an error, and are
    /// not stored. Memory isn't queried; thumbnails and transformers don't apply. Honors the cancellation of the calling task.
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

    /// The bytes of a prepared request.
    nonisolated(nonsending) static func data(
        _ request: ImageRequest, _ environment: LoadEnvironment
    ) async throws(ImageError) -> EncodedImage {
        let start = ContinuousClock.now
        let trace = environment.beginLoad(request)
        do throws(ImageError) {
            guard !Task.isCancelled else { throw ImageError.cancelled }
            try environment.check(request)
            var image = try await DataLoad(request, environment: environment, trace: trace).image()
            image.metrics.total = ContinuousClock.now - start
            environment.endLoad(trace, from: image.source, shared: image.metrics.shared)
            return image
        } catch {
            let error = error.withSource(request.url.shortDescription)
            environment.endLoad(trace, with: error)
            throw error
        }
    }
}
