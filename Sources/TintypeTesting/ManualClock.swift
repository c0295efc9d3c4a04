/// A clock that a test advances.
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
        var sleepers = 0
    }

    private let state = Watched(State())

    /// Creates a clock.
    public init() {}

    /// The time of the clock, which ``advance(by:)`` changes.
    public var now: Instant { state.value.now }
    /// A nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of tasks that sleep until a time of this clock.
    public var sleepers: Int { state.value.sleepers }

    /// Advances the time and wakes the tasks whose deadline is reached.
    /// - Parameter duration: the time to add.
    public func advance(by duration: Duration) {
        state.update { $0.now = $0.now.advanced(by: duration) }
    }

    /// Waits until tasks sleep.
    /// - Parameters:
    ///   - count: the number of tasks.
    ///   - timeLimit: the longest wait, in real time; `nil` for no limit. The default is ten minutes.
    /// - Throws: `CancellationError`, and ``WaitTimeout`` after the time limit.
    public func waitForSleepers(_ count: Int, timeLimit: Duration? = .seconds(600)) async throws {
        try await state.wait(timeLimit: timeLimit) { $0.sleepers >= count }
    }

    /// Waits until a test has advanced the clock to an instant.
    /// - Parameters:
    ///   - deadline: the instant.
    ///   - tolerance: ignored.
    /// - Throws: `CancellationError` if the task is canceled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        state.update { $0.sleepers += 1 }
        defer { state.update { $0.sleepers -= 1 } }
        try await state.wait(timeLimit: nil) { $0.now >= deadline }
    }
}
