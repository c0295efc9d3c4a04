public import FoundationEssentials

/// Loads images before they are needed, with a lower priority than a manager's other loads.
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
/// Only a few loads run at a time, with a low priority: a load for the screen starts before all waiting prefetches. A display that requests
/// an image that is being prefetched joins the prefetch, which takes over its priority; any other load with its cache policy shares the
/// download. A new prefetch doesn't affect earlier ones. Prefetches continue when the prefetcher is released, unless it is paused;
/// ``cancelAll()`` and ``ImagePrefetch/cancel()`` end them.
public final class ImagePrefetcher: Sendable {
    /// The limits of a prefetcher. A change affects loads that start afterwards.
    public struct Configuration: Sendable {
        /// The number of images that are loaded at a time, at least 1. The default is 3.
        public var maximumConcurrentLoads = 3
        /// True to store the bytes on disk without decoding them; false, the default, to load and decode images as they will be shown, into
        /// memory, and onto disk as their requests specify.
        public var storesOnDiskOnly = false
        /// The highest priority of a prefetch; the default is low. Requests with a lower priority keep it.
        public var priority = ImagePriority.low
        /// True to start the newest prefetch first, as for a scrolling list; false, the default, to start the oldest.
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

    /// True while no loads start. Loads in progress continue.
    public var isPaused: Bool {
        get { core.isPaused }
        set { core.isPaused = newValue }
    }

    /// Prefetches the images at several URLs.
    /// - Parameter urls: the URLs, the most urgent first.
    /// - Returns: the prefetch, which ends at once if there are no URLs.
    @discardableResult
    public func prefetch(_ urls: [URL]) -> ImagePrefetch { prefetch(urls.map { ImageRequest($0) }) }

    /// Prefetches the images of several requests, including thumbnails and transformed images.
    /// - Parameter requests: the requests, the most urgent first.
    /// - Returns: the prefetch, which ends at once if there are no requests.
    @discardableResult
    public func prefetch(_ requests: [ImageRequest]) -> ImagePrefetch { core.begin(requests) }

    /// Ends all prefetches. Images that haven't ended count as canceled.
    public func cancelAll() { core.cancel(nil, in: nil) }

    /// Ends the prefetching of a URL, in all prefetches.
    /// - Parameter url: the URL.
    /// - Complexity: O(*n*) for *n* requests of the prefetches in progress.
    public func cancel(_ url: URL) { core.cancel(url, in: nil) }

    /// The total progress of all prefetches in progress, and of those that have ended since the prefetcher was last idle.
    public var currentProgress: PrefetchProgress { core.currentProgress }

    /// The total progress of all prefetches, starting with those in progress. The sequence never ends. An observer that doesn't keep up
    /// receives only the latest progress.
    public var progress: AsyncStream<PrefetchProgress> { core.progress }
}
