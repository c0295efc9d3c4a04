public import CoreMetrics
public import FoundationEssentials
public import Logging
public import Tracing

extension ImageManager {
    /// The hooks, limits, and shared resources of a manager. A change affects loads that start afterwards.
    ///
    /// Hooks may be called on the thread that requests an image, such as the main thread, and must not wait for it.
    ///
    /// ```swift
    /// manager.configuration.shouldDownload = { url in url.host() == "images.example.org" }
    /// manager.configuration.scaleDownLimit = .megabytes(30)
    /// ```
    public struct Configuration: Sendable {
        /// The identity of a URL in the caches, for URLs that carry signatures or session ids. By default, and if the closure returns an
        /// empty string, it is the whole URL.
        public var cacheKey: (@Sendable (URL) -> String)?
        /// A closure that returns true if a URL that isn't cached may be loaded. If it returns false, the load ends with
        /// ``ImageError/Code/loadingDisallowed``.
        public var shouldDownload: (@Sendable (URL) -> Bool)?
        /// A closure that returns the transformer for the image at a URL, for requests without a transformer. A request with an empty
        /// sequence, `ImageTransformers([])`, has one.
        public var transformer: (@Sendable (URL) -> (any ImageTransformer)?)?
        /// The cache for the bytes that sources send; `nil`, the default, for the manager's cache.
        ///
        /// Its disk stores the originals. Decoded images, stored thumbnails, and transformed images stay in the manager's cache.
        public var originalCache: ImageCache?
        /// A closure that returns the bytes that the disk stores for an image, in place of the received or encoded bytes; `nil`, the
        /// default, for none.
        ///
        /// It receives the image; its bytes as the source sent them, `nil` for a thumbnail or transformed image; and its URL. An original
        /// is always passed at its full size, so a load of a thumbnail decodes it again. The closure returns `nil` if the disk should store
        /// its usual representation. It is called on a thread of the processing queue, once for the original and once for a stored variant;
        /// the bytes of ``ImageManager/encoded(for:as:options:)`` aren't stored beside it. If it throws an error, the write fails with
        /// ``ImageError/Code/encodeFailed``.
        public var cacheSerializer: (@Sendable (_ image: Image, _ data: Data?, _ url: URL) throws -> Data?)?
        /// A closure that changes requests before they are carried out.
        ///
        /// It receives each request once, with the results of ``transformer`` and ``cacheKey`` if the request has none.
        public var optionsProcessor: (@Sendable (ImageRequest) -> ImageRequest)?
        /// A closure that returns true if the caches may store a loaded or transformed image.
        ///
        /// It is called before the memory or the disk stores anything, once for all requests that share the image, with any of them. It
        /// must return soon. Bytes that aren't decoded (``ImageManager/data(for:)``) are stored without a call. The default stores all.
        public var shouldCache: (@Sendable (Image, ImageRequest) -> Bool)?
        /// The order of caches and source, for requests that don't set ``ImageRequest/cachePolicy``. The default is
        /// ``CachePolicy/cacheFirst``.
        public var cachePolicy = CachePolicy.cacheFirst
        /// A closure that returns the state of the network connection: loads ask no source while it is ``NetworkStatus/offline``, and
        /// revalidate nothing while it is ``NetworkStatus/lowData``. Loads that would ask a source call it; it must return soon.
        public var networkStatus: @Sendable () -> NetworkStatus = { .online }
        /// The header fields of requests that identify a user. Only requests with the same value find an image that was loaded with such a
        /// field. The default is `authorization` and `cookie`.
        public var credentialHeaders: Set<String> = ["authorization", "cookie"] {
            didSet { credentialHeaders = Set(credentialHeaders.map { $0.lowercased() }) }
        }
        /// The header fields of requests that don't affect the response: requests that differ only in these share a download.
        public var insignificantHeaders: Set<String> = [] {
            didSet { insignificantHeaders = Set(insignificantHeaders.map { $0.lowercased() }) }
        }
        /// The limits for decoding.
        public var limits = DecodeLimits()
        /// The limit of ``ImageRequest/scalesDownLargeImages`` for the pixels of an image. The default is 60 MB.
        public var scaleDownLimit = ByteCount.megabytes(60)
        /// A closure that returns the time until a URL that failed may be loaded again: zero not to remember the failure, or `nil` for the
        /// usual time. It isn't called for local files.
        ///
        /// The usual time is five minutes for the statuses 404 and 410, and for data that can't be decoded; 30 seconds for other permanent
        /// failures, such as a status 403; and zero for temporary failures, such as a missing connection, a timeout, or a status 503.
        public var failureLifetime: (@Sendable (ImageError, URL) -> Duration?)?
        /// The number of failed URLs that are remembered.
        package var failureLimit = 1_000
        /// The bytes that may wait to be written to disk before loads wait for their own writes.
        package var pendingStoreLimit = ByteCount.megabytes(64)
        /// The shortest time between two previews of an arriving image (``ImageRequest/isProgressive``). The default is 100 ms.
        public var previewInterval = Duration.milliseconds(100)
        /// The queue for decoding and transforming.
        public var processing = WorkQueue.processing
        /// The memory for all decodes together. Loads wait if it is used up.
        public var budget = DecodeBudget.shared
        /// The pool of memory for pixels.
        public var pool = PixelBufferPool.shared
        /// The log of loads: warnings about damaged entries, and, at the level `debug`, each stage of each load with its
        /// ``ImageMetrics/requestID``, durations, and error. Loads from memory aren't logged.
        public var logger = Logger(label: "tintype")
        /// The swift-metrics backend that receives the counters and timers of loads; `nil` for none. The default is the backend that is
        /// bootstrapped when the configuration is created.
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
        /// The tracer that receives a span for each load that isn't served from memory, and for each of its stages; `nil` for none. The
        /// default is the tracer that is bootstrapped when the configuration is created.
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
