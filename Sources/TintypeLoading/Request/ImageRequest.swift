public import FoundationEssentials

/// The complete description of one load. Nothing else is consulted while the load runs, except the manager's configuration as it was
/// when the load began.
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

    /// The way in which the bytes become an image; part of the image's cache key.
    public var decodeOptions: DecodeOptions
    /// The transformer for the decoded image; its key is part of the image's cache key, and must not be empty.
    public var transformer: (any ImageTransformer)?
    /// True if ``transformer`` is applied to every frame of an animation; otherwise animations are left unchanged.
    public var transformsAnimatedImages = false
    /// True if ``transformer`` is applied to the pixels of a vector image, such as an SVG; otherwise vector images are left unchanged. A vector
    /// image has the size that it is wanted in by ``thumbnailSize``, without a loss.
    public var transformsVectorImages = false
    /// True if the image is limited to ``ImageManager/Configuration-swift.struct/scaleDownLimit``, unless
    /// ``DecodeOptions/maximumBytes`` sets another limit.
    public var scalesDownLargeImages = false
    /// True if only an animated image is accepted: a still image in memory is no hit, and one that turns out to be still is the error
    /// ``ImageError/Code/notAnimated``.
    public var requiresAnimation = false
    /// True if previews are shown while the bytes arrive, as ``ImageEvent/preview(_:)``: coarse or incomplete at first, transformed like
    /// the image, and never cached. At most one comes per ``ImageManager/Configuration-swift.struct/previewInterval``.
    public var isProgressive = false

    // MARK: The caches

    /// The order in which caches and source are asked. Until it is set, ``ImageManager/Configuration-swift.struct/cachePolicy`` decides.
    public var cachePolicy: CachePolicy {
        get { ownCachePolicy ?? .cacheFirst }
        set { ownCachePolicy = newValue }
    }

    /// The policy of the request; `nil` for that of the manager.
    var ownCachePolicy: CachePolicy?
    /// True for the renewal in the background of an image of ``CachePolicy/http``. What its source forbids to store isn't stored.
    var renewsByHTTP = false
    /// The cache layers in which the image is looked up.
    public var queryFrom: CacheLayers
    /// The cache layers in which the image is stored. The disk stores the bytes as they came; see also ``storesVariant``.
    public var storeTo: CacheLayers
    /// True if the disk also stores the thumbnail or transformed image, encoded anew, so that it need not be made again.
    public var storesVariant = false
    /// The encoding of ``storesVariant``; part of the variant's cache key. The format is the source's if it can hold the image, otherwise
    /// one that can.
    public var encodeOptions = EncodeOptions()
    /// The identity of the source in the caches instead of its URL, for URLs that carry signatures or tokens.
    public var cacheKey: String?
    /// True if the load ends only when the caches have stored the image. ``ImageResult/storeError`` then tells what went wrong.
    public var waitsForStore = false
    /// True if the result of a memory hit has the encoded bytes, if the disk cache has them.
    public var queriesMemoryData = false
    /// True if a URL is loaded even though it failed a short while ago.
    public var retriesFailed = false

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: The address of the image.
    ///   - options: Flags, each of which sets one typed property.
    ///   - priority: The urgency of the load.
    ///   - decodeOptions: The way in which the bytes become an image.
    ///   - transformer: The transformer for the decoded image.
    ///   - queryFrom: The cache layers in which the image is looked up.
    ///   - storeTo: The cache layers in which the image is stored.
    ///   - headers: Header fields for this request alone.
    ///   - cacheKey: The identity of the source in the caches instead of its URL.
    public init(
        _ url: URL, options: ImageOptions = [], priority: ImagePriority = .normal,
        decodeOptions: DecodeOptions = DecodeOptions(), transformer: (any ImageTransformer)? = nil,
        queryFrom: CacheLayers = .all, storeTo: CacheLayers = .all, headers: [String: String] = [:],
        cacheKey: String? = nil
    ) {
        self.url = url
        self.headers = headers
        self.priority = priority
        self.decodeOptions = decodeOptions
        self.transformer = transformer
        self.queryFrom = queryFrom
        self.storeTo = storeTo
        self.cacheKey = cacheKey
        if !options.isEmpty { self.options = self.options.union(options) }
    }

    /// The box in pixels into which the image is decoded: ``DecodeOptions/thumbnailSize``.
    public var thumbnailSize: PixelSize? {
        get { decodeOptions.thumbnailSize }
        set { decodeOptions.thumbnailSize = newValue }
    }

    /// The parts that few requests have; `nil` if there are none.
    var box: RequestParts.Box?
}

extension ImageRequest: CustomStringConvertible {
    /// The URL without user info and query values. Header fields are left out, because they may have credentials.
    public var description: String { url.shortDescription }
}
