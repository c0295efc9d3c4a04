public import CoreMetrics
public import FoundationEssentials
public import Logging
public import Tracing

extension ImageManager {
    /// The hooks, limits, and shared resources of a manager. A change affects loads that start afterwards.
    ///
    /// Hooks may be called on the thread that asks for an image, such as the main thread, and mustn't wait for it.
    ///
    /// ```swift
    /// manager.configuration.shouldDownload = { url in url.host() == "images.example.org" }
    /// manager.configuration.scaleDownLimit = .megabytes(30)
    /// ```
    public struct Configuration: Sendable {
        /// The identity of a URL in the caches, for URLs that carry signatures or session ids. The default is the whole URL, also where the
        /// closure returns an empty string.
        public var cacheKey: (@Sendable (URL) -> String)?
        /// True if a URL that isn't cached may be loaded. The answer `false` ends the load with ``ImageError/Code/loadingDisallowed``.
        public var shouldDownload: (@Sendable (URL) -> Bool)?
        /// The transformer for the image at a URL, for requests without one. A request with an empty sequence,
        /// `ImageTransformers([])`, is left alone.
        public var transformer: (@Sendable (URL) -> (any ImageTransformer)?)?
        /// The cache for the bytes that sources send; by default, that is the manager's cache.
        ///
        /// Its disk stores the originals. Decoded images, stored thumbnails, and transformed images stay in the manager's cache.
        public var originalCache: ImageCache?
        /// A closure that returns the bytes that the disk stores for an image, in place of those that came or that a coder would write;
        /// `nil`, the default, for none.
        ///
        /// It receives the image; its bytes as the source sent them, `nil` for a thumbnail or transformed image; and its URL. An original
        /// always comes at its full size, so a load of a thumbnail decodes it again. The closure returns `nil` if the disk should store its
        /// usual representation. It is called on a thread of the processing queue, once for the original and once for a stored variant;
        /// the bytes of ``ImageManager/encoded(for:as:options:)`` aren't stored beside it. An error that it throws ends the write with
        /// ``ImageError/Code/encodeFailed``.
        public var cacheSerializer: (@Sendable (_ image: Image, _ data: Data?, _ url: URL) throws -> Data?)?
        /// Changes requests before they are carried out.
        ///
        /// It receives each request once, as it would be carried out: ``transformer`` and ``cacheKey`` are filled in where the request
        /// has none.
        public var optionsProcessor: (@Sendable (ImageRequest) -> ImageRequest)?
        /// True if the caches may keep an image that was loaded or made.
        ///
        /// It is called before memory or disk get anything of the image, once for all requests that share it, with any of them. It must not
        /// take long. Bytes that aren't decoded (``ImageManager/data(for:)``) are stored without asking. By default, all images are kept.
        public var shouldCache: (@Sendable (Image, ImageRequest) -> Bool)?
        /// The order of caches and source, for requests that don't set ``ImageRequest/cachePolicy``. The default is
        /// ``CachePolicy/cacheFirst``.
        public var cachePolicy = CachePolicy.cacheFirst
        /// The connection to the network, as the program knows it: loads ask no source while it is ``NetworkStatus/offline``, and
        /// revalidate nothing while it is ``NetworkStatus/lowData``. Called by loads that would ask a source; it must not take long.
        public var networkStatus: @Sendable () -> NetworkStatus = { .online }
        /// The header fields of requests that identify a user. An image that was loaded with such a value is found only by requests
        /// with the same value. The default is `authorization` and `cookie`.
        public var credentialHeaders: Set<String> = ["authorization", "cookie"] {
            didSet { credentialHeaders = Set(credentialHeaders.map { $0.lowercased() }) }
        }
        /// The header fields of requests that don't change the answer: requests that differ only in these share a download.
        public var insignificantHeaders: Set<String> = [] {
            didSet { insignificantHeaders = Set(insignificantHeaders.map { $0.lowercased() }) }
        }
        /// The limits for decoding.
        public var limits = DecodeLimits()
        /// The limit of ``ImageRequest/scalesDownLargeImages`` for the pixels of an image. The default is 60 MB.
        public var scaleDownLimit = ByteCount.megabytes(60)
        /// A closure that returns the time until a URL that failed may be loaded again: zero to remember nothing, or `nil` for the usual
        /// time. Local files aren't asked for.
        ///
        /// That is five minutes for the statuses 404 and 410, and for data that can't be decoded; 30 seconds for other failures that would
        /// only repeat, such as a status 403; and zero for failures that may pass, such as a missing connection, a timeout, or a status 503.
        public var failureLifetime: (@Sendable (ImageError, URL) -> Duration?)?
        /// The number of failed URLs that are remembered.
        package var failureLimit = 1_000
        /// The bytes that may wait to be written to disk before loads wait for their own writes.
        package var pendingStoreLimit = ByteCount.megabytes(64)
        /// The shortest time between two previews of an image that arrives (``ImageRequest/isProgressive``). The default is 100 ms.
        public var previewInterval = Duration.milliseconds(100)
        /// The queue for decoding and transforming.
        public var processing = WorkQueue.processing
        /// The memory for all decodes together; loads wait for it.
        public var budget = DecodeBudget.shared
        /// The pool of memory for pixels.
        public var pool = PixelBufferPool.shared
        /// The log of loads: warnings about damaged entries, and at the level `debug` each stage of each load, with the number of the
        /// request (``ImageMetrics/requestID``), the durations, and the error. An image that is in memory is not logged.
        public var logger = Logger(label: "tintype")
        /// The backend of the package swift-metrics that receives the counters and timers of loads; `nil` for none. By default the backend
        /// that is bootstrapped when the configuration is created.
        ///
        /// The names are stable:
        ///
        /// | name | kind | dimension |
        /// | --- | --- | --- |
        /// | `tintype.loads` | counter | `result`: `memory`, `disk`, `network`, `not-cached`, `failed`, `cancelled` |
        /// | `tintype.loads.shared` | counter | |
        /// | `tintype.load.duration` | timer, without images that were in memory | |
        /// | `tintype.downloads` | counter | `result`: `loaded`, `current`, `failed` |
        /// | `tintype.download.bytes` | counter | |
        /// | `tintype.stage.duration` | timer, with the time in queues | `stage`: `disk`, `load`, `decode`, `transform`, `encode`, `store` |
        /// | `tintype.stage.queued` | timer | `stage`, as above |
        public var metrics: (any MetricsFactory)? { didSet { meters = metrics.map { LoadMeters(factory: $0) } } }
        private(set) var meters: LoadMeters?
        /// The tracer that receives a span for each load that isn't served from memory, and for each of its stages; `nil` for none. By
        /// default the tracer that is bootstrapped when the configuration is created.
        public var tracer: (any Tracer)? =
            InstrumentationSystem.tracer is NoOpTracer ? nil : InstrumentationSystem.tracer
        /// The clock for failures that are remembered, and for ``previewInterval``.
        package var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
        /// The wall clock for the dates of stored entries.
        package var date: @Sendable () -> Date = { Date() }

        /// Creates a configuration with the defaults.
        public init() {
            guard !(MetricsSystem.factory is NOOPMetricsHandler) else { return }
            metrics = MetricsSystem.factory
            meters = LoadMeters(factory: MetricsSystem.factory)
        }
    }
}
