/// A load that is under way: can be awaited, watched by any number of people, moved to another priority, and cancelled.
///
/// ```swift
/// let task = manager.task(for: request)
/// for await event in task.events { … }
/// ```
///
/// The load goes on if the task object is let go of; only ``cancel()`` ends it.
public final class ImageTask: Sendable {
    /// The request as it is carried out.
    public let request: ImageRequest

    private struct State {
        var watchers: [Int: AsyncStream<ImageEvent>.Continuation] = [:]
        var nextWatcher = 0
        var progress: ImageProgress?
        var preview: Image?
        var result: Result<ImageResult, ImageError>?
    }

    private let workPriority: WorkPriority
    private let state = Lock(State())
    private let task: Lock<Task<Result<ImageResult, ImageError>, Never>?> = Lock(nil)

    init(
        request: ImageRequest,
        load:
            @escaping @Sendable (
                WorkPriority, @escaping @Sendable (ImageUpdate) -> Void
            ) async throws(ImageError) -> ImageResult
    ) {
        self.request = request
        workPriority = WorkPriority(request.priority)
        let running = Task.detached { [workPriority, self] in
            let result: Result<ImageResult, ImageError>
            do throws(ImageError) {
                result = .success(try await load(workPriority) { self.tell($0) })
            } catch {
                result = .failure(error)
            }
            finish(result)
            return result
        }
        task.withLock { $0 = running }
    }

    /// How urgent the load is. A change takes effect on work that is already queued.
    public var priority: ImagePriority {
        get { workPriority.value }
        set { workPriority.value = newValue }
    }

    /// Ends the load with ``ImageError/Code/cancelled``, unless it has ended. The download goes on only while somebody
    /// else wants it.
    public func cancel() { task.withLock { $0 }?.cancel() }

    /// The image, when it is there. Cancelling the task that waits does not cancel the load.
    public var image: Image {
        get async throws(ImageError) { try await result.get().image }
    }

    /// How the load ended.
    public var result: Result<ImageResult, ImageError> {
        get async {
            if let result = state.withLock({ $0.result }) { return result }
            guard let task = task.withLock({ $0 }) else { return .failure(.gaveUp) }
            return await task.value
        }
    }

    /// What happens, from now on: each access is a stream of its own. Who comes late is told the newest progress and preview
    /// first, or the end alone. Progress that nobody takes in time is left out; the end never is.
    public var events: AsyncStream<ImageEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: ImageEvent.self, bufferingPolicy: .bufferingNewest(16))
        let (id, past): (Int, State) = state.withLock { state in
            state.nextWatcher += 1
            if state.result == nil { state.watchers[state.nextWatcher] = continuation }
            return (state.nextWatcher, state)
        }
        if let result = past.result {
            continuation.yield(.finished(result))
            continuation.finish()
        } else {
            if let progress = past.progress { continuation.yield(.progress(progress)) }
            if let preview = past.preview { continuation.yield(.preview(preview)) }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.watchers[id] = nil }
            }
        }
        return stream
    }

    private func tell(_ update: ImageUpdate) {
        let watchers = state.withLock { state -> [AsyncStream<ImageEvent>.Continuation] in
            switch update {
            case .progress(let progress):
                // Reports of one transfer may overtake each other between threads; nobody is shown a step back.
                guard progress.receivedBytes >= state.progress?.receivedBytes ?? 0 else { return [] }
                state.progress = progress
            case .preview(let image):
                state.preview = image
            }
            return Array(state.watchers.values)
        }
        let event: ImageEvent =
            switch update {
            case .progress(let progress): .progress(progress)
            case .preview(let image): .preview(image)
            }
        for watcher in watchers { watcher.yield(event) }
    }

    private func finish(_ result: Result<ImageResult, ImageError>) {
        let watchers = state.withLock { state in
            state.result = result
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in watchers {
            watcher.yield(.finished(result))
            watcher.finish()
        }
    }
}
