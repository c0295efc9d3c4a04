/// A clock that stands still until a test moves it.
public final class ManualClock: Clock {
    public struct Instant: InstantProtocol {
        let offset: Duration

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers = 0
    }

    private let state = Watched(State())

    public init() {}

    public var now: Instant { state.value.now }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How many tasks sleep by this clock.
    public var sleepers: Int { state.value.sleepers }

    /// Moves the time and wakes the tasks whose time has come.
    public func advance(by duration: Duration) {
        state.update { $0.now = $0.now.advanced(by: duration) }
    }

    /// Returns when at least so many tasks sleep by this clock.
    public func waitForSleepers(_ count: Int) async throws {
        try await state.wait { $0.sleepers >= count }
    }

    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        state.update { $0.sleepers += 1 }
        defer { state.update { $0.sleepers -= 1 } }
        try await state.wait { $0.now >= deadline }
    }
}
