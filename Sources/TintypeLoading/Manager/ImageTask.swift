/// A load that is under way. It can be awaited, observed, moved to another priority, and canceled.
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
    /// The request as it is carried out.
    public let request: ImageRequest

    private struct State {
        var observers: [Int: EventMailbox] = [:]
        var nextObserver = 0
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
                WorkPriority, @escaping @Sendable (LoadUpdate) -> Void
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

    /// The priority of the load. A change affects work that is already queued.
    public var priority: ImagePriority {
        get { workPriority.value }
        set { workPriority.value = newValue }
    }

    /// Ends the load with ``ImageError/Code/cancelled``, unless it has ended. The download continues only while other
    /// loads need it.
    public func cancel() { task.withLock { $0 }?.cancel() }

    /// The image, when the load has ended. Canceling the task that waits does not cancel the load.
    public var image: Image {
        get async throws(ImageError) { try await result.get().image }
    }

    /// The result of the load, when it has ended.
    public var result: Result<ImageResult, ImageError> {
        get async {
            if let result = state.withLock({ $0.result }) { return result }
            guard let task = task.withLock({ $0 }) else { return .failure(.cancelled) }
            return await task.value
        }
    }

    /// The events of the load from now on. Each access returns a new sequence, for a single observer.
    ///
    /// Late subscribers first receive the most recent progress and preview, or only the end. An observer that doesn't keep up receives the
    /// most recent progress and preview; the end is never left out.
    public var events: AsyncStream<ImageEvent> {
        let mailbox = EventMailbox()
        let id = state.withLock { state in
            state.nextObserver += 1
            if let result = state.result {
                mailbox.finish(result)
            } else {
                mailbox.put(progress: state.progress, preview: state.preview)
                state.observers[state.nextObserver] = mailbox
            }
            return state.nextObserver
        }
        return AsyncStream {
            await mailbox.next()
        } onCancel: { [weak self] in
            mailbox.close()
            self?.state.withLock { $0.observers[id] = nil }
        }
    }

    private func tell(_ update: LoadUpdate) {
        let observers = state.withLock { state -> [EventMailbox] in
            switch update {
            case .arriving, .asking:
                return []
            case .progress(let progress):
                // Reports of a transfer may overtake each other between threads; no observer sees a step back.
                guard progress.receivedBytes >= state.progress?.receivedBytes ?? 0 else { return [] }
                state.progress = progress
            case .preview(let image), .outdated(let image):
                state.preview = image
            }
            return Array(state.observers.values)
        }
        for observer in observers {
            switch update {
            case .arriving, .asking: break
            case .progress(let progress): observer.put(progress: progress, preview: nil)
            case .preview(let image), .outdated(let image): observer.put(progress: nil, preview: image)
            }
        }
    }

    private func finish(_ result: Result<ImageResult, ImageError>) {
        let observers = state.withLock { state in
            state.result = result
            defer { state.observers = [:] }
            return Array(state.observers.values)
        }
        for observer in observers { observer.finish(result) }
    }
}
