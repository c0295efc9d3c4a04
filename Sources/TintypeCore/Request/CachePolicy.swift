/// The order in which a load asks the caches and the source.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// The caches first, then the source: the default.
    case cacheFirst
    /// The caches only. An image that isn't cached is the error ``ImageError/Code/notCached``.
    case cacheOnly
    /// The source only. The image is stored all the same, and replaces every cached variant of its source.
    case reload
    /// The source, with the validators of the cached image, which is shown meanwhile and remains the result if it is still current or
    /// if the source fails. ``ImageResult/freshness`` tells which.
    case revalidate

    /// True if a load asks the source even for a cached image.
    var asksSource: Bool { self == .reload || self == .revalidate }
}
