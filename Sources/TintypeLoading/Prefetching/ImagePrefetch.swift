public import FoundationEssentials

/// The images that a call of an ``ImagePrefetcher`` prefetches.
///
/// The prefetch continues when this object is released; only ``cancel()`` ends it.
public final class ImagePrefetch: Sendable {
    typealias Failure = (url: URL, error: ImageError)

    /// The requests, in their starting order.
    let requests: [ImageRequest]

    private let id: Int
    private let core: PrefetchCore
    private let current: Lock<PrefetchProgress>
    private let changes = Broadcast<Void>()
    private let failed = Lock<[Failure]>([])

    init(_ requests: [ImageRequest], id: Int, core: PrefetchCore) {
        self.requests = requests
        self.id = id
        self.core = core
        current = Lock(PrefetchProgress(total: requests.count))
    }

    /// The progress so far.
    public var currentProgress: PrefetchProgress { current.withLock { $0 } }

    /// The progress from now on, each time that an image has ended, up to the end of all. Each access returns a new sequence, for a
    /// single observer. An observer that doesn't keep up receives the latest progress, and always the last.
    public var progress: AsyncStream<PrefetchProgress> { changes.values { [current] in current.withLock { $0 } } }

    /// The URLs that failed so far, without those that were canceled, each with its error.
    public var failures: [(url: URL, error: ImageError)] { failed.withLock { $0 } }

    /// Waits until all images have ended, also by cancellation. If the calling task is canceled, only the wait ends.
    /// - Returns: the progress at the end of the wait.
    @discardableResult
    public func wait() async -> PrefetchProgress {
        for await _ in progress {}
        return currentProgress
    }

    /// Ends the prefetch. Images that have not ended count as canceled; downloads that other loads need continue.
    public func cancel() { core.cancel(nil, in: id) }

    /// Ends the prefetching of a URL.
    /// - Parameter url: the URL.
    /// - Complexity: O(*n*) for *n* requests.
    public func cancel(_ url: URL) { core.cancel(url, in: id) }

    func add(_ failure: Failure) { failed.withLock { $0.append(failure) } }

    /// Counts images that have ended. Observers are told later, without the lock of the queue.
    func add(_ count: Int, to outcome: WritableKeyPath<PrefetchProgress, Int>) {
        current.withLock { $0[keyPath: outcome] += count }
    }

    /// Tells the observers of a change.
    func publish() { if currentProgress.isFinished { changes.end() } else { changes.send() } }
}

/// The numbers of images of a prefetch.
public struct PrefetchProgress: Sendable, Hashable {
    /// All images.
    public var total = 0
    /// Images that were loaded.
    public var loaded = 0
    /// Images that were there already.
    public var skipped = 0
    /// Images that could not be loaded.
    public var failed = 0
    /// Images that were canceled.
    public var cancelled = 0

    init(total: Int = 0) { self.total = total }

    /// Images that have ended, in whichever way.
    public var finished: Int { loaded + skipped + failed + cancelled }
    /// True if all images have ended.
    public var isFinished: Bool { finished == total }
}
