public import FoundationEssentials

/// An image with all that is known of how it was had.
public struct ImageResult: Sendable {
    public var image: Image
    /// The bytes as the source sent them; `nil` for an image out of memory.
    public var data: Data?
    public var source: ImageSource
    public var url: URL
    /// What the image is cached by.
    public var key: ImageKey
    /// The type that the server stated.
    public var mimeType: String?
    public var metrics: ImageMetrics
    /// Why the image could not be stored on disk, with ``ImageOptions/waitStoreCache``.
    public var storeError: ImageError?
}

/// Where an image was found.
public enum ImageSource: String, Sendable, Hashable, CaseIterable, Codable {
    case memory, disk, network
}

/// How long a load took in each stage, and what it moved.
///
/// Work that was shared with other loads counts in full for each.
public struct ImageMetrics: Sendable, Hashable {
    /// From the call to the result.
    public var total = Duration.zero
    /// Reading the disk cache.
    public var disk = Duration.zero
    /// Waiting for a loader, and the transfer.
    public var load = Duration.zero
    /// Waiting for a thread, and decoding.
    public var decode = Duration.zero
    public var transform = Duration.zero
    /// The encoded bytes that were read from disk or network.
    public var bytes = 0
    /// The protocol that was spoken, such as `HTTP/1.1`.
    public var networkProtocol: String?

    public init() {}
}

/// What happens during a load.
public enum ImageEvent: Sendable {
    case progress(ImageProgress)
    /// A picture that is not the last: of the bytes that have come, or what the cache has while it is refreshed.
    case preview(Image)
    /// The end; nothing comes after it.
    case finished(Result<ImageResult, ImageError>)
}

/// How much of the encoded image has come.
public struct ImageProgress: Sendable, Hashable {
    public var receivedBytes: Int
    /// `nil` if the source did not say.
    public var expectedBytes: Int?

    public init(receivedBytes: Int, expectedBytes: Int?) {
        self.receivedBytes = receivedBytes
        self.expectedBytes = expectedBytes
    }

    /// From 0 to 1; `nil` if it is not known how much is to come.
    public var fraction: Double? {
        guard let expectedBytes, expectedBytes > 0 else { return nil }
        return min(1, Double(receivedBytes) / Double(expectedBytes))
    }
}
