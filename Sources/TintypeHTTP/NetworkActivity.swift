internal import TintypeLoading

/// The network activity of downloaders, for an indicator that doesn't flicker.
///
/// The activity starts when transfers have run for a while, and ends when none has run for a while. A custom loader can report its
/// transfers, too: it calls ``observe(_:of:)`` with ``DownloadEvent/started(id:url:)`` and ``DownloadEvent/finished(id:_:_:)``.
///
/// ```swift
/// let activity = NetworkActivity { isActive in show(isActive) }
/// let downloader = ImageDownloader(.init(observer: { event in activity.observe(event) }))
/// ```
public final class NetworkActivity: Sendable {
    /// The phases of the activity.
    enum Phase: Equatable {
        case idle
        /// Transfers run, but not for long enough.
        case beginning
        case active
        /// No transfer runs, but not for long enough.
        case ending
    }

    fileprivate struct State {
        var phase = Phase.idle
        var transfers: Set<Transfer> = []
        /// The number of the timer that counts.
        var timer = 0
        /// The reported values that the closure has not been called with.
        var reports: [Bool] = []
        var isReporting = false
    }

    /// A transfer of any of the sources of events.
    fileprivate struct Transfer: Hashable {
        var source: Int
        var id: Int
    }

    private let activationDelay: Duration
    private let completionDelay: Duration
    private let time: Timekeeper
    private let action: @Sendable (Bool) -> Void
    private let state = Lock(State())

    /// Creates an activity. The default delays are the same as AFNetworking's.
    /// - Parameters:
    ///   - activationDelay: the time that transfers run before the activity starts.
    ///   - completionDelay: the time without transfers until the activity ends.
    ///   - clock: the clock of the delays, such as a test's clock.
    ///   - action: called with true when the activity starts, and with false when it ends; on any thread, never two calls at once.
    public init(
        activationDelay: Duration = .seconds(1), completionDelay: Duration = .milliseconds(170),
        clock: some Clock<Duration> = ContinuousClock(), action: @escaping @Sendable (Bool) -> Void
    ) {
        self.activationDelay = activationDelay.boundedLimit
        self.completionDelay = completionDelay.boundedLimit
        time = Timekeeper(clock)
        self.action = action
    }

    /// True while the activity is reported.
    package var isActive: Bool { state.withLock { [.active, .ending].contains($0.phase) } }

    /// The number of transfers that run.
    package var transferCount: Int { state.withLock { $0.transfers.count } }

    /// Notes an event that the `observer` of a downloader's configuration receives.
    /// - Parameters:
    ///   - event: the event.
    ///   - source: a number for the downloader if there are several, because each numbers its own transfers.
    public func observe(_ event: DownloadEvent, of source: Int = 0) {
        switch event {
        case .started(let id, _): change { $0.insert(Transfer(source: source, id: id)) }
        case .retrying(let id, _, _), .finished(let id, _, _): change { $0.remove(Transfer(source: source, id: id)) }
        case .responded, .suspended, .resumed: break
        }
    }

    private func change(_ body: (inout Set<Transfer>) -> Void) {
        let timer = state.withLock { state -> (Int, Duration)? in
            body(&state.transfers)
            switch (state.phase, state.transfers.isEmpty) {
            case (.idle, false): return state.begin(.beginning, activationDelay)
            case (.beginning, true): state.phase = .idle
            case (.active, true): return state.begin(.ending, completionDelay)
            case (.ending, false): state.phase = .active
            default: break
            }
            return nil
        }
        guard let (number, delay) = timer else { return }
        let deadline = time.now() + delay
        Task { [weak self, time] in
            try? await time.sleep(deadline)
            self?.end(number)
        }
    }

    /// Ends the delay of a timer, unless another phase has started since.
    private func end(_ timer: Int) {
        state.withLock { state in
            guard state.timer == timer else { return }
            switch state.phase {
            case .beginning: state.set(.active)
            case .ending: state.set(.idle)
            case .idle, .active: break
            }
        }
        report()
    }

    /// Calls the closure, outside the lock and in order.
    private func report() {
        while let isActive = state.withLock({ $0.nextReport() }) {
            action(isActive)
            state.withLock { $0.isReporting = false }
        }
    }
}

extension NetworkActivity.State {
    /// Starts a phase that a timer ends.
    fileprivate mutating func begin(_ phase: NetworkActivity.Phase, _ delay: Duration) -> (Int, Duration) {
        self.phase = phase
        timer += 1
        return (timer, delay)
    }

    fileprivate mutating func set(_ phase: NetworkActivity.Phase) {
        self.phase = phase
        reports.append(phase == .active)
    }

    fileprivate mutating func nextReport() -> Bool? {
        guard !isReporting, !reports.isEmpty else { return nil }
        isReporting = true
        return reports.removeFirst()
    }
}
