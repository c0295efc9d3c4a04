public import FoundationEssentials

/// Loads images before they are needed, in the background of a manager's other loads.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(manager: manager)
/// let prefetch = prefetcher.prefetch(urls)
/// for await progress in prefetch.progress {
///     print("\(progress.finished)/\(progress.total), \(progress.failed) failed")
/// }
/// for failure in prefetch.failures { print(failure.url, failure.error) }
/// ```
///
/// Only a few loads run at a time, with a low priority: a load for the screen starts before all prefetches that wait. A display that asks for
/// an image that is being prefetched joins the prefetch, which then has its priority; any other load with its cache policy shares the
/// download. A new prefetch leaves earlier ones as they are. Prefetches go on when the prefetcher is released, unless it is paused;
/// ``cancelAll()`` and ``ImagePrefetch/cancel()`` end them.
public final class ImagePrefetcher: Sendable {
    /// The limits of a prefetcher. A change affects loads that start afterwards.
    public struct Configuration: Sendable {
        /// The number of images that are loaded at a time, at least 1. The default is 3.
        public var maximumConcurrentLoads = 3
        /// True if the bytes are stored on disk without being decoded. Otherwise, the default, an image is loaded and decoded as it will be
        /// shown, into memory, and onto disk as its request says.
        public var storesOnDiskOnly = false
        /// The highest priority of a prefetch; the default is low. Requests with a lower priority keep it.
        public var priority = ImagePriority.low
        /// True if the newest prefetch is first, as for a list that scrolls; false, the default, if it's the oldest.
        public var newestFirst = false
        /// The time without new loads after each report of memory pressure; zero for none. The default is 10 s.
        public var pauseUnderMemoryPressure = Duration.seconds(10)

        /// Creates a configuration with the defaults.
        public init() {}
    }

    private let core: PrefetchCore

    /// Creates a prefetcher.
    /// - Parameters:
    ///   - manager: the manager that loads the images, and whose caches keep them.
    ///   - configuration: the limits.
    ///   - pressure: the source of memory pressure, which stops new loads; `nil` for none.
    ///   - clock: the clock of ``Configuration-swift.struct/pauseUnderMemoryPressure``.
    public init(
        manager: ImageManager, configuration: Configuration = Configuration(), pressure: MemoryPressure? = .system,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        core = PrefetchCore(manager: manager, configuration: configuration, clock: clock)
        if let pressure { core.observe(pressure) }
    }

    deinit {
        // Nobody can resume them.
        if isPaused { cancelAll() }
    }

    /// The limits, which can be changed at any time.
    public var configuration: Configuration {
        get { core.configuration }
        set { core.configuration = newValue }
    }

    /// True if no load starts. Loads that are running go on.
    public var isPaused: Bool {
        get { core.isPaused }
        set { core.isPaused = newValue }
    }

    /// Prefetches the images at several URLs.
    /// - Parameter urls: the URLs, the most urgent first.
    /// - Returns: the prefetch, which ends at once if there are no URLs.
    @discardableResult
    public func prefetch(_ urls: [URL]) -> ImagePrefetch { prefetch(urls.map { ImageRequest($0) }) }

    /// Prefetches the images of several requests. A request for a thumbnail or a transformed image prefetches that.
    /// - Parameter requests: the requests, the most urgent first.
    /// - Returns: the prefetch, which ends at once if there are no requests.
    @discardableResult
    public func prefetch(_ requests: [ImageRequest]) -> ImagePrefetch { core.begin(requests) }

    /// Ends all prefetches. Their images count as canceled, except those that had ended.
    public func cancelAll() { core.cancel(nil, in: nil) }

    /// Ends the prefetching of a URL, in all prefetches.
    /// - Parameter url: the URL.
    /// - Complexity: O(*n*) for *n* requests of the prefetches that are under way.
    public func cancel(_ url: URL) { core.cancel(url, in: nil) }

    /// The sums over the prefetches that are under way, and over those that ended since there was none.
    public var currentProgress: PrefetchProgress { core.currentProgress }

    /// The sums over all prefetches, starting with those that run; the sequence never ends. An observer that doesn't keep up
    /// receives the latest.
    public var progress: AsyncStream<PrefetchProgress> { core.progress }
}
