internal import TintypeLoading

/// The time limits of a transfer, as a ``TransferPace`` decides.
final class TimeLimits: Sendable {
    private let time: Timekeeper
    private let state: Lock<State>
    private let watch: TransferWatch

    private struct State {
        var pace: TransferPace
        /// The number of requests.
        var request = 0
        /// The error, after a limit was exceeded.
        var error: ImageError?
        /// Cancels the transfer; `nil` while it doesn't run.
        var cancel: (@Sendable () -> Void)?
    }

    init(_ limits: TransferPace.Limits, watch: TransferWatch, at now: Duration) {
        self.watch = watch
        time = watch.time
        state = Lock(State(pace: TransferPace(limits, at: now)))
    }

    /// The time since an arbitrary moment.
    var now: Duration { time.now() }

    /// Notes that the server made the expected progress.
    func recordActivity() { record { $0.recordHead(at: $1) } }

    /// Notes that a request is sent.
    /// - Returns: the limits of this request, until the next request is sent.
    func recordRequest(at now: Duration) -> RequestLimits {
        let number = state.withLock { state in
            state.pace.recordRequest(at: now)
            state.request += 1
            return state.request
        }
        return RequestLimits(limits: self, number: number)
    }

    fileprivate func record(
        for request: Int, _ change: (inout TransferPace, Duration) -> Void
    ) {
        let now = time.now()
        state.withLock { if $0.request == request { change(&$0.pace, now) } }
    }

    /// Notes that a closure of the program starts.
    func recordPause() { state.withLock { $0.pace.recordPause() } }

    /// Notes that a closure of the program has ended.
    func recordResumption() { record { $0.recordResumption(at: $1) } }

    private func record(_ change: (inout TransferPace, Duration) -> Void) {
        let now = time.now()
        state.withLock { change(&$0.pace, now) }
    }

    /// Runs `work` for at most the given time and ignores its result.
    func run(for patience: Duration, _ work: @escaping @Sendable () async -> Void) async {
        let deadline = time.now() + patience
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await work() }
            group.addTask { [time] in try? await time.sleep(deadline) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Runs `work`, and calls `cancel` when a limit is exceeded.
    ///
    /// - Throws: ``ImageError/Code/timedOut`` if the work ended because of `cancel`, and the errors of `work`.
    func run<Value>(
        from now: Duration, cancel: @escaping @Sendable () -> Void, _ work: () async throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        state.withLock { $0.cancel = cancel }
        let id = watch.begin(self, at: now)
        defer {
            watch.end(id)
            state.withLock { $0.cancel = nil }
        }
        do throws(ImageError) {
            return try await work()
        } catch {
            guard error.isCancellation, let expired = state.withLock({ $0.error }) else { throw error }
            throw expired
        }
    }

    /// The time of the next check; `nil` if a limit is exceeded.
    func nextCheck(at now: Duration) -> Duration? {
        state.withLock { state in
            switch state.pace.check(at: now) {
            case .fine(let next): return next
            case .exceeded(let reason):
                state.error = ImageError(.timedOut, stage: .load, reason: reason)
                return nil
            }
        }
    }

    /// Cancels the transfer, whose limit is exceeded.
    func expire() { state.withLock { $0.cancel }?() }
}

/// The time limits of a transfer while one of its requests is answered. Later events of an earlier connection don't count.
struct RequestLimits: Sendable {
    fileprivate let limits: TimeLimits
    fileprivate let number: Int

    /// Notes that something arrived that the task of the transfer hasn't taken yet.
    /// - Parameter bytes: the number of bytes of the body; `nil` for something else.
    func recordArrival(of bytes: Int?) {
        limits.record(for: number) { pace, now in
            pace.recordArrival(at: now)
            if let bytes { pace.recordBody(bytes, at: now) }
        }
    }

    /// Notes that the task of the transfer has taken the arrivals. From now on, the server is expected to send more.
    func recordTaken() { limits.record(for: number) { $0.recordTaken(at: $1) } }
}

/// A clock without its type. Times are counted from its creation.
struct Timekeeper: Sendable {
    let now: @Sendable () -> Duration
    /// Sleeps until a time, or throws when the task is canceled.
    let sleep: @Sendable (Duration) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }
}
