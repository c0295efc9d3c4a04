public import FoundationEssentials

/// The complete description of a load. Nothing else is consulted while the load runs, except the manager's configuration as it was
/// when the load started.
///
/// ```swift
/// var request = ImageRequest(url)
/// request.thumbnailSize = PixelSize(width: 400, height: 300)
/// request.priority = .high
/// let image = try await manager.image(for: request)
/// ```
public struct ImageRequest: Sendable {
    /// The address of the image.
    public var url: URL
    /// Header fields for this request alone. Requests with different fields share no download, except for fields that
    /// ``ImageManager/Configuration-swift.struct/insignificantHeaders`` names.
    public var headers: [String: String]
    /// The urgency of the load.
    public var priority: ImagePriority

    // MARK: The image

    /// The decoding of the bytes into an image; part of the image's cache key.
    public var decode = DecodeOptions()
    /// The transformer for the decoded image; its key is part of the image's cache key, and must not be empty.
    public var transformer: (any ImageTransformer)?
    /// True if ``transformer`` is applied to every frame of an animation; otherwise animations are left unchanged.
    public var transformsAnimatedImages = false
    /// True if ``transformer`` is applied to the pixels of a vector image, such as an SVG; otherwise vector images are left unchanged. A
    /// vector image has the size that it is wanted in by ``thumbnailSize``, without a loss.
    public var transformsVectorImages = false
    /// True if the image is limited to ``ImageManager/Configuration-swift.struct/scaleDownLimit``, unless
    /// ``DecodeOptions/maximumBytes`` sets another limit.
    public var scalesDownLargeImages = false
    /// True if only an animated image is accepted: a still image in memory isn't a hit, and loading a still image is the error
    /// ``ImageError/Code/notAnimated``.
    public var requiresAnimation = false
    /// True if previews are shown while the bytes arrive, as ``ImageEvent/preview(_:)``: coarse or incomplete at first, transformed like
    /// the image, and never cached. At most one preview comes per ``ImageManager/Configuration-swift.struct/previewInterval``. There are none
    /// of an image that may be animated under a limit of bytes, which all of its frames share: their number decides its size.
    ///
    /// A caller that joins a load without previews gets them all the same from `ImageDownloader`, ``FileLoader``, and loaders
    /// that adopt ``ImageStreaming``. From a loader that reports chunks to ``LoadRequest/receive`` itself, such as `TestLoader`,
    /// it gets previews only if it joins before the first chunk: a load keeps chunks only if a caller wants previews by then.
    public var isProgressive = false

    // MARK: The caches

    /// The use of the caches: where the image is looked up and stored, and under which key.
    public var cache = CacheOptions()

    /// The order of caches and source. Until it is set, ``ImageManager/Configuration-swift.struct/cachePolicy`` decides.
    public var cachePolicy: CachePolicy {
        get { ownCachePolicy ?? .cacheFirst }
        set { ownCachePolicy = newValue }
    }

    /// The policy of the request; `nil` for the manager's policy.
    var ownCachePolicy: CachePolicy?
    /// True for the renewal in the background of an image of ``CachePolicy/http`` or ``CachePolicy/staleWhileRevalidate``. An image whose
    /// source forbids storing isn't stored.
    var renewsByHTTP = false
    /// True if a URL is loaded even though it failed a short while ago.
    public var retriesFailed = false

    /// Creates a request. Other properties are set afterwards.
    ///
    /// - Parameters:
    ///   - url: The address of the image.
    ///   - thumbnailSize: The box that the decoded image has to fit in, in pixels; `nil` for its full size.
    ///   - transformer: The transformer for the decoded image.
    ///   - priority: The urgency of the load.
    ///   - cachePolicy: The order of caches and source; `nil` for the manager's policy.
    ///   - isProgressive: True if previews are shown while the bytes arrive.
    ///   - headers: Header fields for this request alone.
    public init(
        _ url: URL, thumbnailSize: PixelSize? = nil, transformer: (any ImageTransformer)? = nil,
        priority: ImagePriority = .normal, cachePolicy: CachePolicy? = nil, isProgressive: Bool = false,
        headers: [String: String] = [:]
    ) {
        self.url = url
        self.headers = headers
        self.priority = priority
        self.transformer = transformer
        self.isProgressive = isProgressive
        ownCachePolicy = cachePolicy
        decode.thumbnailSize = thumbnailSize
    }

    /// The box that the decoded image has to fit in, in pixels: ``DecodeOptions/thumbnailSize``. One with a side below 1 is the full image.
    public var thumbnailSize: PixelSize? {
        get { decode.thumbnailSize }
        set { decode.thumbnailSize = newValue }
    }

    /// The parts that few requests have; `nil` if there are none.
    var box: RequestParts.Box?
}

extension ImageRequest: CustomStringConvertible {
    /// The URL without user info and query values. Header fields are left out, because they may have credentials.
    public var description: String { url.shortDescription }
}
