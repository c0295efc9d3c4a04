public import FoundationEssentials

/// All that is asked of one load; nothing else is consulted once it runs.
///
/// ```swift
/// var request = ImageRequest(url)
/// request.thumbnailSize = PixelSize(width: 400, height: 300)
/// request.priority = .high
/// let image = try await manager.image(for: request)
/// ```
public struct ImageRequest: Sendable {
    public var url: URL
    public var options: ImageOptions = []
    public var priority = ImagePriority.normal
    /// How the bytes become an image; part of what the image is cached by.
    public var decode = DecodeOptions()
    /// What is made of the decoded image; its key is part of what the image is cached by.
    public var transformer: (any ImageTransformer)?
    /// Where to look for the image.
    public var queryFrom = CacheLayers.all
    /// Where to keep what came. On disk that is the bytes as they came; see also ``storesVariant``.
    public var storeTo = CacheLayers.all
    /// Whether the disk cache keeps the thumbnail or transformed image too, encoded anew, so that it need not be made again.
    public var storesVariant = false
    /// How ``storesVariant`` encodes; the format is the source's if it can be written, else PNG with alpha or
    /// more than 8 bits and JPEG without. High dynamic range stays so where the format has it.
    public var encode = EncodeOptions()
    /// What the source is known by in the caches instead of its URL, for URLs that carry signatures or tokens.
    public var cacheKey: String?
    /// Header fields for this request alone. Requests with different fields share no download.
    public var headers: [String: String] = [:]
    /// Reads this request's image instead of the manager's coders.
    public var coder: (any ImageCoder)?

    public init(_ url: URL) { self.url = url }

    /// The box in pixels that the image is decoded into: see ``DecodeOptions/thumbnailSize``.
    public var thumbnailSize: PixelSize? {
        get { decode.thumbnailSize }
        set { decode.thumbnailSize = newValue }
    }
}
