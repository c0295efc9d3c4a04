/// A load in progress. You can await it, observe it, change its priority, and cancel it.
///
/// ```swift
/// let task = manager.task(for: request)
/// for await event in task.events {
///     if case .preview(let image) = event { show(image) }
/// }
/// let image = try await task.image
/// ```
///
/// The load continues when the task object is released; only ``cancel()`` ends it.
public final class ImageTask: Sendable {
    /// The request as it is carried out, without the key from the manager's `cacheKey`.
    public let request: ImageRequest

    private struct Counts {
        var progress = 0, previews = 0
        var hasEnded = false
    }

    private struct State {
        var progress: ImageProgress?
        /// The most recent fraction that was known.
        var fraction: Double?
        var preview: Image?
        var result: Result<ImageResult, ImageError>?
        /// The numbers of updates so far.
        var counts = Counts()

        mutating func take(_ update: LoadUpdate) {
            // A report may arrive late. No event follows the end.
            guard result == nil else { return }
            switch update {
            case .arriving, .asking: break
            case .progress(let progress):
                guard !isStepBack(progress) else { return }
                self.progress = progress
                fraction = progress.fraction ?? fraction
                counts.progress += 1
            case .preview(let image), .outdated(let image):
                preview = image
                counts.previews += 1
            }
        }

        /// True for a report that no observer should see: reports overtake each other between threads, a transfer
        /// that is repeated starts over, and loaders correct the expected size.
        private func isStepBack(_ progress: ImageProgress) -> Bool {
            if let new = progress.fraction, let fraction { return new < fraction }
            return progress.receivedBytes < self.progress?.receivedBytes ?? 0
        }

        /// The next event for an observer who has seen so many updates.
        func event(after seen: inout Counts) -> ImageEvent? {
            if let progress, seen.progress < counts.progress {
                seen.progress = counts.progress
                return .progress(progress)
            }
            if let preview, seen.previews < counts.previews {
                seen.previews = counts.previews
                return .preview(preview)
            }
            guard let result, !seen.hasEnded else { return nil }
            seen.hasEnded = true
            return .finished(result)
        }
    }

    private let workPriority: WorkPriority
    private let state = Lock(State())
    private let changes = Broadcast<Void>()
    private let task: Task<Result<ImageResult, ImageError>, Never>

    init(_ request: ImageRequest, _ environment: LoadEnvironment) {
        self.request = request
        workPriority = WorkPriority(request.priority)
        let asking = SharedWorkID.currentJob
        // It starts at once, so that loads queue in the order of their calls, and are among those that are under way.
        task = Task.immediateDetached { [workPriority, state, changes] in
            let result = await SharedWorkID.$currentJob.withValue(asking) {
                await Result { () async throws(ImageError) in
                    try await ImageManager.result(request, environment, following: workPriority) { update in
                        state.withLock { $0.take(update) }
                        changes.send()
                    }
                }
            }
            state.withLock { $0.result = result }
            changes.end()
            return result
        }
    }

    /// The priority of the load. A change affects work that is already queued.
    public var priority: ImagePriority {
        get { workPriority.value }
        set { workPriority.value = newValue }
    }

    /// Ends the load with ``ImageError/Code/cancelled``, unless it has ended. The download continues only while other loads need it.
    public func cancel() { task.cancel() }

    /// The image, once the load has ended. Canceling the waiting task doesn't cancel the load.
    public var image: Image { get async throws(ImageError) { try await result.get().image } }

    /// The result of the load, once it has ended.
    public var result: Result<ImageResult, ImageError> { get async { await task.value } }

    /// The events of the load from now on. Each access returns a new sequence, for a single observer.
    ///
    /// Late subscribers first receive the most recent progress and preview, or only the end. An observer that doesn't keep up receives the
    /// most recent progress and preview; the end is never skipped.
    public var events: AsyncStream<ImageEvent> {
        // After the end there is only the end.
        let seen = Lock(state.withLock { $0.result == nil ? Counts() : $0.counts })
        return changes.elements { [state] in
            let state = state.withLock { $0 }
            return seen.withLock { state.event(after: &$0) }
        }
    }
}
