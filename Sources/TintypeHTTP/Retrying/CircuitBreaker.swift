internal import TintypeLoading

/// A policy for servers that fail repeatedly.
///
/// After a number of failures in a row, requests to the server fail at once with ``ImageError/Code/hostUnavailable``, without a connection.
/// After a pause, a single request is sent as a probe. If it succeeds, requests are sent normally again; if it fails, another pause starts.
public struct CircuitBreakerPolicy: Sendable, Hashable {
    /// The number of failures in a row, at least 1.
    ///
    /// Failures are connections that can't be made or that break, timeouts, and the statuses 502, 503, and 504. Any other response resets
    /// the count, even with a status such as 429 or 500, because the server answers. Other errors without a response don't count.
    public var failureThreshold: Int
    /// The pause before a probe.
    public var pause: Duration

    /// Creates a policy. Each parameter sets the property of the same name.
    public init(failureThreshold: Int = 10, pause: Duration = .seconds(30)) {
        self.failureThreshold = failureThreshold
        self.pause = pause
    }

    /// Returns true if an error shows that the server, rather than a single image, has failed.
    static func concernsServer(_ error: ImageError) -> Bool {
        switch error.code {
        case .connectionFailed, .connectionLost, .incompleteBody, .timedOut: true
        case .badStatus: error.statusCode.map { [502, 503, 504].contains($0) } ?? false
        default: false
        }
    }
}

/// The state of a server.
struct CircuitBreaker: Sendable {
    private enum State {
        /// Requests go through.
        case closed(failures: Int)
        /// No request goes through before a time.
        case open(until: Duration)
        /// A request is under way.
        case probing
    }

    /// The answer to the question whether a request may be sent.
    enum Admission: Equatable {
        case allowed
        case probe
        /// Refused, until a time if it is known.
        case refused(until: Duration?)
    }

    private let policy: CircuitBreakerPolicy
    private var state = State.closed(failures: 0)

    init(_ policy: CircuitBreakerPolicy) { self.policy = policy }

    /// True if nothing has to be remembered.
    var isIdle: Bool {
        if case .closed(failures: 0) = state { true } else { false }
    }

    mutating func admit(at now: Duration) -> Admission {
        switch state {
        case .closed: return .allowed
        case .open(let end) where now < end: return .refused(until: end)
        case .open:
            state = .probing
            return .probe
        case .probing: return .refused(until: nil)
        }
    }

    /// Notes that the server answered.
    mutating func recordSuccess() { state = .closed(failures: 0) }

    /// Notes that the server failed.
    /// - Parameter isProbe: true for the probe. Requests that started before the pause can't extend it.
    mutating func recordFailure(isProbe: Bool, at now: Duration) {
        switch state {
        case .closed(let failures):
            let count = failures + 1
            state = count >= max(1, policy.failureThreshold) ? open(at: now) : .closed(failures: count)
        case .probing where isProbe: state = open(at: now)
        case .probing, .open: break
        }
    }

    /// Notes that a request ended without a statement about the server, for example because it was canceled.
    mutating func recordNothing(isProbe: Bool, at now: Duration) {
        // The next request is the probe.
        if isProbe, case .probing = state { state = .open(until: now) }
    }

    private func open(at now: Duration) -> State {
        .open(until: now + policy.pause.boundedLimit)
    }
}
