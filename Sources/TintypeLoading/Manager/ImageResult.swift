public import FoundationEssentials

/// An image and the details of its load.
public struct ImageResult: Sendable {
    /// The decoded and transformed image.
    public var image: Image
    /// The bytes as the source sent them; `nil` for a stored variant, and for an image from memory unless the request has
    /// ``ImageRequest/CacheOptions/queriesData``.
    public var data: Data?
    /// The place where the image was found.
    public var source: ImageOrigin
    /// The freshness of the image.
    public var freshness = Freshness.cached
    /// The URL of the request.
    public var url: URL
    /// The cache key of the image.
    public var key: ImageKey
    /// The media type that the source stated.
    public var mimeType: String?
    /// The head of the source's answer, if it was asked.
    public var response: ResponseHead?
    /// The times of the stages, and the bytes of the transfer.
    public var metrics = ImageMetrics()
    /// The error of the write to disk, if the request waited for it: ``ImageRequest/CacheOptions/waitsForStore``.
    public var storeError: ImageError?

    /// Creates a result. Each parameter sets the property of the same name.
    public init(
        image: Image, data: Data? = nil, source: ImageOrigin, url: URL, key: ImageKey, mimeType: String? = nil
    ) {
        (self.image, self.data, self.mimeType) = (image, data, mimeType)
        (self.source, self.url, self.key) = (source, url, key)
    }
}

extension ImageResult: CustomStringConvertible {
    /// The image, the place, and the URL without user info and query values.
    public var description: String { "\(image) from \(source.rawValue): \(url.shortDescription)" }
}

/// The place where an image was found.
public enum ImageOrigin: String, Sendable, Hashable, CaseIterable, Codable {
    /// The cache in memory.
    case memory
    /// The cache on disk.
    case disk
    /// The loader, which may also have read a file.
    case network
}

/// The freshness of an image.
public enum Freshness: Sendable {
    /// The image was cached, and its source wasn't asked: it is fresh, or the policy ignores its age.
    case cached
    /// The source sent the image for this load.
    case fresh
    /// The image was cached, and its source confirmed that it is still current.
    case notModified
    /// The image was cached, but its source sent a new image for this load.
    case updated
    /// The image was cached and may be out of date.
    case stale(StaleReason)
}

/// An event during a load.
///
/// ```swift
/// for await event in manager.task(for: request).events {
///     if case .progress(let progress) = event { show(progress.fraction) }
/// }
/// ```
public enum ImageEvent: Sendable {
    /// More bytes have arrived.
    case progress(ImageProgress)
    /// A preliminary image: a decode of the bytes so far, or the cached image during revalidation.
    case preview(Image)
    /// The end; no event follows.
    case finished(Result<ImageResult, ImageError>)
}

/// The progress of a transfer. In the events of a load, ``fraction`` never decreases, even if a transfer is repeated.
public struct ImageProgress: Sendable, Hashable {
    /// The number of bytes that have arrived.
    public var receivedBytes: Int
    /// The total number of bytes; `nil` if the source didn't announce it.
    public var expectedBytes: Int?
    /// The format, the size, and the other contents of the image's header once they have arrived, so that a program can reserve space for
    /// the image. It is `nil` before that, and if the bytes arrive in one piece or don't start like an image. The manager's coders read it.
    public var header: ImageInfo?

    /// Creates a progress. Each parameter sets the property of the same name.
    public init(receivedBytes: Int, expectedBytes: Int?, header: ImageInfo? = nil) {
        (self.receivedBytes, self.expectedBytes, self.header) = (receivedBytes, expectedBytes, header)
    }

    /// The received part, from 0 to 1; `nil` if the expected size is unknown.
    public var fraction: Double? {
        guard let expectedBytes, expectedBytes > 0 else { return nil }
        return min(1, Double(receivedBytes) / Double(expectedBytes))
    }
}
