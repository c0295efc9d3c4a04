/// A clock that a test advances.
///
/// ```swift
/// let clock = ManualClock()
/// let task = Task {
///     for _ in 1...3 { try await clock.sleep(for: .seconds(1)) }
/// }
/// for _ in 1...3 {
///     try await clock.waitForSleepers(1)
///     clock.advance(by: .seconds(1))
/// }
/// try await task.value
/// ```
public final class ManualClock: Clock {
    /// A time of a manual clock.
    public struct Instant: InstantProtocol {
        let offset: Duration

        /// Returns the instant after a duration.
        /// - Parameter duration: the distance, which may be negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the time between two instants.
        /// - Parameter other: the later instant.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Compares the times.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        /// The deadlines of the tasks that sleep, all after `now`.
        var deadlines: [Int: Instant] = [:]
        var lastSleep = 0
    }

    private let state = Watched(State())

    /// Creates a clock.
    public init() {}

    /// The time of the clock, which ``advance(by:)`` changes.
    public var now: Instant { state.value.now }
    /// A nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of tasks that sleep until a time of this clock.
    ///
    /// A task that is woken by ``advance(by:)`` or canceled stops counting immediately, before it runs again.
    public var sleepers: Int { state.value.deadlines.count }

    /// Advances the time and wakes the tasks whose deadline is reached.
    /// - Parameter duration: the time to add.
    public func advance(by duration: Duration) {
        state.update { state in
            let now = state.now.advanced(by: duration)
            state.now = now
            state.deadlines = state.deadlines.filter { $0.value > now }
        }
    }

    /// Waits until a number of tasks are sleeping.
    /// - Parameters:
    ///   - count: the smallest number of ``sleepers``.
    ///   - timeLimit: the longest wait, in real time; `nil` for no limit. The default is ten minutes.
    /// - Throws: `CancellationError`, and ``WaitTimeout`` after the time limit.
    public func waitForSleepers(_ count: Int, timeLimit: Duration? = .seconds(600)) async throws {
        try await state.wait(timeLimit: timeLimit) { $0.deadlines.count >= count }
    }

    /// Waits until a test has advanced the clock to an instant.
    /// - Parameters:
    ///   - deadline: the instant.
    ///   - tolerance: ignored.
    /// - Throws: `CancellationError` if the task is canceled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.update { state in
            state.lastSleep += 1
            return state.lastSleep
        }
        try await withTaskCancellationHandler {
            // Not in a task that is canceled already: the handler has then run.
            state.update { if !Task.isCancelled, deadline > $0.now { $0.deadlines[id] = deadline } }
            try await state.wait(timeLimit: nil) { $0.now >= deadline }
        } onCancel: {
            state.update { $0.deadlines[id] = nil }
        }
    }
}
