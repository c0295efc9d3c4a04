public import FoundationEssentials

/// An image that isn't decoded: its bytes and its header.
///
/// In contrast, an ``Image`` always has its pixels.
public struct EncodedImage: Sendable {
    /// The bytes: as the source sent them, or as they were encoded for the request.
    public var data: Data
    /// The contents of the header.
    public var info: ImageInfo
    /// The place where the bytes were found.
    public var source: ImageOrigin
    /// The freshness of the bytes.
    public var freshness = Freshness.cached
    /// The URL of the request.
    public var url: URL
    /// The cache key of the bytes.
    public var key: ImageKey
    /// The media type that the source stated.
    public var mimeType: String?
    /// The durations of the stages; ``ImageMetrics/decode`` is the time that reading the header took.
    public var metrics: ImageMetrics
    /// The error of the write to disk, if the request waited for it: ``ImageRequest/CacheOptions/waitsForStore``.
    public var storeError: ImageError?
    /// The response that brought the bytes.
    var response: StoredResponse?
}

extension EncodedImage: CustomStringConvertible {
    /// The format, the number of bytes, the place, and the URL without user info and query values.
    public var description: String {
        "\(info.format.rawValue), \(ByteCount(data.count)) from \(source.rawValue): \(url.shortDescription)"
    }
}
