/// Flags of a request under the names that SDWebImage made known.
///
/// Each flag is a shorthand that sets one typed property of ``ImageRequest``; reading ``ImageRequest/options`` reads those properties.
///
/// | flag | property |
/// | --- | --- |
/// | ``retryFailed`` | ``ImageRequest/retriesFailed`` |
/// | ``refreshCached``, ``fromCacheOnly``, ``fromLoaderOnly`` | ``ImageRequest/cachePolicy`` |
/// | ``decodeFirstFrameOnly`` | ``DecodeOptions/firstFrameOnly`` of ``ImageRequest/decodeOptions`` |
/// | ``waitStoreCache`` | ``ImageRequest/waitsForStore`` |
/// | ``queryMemoryData`` | ``ImageRequest/queriesMemoryData`` |
/// | ``scaleDownLargeImages`` | ``ImageRequest/scalesDownLargeImages`` |
/// | ``transformAnimatedImage`` | ``ImageRequest/transformsAnimatedImages`` |
/// | ``transformVectorImage`` | ``ImageRequest/transformsVectorImages`` |
/// | ``progressiveLoad`` | ``ImageRequest/isProgressive`` |
/// | ``matchAnimatedImage`` | ``ImageRequest/requiresAnimation`` |
public struct ImageOptions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Loads a URL even though it failed a short while ago.
    public static let retryFailed = ImageOptions(rawValue: 1 << 0)
    /// Asks the source again although an image is cached: ``CachePolicy/revalidate``.
    public static let refreshCached = ImageOptions(rawValue: 1 << 1)
    /// Never asks a loader: ``CachePolicy/cacheOnly``. Takes precedence over the two other policies.
    public static let fromCacheOnly = ImageOptions(rawValue: 1 << 2)
    /// Reads no cache: ``CachePolicy/reload``. Takes precedence over ``refreshCached``.
    public static let fromLoaderOnly = ImageOptions(rawValue: 1 << 3)
    /// Decodes only the first frame of an animation.
    public static let decodeFirstFrameOnly = ImageOptions(rawValue: 1 << 4)
    /// Ends the load only when the caches have stored the image.
    public static let waitStoreCache = ImageOptions(rawValue: 1 << 5)
    /// Adds the encoded bytes to the result of a memory hit, if the disk cache has them.
    public static let queryMemoryData = ImageOptions(rawValue: 1 << 6)
    /// Limits the decoded image to ``ImageManager/Configuration-swift.struct/scaleDownLimit``.
    public static let scaleDownLargeImages = ImageOptions(rawValue: 1 << 7)
    /// Applies the transformer to every frame of an animation; otherwise animations are left unchanged.
    public static let transformAnimatedImage = ImageOptions(rawValue: 1 << 8)
    /// Shows the image while its bytes arrive, as ``ImageEvent/preview(_:)``.
    public static let progressiveLoad = ImageOptions(rawValue: 1 << 9)
    /// Accepts only an animated image (SDWebImage's `matchAnimatedImageClass`).
    public static let matchAnimatedImage = ImageOptions(rawValue: 1 << 10)
    /// Applies the transformer to the pixels of a vector image; otherwise vector images are left unchanged.
    public static let transformVectorImage = ImageOptions(rawValue: 1 << 11)
}

extension ImageRequest {
    /// The request's flags, a view of its typed properties. See ``ImageOptions``.
    public var options: ImageOptions {
        get {
            var options: ImageOptions = []
            func insert(_ option: ImageOptions, if isSet: Bool) { if isSet { options.insert(option) } }
            switch cachePolicy {
            case .cacheFirst, .http, .staleWhileRevalidate: break
            case .cacheOnly: options.insert(.fromCacheOnly)
            case .reload: options.insert(.fromLoaderOnly)
            case .revalidate: options.insert(.refreshCached)
            }
            insert(.retryFailed, if: retriesFailed)
            insert(.decodeFirstFrameOnly, if: decodeOptions.firstFrameOnly)
            insert(.waitStoreCache, if: waitsForStore)
            insert(.queryMemoryData, if: queriesMemoryData)
            insert(.scaleDownLargeImages, if: scalesDownLargeImages)
            insert(.transformAnimatedImage, if: transformsAnimatedImages)
            insert(.transformVectorImage, if: transformsVectorImages)
            insert(.progressiveLoad, if: isProgressive)
            insert(.matchAnimatedImage, if: requiresAnimation)
            return options
        }
        set {
            let flag: CachePolicy? =
                newValue.contains(.fromCacheOnly)
                ? .cacheOnly
                : newValue.contains(.fromLoaderOnly) ? .reload : newValue.contains(.refreshCached) ? .revalidate : nil
            // The policies without a flag stay when no flag replaces them.
            if flag != nil || !options.isDisjoint(with: [.fromCacheOnly, .fromLoaderOnly, .refreshCached]) {
                ownCachePolicy = flag
            }
            retriesFailed = newValue.contains(.retryFailed)
            decodeOptions.firstFrameOnly = newValue.contains(.decodeFirstFrameOnly)
            waitsForStore = newValue.contains(.waitStoreCache)
            queriesMemoryData = newValue.contains(.queryMemoryData)
            scalesDownLargeImages = newValue.contains(.scaleDownLargeImages)
            transformsAnimatedImages = newValue.contains(.transformAnimatedImage)
            transformsVectorImages = newValue.contains(.transformVectorImage)
            isProgressive = newValue.contains(.progressiveLoad)
            requiresAnimation = newValue.contains(.matchAnimatedImage)
        }
    }
}
