public import FoundationEssentials

extension ImageManager {
    /// What a manager decides by. Changing it affects loads that begin afterwards.
    public struct Configuration: Sendable {
        /// What a URL is known by in the caches, for URLs that carry signatures or session ids. The default is the whole URL.
        public var cacheKey: (@Sendable (URL) -> String)?
        /// Whether a URL may be loaded when it is not cached; the answer `false` ends the load with
        /// ``ImageError/Code/loadingDisallowed``.
        public var shouldDownload: (@Sendable (URL) -> Bool)?
        /// Looks at every request before anything else does, and may change it.
        public var optionsProcessor: (@Sendable (ImageRequest) -> ImageRequest)?
        /// The transformer for the image at a URL, for requests that have none of their own. A request is left alone that
        /// has an empty list of them: `ImageTransformers([])`.
        public var transformer: (@Sendable (URL) -> (any ImageTransformer)?)?
        /// Whether the caches may keep an image that was loaded or made. It is asked before the memory or the disk get
        /// anything of it, once for all who wait for the image, with the request of the one who came first. It must not take
        /// long. The default is that they may.
        public var shouldCache: (@Sendable (Image, ImageRequest) -> Bool)?
        /// What an image from outside may cost to decode.
        public var limits = DecodeLimits()
        /// What ``ImageOptions/scaleDownLargeImages`` limits the pixels of an image to. The default is 60 MB.
        public var scaleDownLimit = ByteCount.megabytes(60)
        /// For how long a URL that failed is not tried again; zero to forget failures at once. The default is 30 seconds.
        public var failureLifetime = Duration.seconds(30)
        /// How many failed URLs are remembered.
        public var failureLimit = 1_000
        /// How many bytes may wait to be written to disk before loads wait for the writing.
        public var pendingStoreLimit = ByteCount.megabytes(64)
        /// The shortest time between two previews of an image that arrives (``ImageOptions/progressiveLoad``). The default is
        /// 100 ms.
        public var previewInterval = Duration.milliseconds(100)
        /// Where images are decoded and transformed.
        public var processing = WorkQueue.processing
        /// What all decodes together may take; loads that find no room wait for it.
        public var budget = DecodeBudget.shared
        /// Where pixels get their memory.
        public var pool = PixelBufferPool.shared
        /// The time that ``failureLifetime`` and ``previewInterval`` are measured by.
        public var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
        /// The wall clock that stored entries are dated with.
        public var date: @Sendable () -> Date = { Date() }

        public init() {}
    }
}
