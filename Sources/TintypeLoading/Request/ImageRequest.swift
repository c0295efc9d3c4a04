public import FoundationEssentials

/// The complete description of a load. Apart from it, a load depends only on the manager's configuration at the time when the load starts.
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
    /// Header fields for this request alone. Requests with different fields don't share downloads, except for the fields in
    /// ``ImageManager/Configuration-swift.struct/insignificantHeaders``.
    public var headers: [String: String]
    /// The urgency of the load.
    public var priority: ImagePriority

    // MARK: The image

    /// Options for decoding the bytes; part of the image's cache key.
    public var decode = DecodeOptions()
    /// The transformer for the decoded image; its key is part of the image's cache key, and must not be empty.
    public var transformer: (any ImageTransformer)?
    /// True if ``transformer`` is applied to every frame of an animation; otherwise animations are left unchanged.
    public var transformsAnimatedImages = false
    /// True if ``transformer`` is applied to the pixels of a vector image, such as an SVG; otherwise vector images are left unchanged. Use
    /// ``thumbnailSize`` to draw a vector image at another size without loss.
    public var transformsVectorImages = false
    /// True to scale the image down to ``ImageManager/Configuration-swift.struct/scaleDownLimit``, unless ``DecodeOptions/maximumBytes``
    /// sets another limit.
    public var scalesDownLargeImages = false
    /// True to accept only an animated image: a still image in memory isn't a hit, and loading a still image fails with
    /// ``ImageError/Code/notAnimated``.
    public var requiresAnimation = false
    /// True to receive previews while the bytes arrive, as ``ImageEvent/preview(_:)``. They are coarse or incomplete at first, transformed
    /// like the image, and never cached. At most one preview arrives per ``ImageManager/Configuration-swift.struct/previewInterval``. An
    /// image that may be animated has no previews under a limit of bytes: all frames share the limit, so its size depends on their number.
    ///
    /// A caller that joins a load without previews still gets them from `ImageDownloader`, ``FileLoader``, and loaders that adopt
    /// ``ImageStreaming``. With a loader that reports chunks to ``LoadRequest/receive`` itself, such as `TestLoader`, it gets previews only
    /// if it joins before the first chunk, because the load keeps chunks only if a caller wants previews by then.
    public var isProgressive = false

    // MARK: The caches

    /// Options for the caches: where the image is looked up and stored, and under which key.
    public var cache = CacheOptions()

    /// The order of caches and source. By default, ``ImageManager/Configuration-swift.struct/cachePolicy`` applies.
    public var cachePolicy: CachePolicy {
        get { ownCachePolicy ?? .cacheFirst }
        set { ownCachePolicy = newValue }
    }

    /// The policy of the request; `nil` for the manager's policy.
    var ownCachePolicy: CachePolicy?
    /// True for the renewal in the background of an image of ``CachePolicy/http`` or ``CachePolicy/staleWhileRevalidate``. An image whose
    /// source forbids storing isn't stored.
    var renewsByHTTP = false
    /// True to load a URL even if it failed recently.
    public var retriesFailed = false

    /// Creates a request. Other properties are set afterwards.
    ///
    /// - Parameters:
    ///   - url: The address of the image.
    ///   - thumbnailSize: The box that the decoded image has to fit in, in pixels; `nil` for its full size.
    ///   - transformer: The transformer for the decoded image.
    ///   - priority: The urgency of the load.
    ///   - cachePolicy: The order of caches and source; `nil` for the manager's policy.
    ///   - isProgressive: True to receive previews while the bytes arrive.
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

    /// The box that the decoded image has to fit in, in pixels: ``DecodeOptions/thumbnailSize``. A side below 1 means the full image.
    public var thumbnailSize: PixelSize? {
        get { decode.thumbnailSize }
        set { decode.thumbnailSize = newValue }
    }

    /// The parts that few requests have; `nil` if there are none.
    var box: RequestParts.Box?
}

extension ImageRequest: CustomStringConvertible {
    /// The URL without user info and query values. Header fields are omitted, because they may contain credentials.
    public var description: String { url.shortDescription }
}
