/// The order of caches and source in a load.
///
/// `cacheFirst` ignores the age of an image. `http` obeys the source's caching headers, and `staleWhileRevalidate` shows the cached image
/// first and revalidates it afterwards.
///
/// ```swift
/// request.cachePolicy = .http  // as a browser does: fresh for as long as the server says
/// ```
public enum CachePolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// The caches first, then the source: the default. A cached image is used regardless of its age.
    case cacheFirst
    /// The rules of HTTP for a private cache (RFC 9111): a cached image is used while it is fresh, and then revalidated. Images aren't
    /// stored if their source forbids that. Files are read again each time. Images of other loaders without HTTP are handled as with
    /// ``cacheFirst``.
    case http
    /// The cached image first. Then, unless the image is known to be fresh, its source in the background, so that a later load gets the
    /// newer image. As with ``http``, images aren't stored if their source forbids that, or if the method of the request isn't `GET`.
    case staleWhileRevalidate
    /// The source, with the validators of the cached image. The cached image is shown meanwhile, and is the result if it is still current
    /// or if the source fails: see ``ImageResult/freshness``. A fresh image that is `immutable` is used without asking the source (RFC
    /// 8246).
    case revalidate
    /// The source only. The image is still stored, and replaces every cached variant of its source.
    case reload
    /// The caches only. If the image isn't cached, the load ends with ``ImageError/Code/notCached``.
    case cacheOnly

    /// True if a load may ask the source even for a cached image, before it ends.
    var asksSource: Bool { self == .reload || self == .revalidate || self == .http }
    /// True if an image is stored only if HTTP allows that.
    var obeysStorageRules: Bool { self == .http || self == .staleWhileRevalidate }
    /// True if a cached image is the result regardless of age.
    var ignoresAge: Bool { self == .cacheFirst || self == .cacheOnly }
}
