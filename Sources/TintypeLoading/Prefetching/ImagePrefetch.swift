public import FoundationEssentials

/// The images of one call of an ``ImagePrefetcher``.
///
/// The prefetch continues when this object is released; only ``cancel()`` ends it.
public final class ImagePrefetch: Sendable {
    private struct State {
        var progress: PrefetchProgress
        var outcomes: [(url: URL, outcome: PrefetchOutcome)] = []
    }

    /// The requests, in their starting order.
    let requests: [ImageRequest]

    private let id: Int
    private let core: PrefetchCore
    private let state: Lock<State>
    private let changes = Broadcast<Void>()

    init(_ requests: [ImageRequest], id: Int, core: PrefetchCore) {
        (self.requests, self.id, self.core) = (requests, id, core)
        state = Lock(State(progress: PrefetchProgress(total: requests.count)))
    }

    /// The progress so far.
    public var currentProgress: PrefetchProgress { state.withLock { $0.progress } }

    /// The progress from now on, each time an image ends, until all have ended. Each access returns a new sequence, for a single observer.
    /// An observer that doesn't keep up receives only the latest progress; the last is never skipped.
    public var progress: AsyncStream<PrefetchProgress> { changes.values { [state] in state.withLock { $0.progress } } }

    /// The URL and the outcome of each image, in the order in which they end, starting with those that have already ended. Each access
    /// returns a new sequence, for a single observer. No outcome is skipped.
    public var outcomes: AsyncStream<(url: URL, outcome: PrefetchOutcome)> {
        let seen = Lock(0)
        return changes.elements { [state] in
            let outcomes = state.withLock { $0.outcomes }
            return seen.withLock { seen -> (url: URL, outcome: PrefetchOutcome)? in
                guard seen < outcomes.count else { return nil }
                defer { seen += 1 }
                return outcomes[seen]
            }
        }
    }

    /// The URLs that failed so far, without those that were canceled, each with its error.
    public var failures: [(url: URL, error: ImageError)] {
        state.withLock { $0.outcomes }.compactMap { url, outcome -> (url: URL, error: ImageError)? in
            if case .failed(let error) = outcome { (url: url, error: error) } else { nil }
        }
    }

    /// Waits until all images have ended, including by cancellation. If the calling task is canceled, only the wait ends.
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

    /// Notes the outcome of an image. Observers are told later, without the lock of the queue.
    func add(_ outcome: PrefetchOutcome, of url: URL) {
        state.withLock { state in
            state.progress.add(outcome)
            state.outcomes.append((url: url, outcome: outcome))
        }
    }

    /// Tells the observers of a change.
    func publish() { if currentProgress.isFinished { changes.end() } else { changes.send() } }
}

/// The outcome of prefetching an image.
public enum PrefetchOutcome: Sendable {
    /// The image was loaded.
    case loaded
    /// The image was already available.
    case skipped
    /// The image could not be loaded.
    case failed(ImageError)
    /// The image was canceled.
    case cancelled
}

/// The numbers of images in a prefetch.
public struct PrefetchProgress: Sendable, Hashable {
    /// All images.
    public var total = 0
    /// Images that were loaded.
    public var loaded = 0
    /// Images that were already available.
    public var skipped = 0
    /// Images that could not be loaded.
    public var failed = 0
    /// Images that were canceled.
    public var cancelled = 0

    init(total: Int = 0) { self.total = total }

    /// Counts an image.
    mutating func add(_ outcome: PrefetchOutcome) {
        switch outcome {
        case .loaded: loaded += 1
        case .skipped: skipped += 1
        case .failed: failed += 1
        case .cancelled: cancelled += 1
        }
    }

    /// Images that have ended, with any outcome.
    public var finished: Int { loaded + skipped + failed + cancelled }
    /// True if all images have ended.
    public var isFinished: Bool { finished == total }
}
