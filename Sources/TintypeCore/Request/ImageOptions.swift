/// What a request asks for beyond the ordinary, under the names that SDWebImage made known.
public struct ImageOptions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Tries a URL even though it failed a short while ago.
    public static let retryFailed = ImageOptions(rawValue: 1 << 0)
    /// Asks the source again although an image is cached. While the answer is on its way the cached image is a
    /// ``ImageEvent/preview(_:)``; if the source cannot be reached the cached image is the result.
    public static let refreshCached = ImageOptions(rawValue: 1 << 1)
    /// Never asks a loader: an image that is not cached is the error ``ImageError/Code/notCached``.
    public static let fromCacheOnly = ImageOptions(rawValue: 1 << 2)
    /// Reads no cache; what comes is stored all the same.
    public static let fromLoaderOnly = ImageOptions(rawValue: 1 << 3)
    /// Decodes only the first frame of an animation.
    public static let decodeFirstFrameOnly = ImageOptions(rawValue: 1 << 4)
    /// Ends the load only when the caches have stored what came.
    public static let waitStoreCache = ImageOptions(rawValue: 1 << 5)
    /// Adds the encoded bytes to the result of a memory hit, if the disk cache has them.
    public static let queryMemoryData = ImageOptions(rawValue: 1 << 6)
    /// Limits what the decoded image takes to ``ImageManager/Configuration-swift.struct/scaleDownLimit``.
    public static let scaleDownLargeImages = ImageOptions(rawValue: 1 << 7)
    /// Lets the transformer work on every frame of an animation; without, animations stay as they are.
    public static let transformAnimatedImage = ImageOptions(rawValue: 1 << 8)
    /// Shows the image while its bytes arrive, as ``ImageEvent/preview(_:)``: coarse or cut off at first, transformed like the
    /// image, and never cached. At most one comes per ``ImageManager/Configuration-swift.struct/previewInterval``.
    public static let progressiveLoad = ImageOptions(rawValue: 1 << 9)
    /// Takes only an image that moves (SDWebImage's `matchAnimatedImageClass`): a still one in memory is no hit, and one that
    /// turns out to be still is the error ``ImageError/Code/notAnimated``.
    public static let matchAnimatedImage = ImageOptions(rawValue: 1 << 10)
}
