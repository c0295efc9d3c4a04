/// The events that an observer of an ``ImageTask`` has not taken yet: at most a progress, a preview, and the end.
final class EventMailbox: Sendable {
    private struct State {
        var progress: ImageProgress?
        var preview: Image?
        var result: Result<ImageResult, ImageError>?
        var isClosed = false
        var waiting: CheckedContinuation<Void, Never>?

        var isEmpty: Bool { progress == nil && preview == nil && result == nil && !isClosed }
    }

    private let state = Lock(State())

    /// Adds events; each replaces the event of its kind that wasn't taken.
    func put(progress: ImageProgress?, preview: Image?) {
        change { state in
            if let progress, progress.receivedBytes >= state.progress?.receivedBytes ?? 0 { state.progress = progress }
            if let preview { state.preview = preview }
        }
    }

    /// Adds the end.
    func finish(_ result: Result<ImageResult, ImageError>) { change { $0.result = result } }

    /// Drops all events: the observer is gone.
    func close() {
        change { state in
            state.isClosed = true
            state.progress = nil
            state.preview = nil
            state.result = nil
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if !state.isClosed { body(&state) }
            return state.isEmpty ? nil : state.waiting.take()
        }
        waiting?.resume()
    }

    /// Waits for the next event; `nil` after the end. Called by a single observer, never twice at once.
    func next() async -> ImageEvent? {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.isEmpty { state.waiting = continuation }
                return !state.isEmpty
            }
            if isReady { continuation.resume() }
        }
        return state.withLock { state in
            if let progress = state.progress.take() { return .progress(progress) }
            if let preview = state.preview.take() { return .preview(preview) }
            if let result = state.result.take() {
                state.isClosed = true
                return .finished(result)
            }
            return nil
        }
    }
}
