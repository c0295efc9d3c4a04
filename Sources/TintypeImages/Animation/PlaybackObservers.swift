/// Observers of a player: for events, or for a reason to look again.
final class PlaybackObservers: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<PlaybackEvent>.Continuation] = [:]
        var wakers: [Int: @Sendable () -> Void] = [:]
        var last = 0
        var isFinished = false
    }

    /// The events that a stream holds for an observer that is slow; older events are dropped.
    private static let longestBacklog = 1_024

    private let state = Lock(State())

    /// A stream of all events from now on, which ends with the player.
    func events() -> AsyncStream<PlaybackEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.longestBacklog)) { continuation in
            let number: Int? = state.withLock { state in
                guard !state.isFinished else { return nil }
                state.last += 1
                state.streams[state.last] = continuation
                return state.last
            }
            guard let number else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                let old = self?.state.withLock { $0.streams.removeValue(forKey: number) }
                _ = old  // Deallocated outside the lock.
            }
        }
    }

    func send(_ event: PlaybackEvent) {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
    }

    /// Calls `waker` whenever there may be something new, until the returned number is removed.
    func addWaker(_ waker: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            state.wakers[state.last] = waker
            return state.last
        }
    }

    func removeWaker(_ number: Int) {
        let old = state.withLock { $0.wakers.removeValue(forKey: number) }
        _ = old  // Deallocated outside the lock.
    }

    func wake() { for waker in state.withLock({ Array($0.wakers.values) }) { waker() } }

    func finish() {
        let streams = state.withLock { state in
            state.isFinished = true
            defer { state.streams = [:] }
            return Array(state.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}
