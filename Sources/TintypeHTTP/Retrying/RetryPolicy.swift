public import TintypeLoading

/// A policy for repeating failed transfers.
///
/// ```swift
/// let downloader = ImageDownloader(
///     .init(
///         retry: RetryPolicy(maximumAttempts: 4, maximumRetryAfter: .seconds(20)),
///         circuitBreaker: CircuitBreakerPolicy(failureThreshold: 10, pause: .seconds(30))))
/// ```
///
/// The delays grow exponentially, with full jitter: each is a random part of a bound that doubles from ``baseDelay`` up to
/// ``maximumDelay``. So clients that failed at the same time don't retry at the same time. A `Retry-After` field of the server (RFC 9110,
/// section 10.2.3) replaces a shorter delay.
///
/// Only GET and HEAD are repeated. A repeated transfer waits for its turn again, and doesn't occupy a slot during the delay.
public struct RetryPolicy: Sendable {
    /// The largest number of attempts, including the first.
    public var maximumAttempts: Int
    /// The largest delay before the second attempt.
    public var baseDelay: Duration
    /// The largest delay before any attempt.
    public var maximumDelay: Duration
    /// The longest `Retry-After` that is waited for. If the server asks for more, the load fails at once.
    public var maximumRetryAfter: Duration
    /// The number of retries per server and minute, so that an outage doesn't multiply the load on the server.
    public var retriesPerMinute: Int
    /// A closure that returns true for errors where another attempt may succeed. It is called on any thread.
    public var isRetryable: @Sendable (ImageError) -> Bool
    /// A closure that returns a random number from 0 to 1 for each delay.
    package var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }
    /// A closure that waits after the delay until another attempt makes sense, for example until the computer is connected again; `nil`,
    /// the default, not to wait. If the closure throws an error, the load ends with the error of the last attempt.
    public var waitUntilReady: (@Sendable (ImageError) async throws -> Void)?

    /// Creates a policy. Each parameter sets the property of the same name.
    public init(
        maximumAttempts: Int = 3, baseDelay: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(30),
        maximumRetryAfter: Duration = .minutes(1), retriesPerMinute: Int = 100,
        isRetryable: @escaping @Sendable (ImageError) -> Bool = { RetryPolicy.isTransient($0) },
        waitUntilReady: (@Sendable (ImageError) async throws -> Void)? = nil
    ) {
        self.maximumAttempts = maximumAttempts
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.maximumRetryAfter = maximumRetryAfter
        self.retriesPerMinute = retriesPerMinute
        self.isRetryable = isRetryable
        self.waitUntilReady = waitUntilReady
    }

    /// A single attempt.
    public static let none = RetryPolicy(maximumAttempts: 1)

    /// Returns true for temporary errors: connections that fail or break, timeouts, incomplete bodies, and the statuses 408, 425, 429, 500,
    /// 502, 503, and 504.
    /// - Parameter error: the error.
    public static func isTransient(_ error: ImageError) -> Bool {
        switch error.code {
        case .connectionFailed, .connectionLost, .timedOut, .incompleteBody: true
        case .badStatus: error.statusCode.map { [408, 425, 429, 500, 502, 503, 504].contains($0) } ?? false
        default: false
        }
    }

    /// Returns the delay before the next attempt.
    /// - Parameters:
    ///   - error: the error of the last attempt.
    ///   - attempts: the number of attempts so far, at least 1.
    ///   - retryAfter: the delay that the server asked for; `nil` for none.
    /// - Returns: `nil` if no other attempt follows.
    func delay(after error: ImageError, attempts: Int, retryAfter: Duration?) -> Duration? {
        guard attempts < maximumAttempts, !error.isCancellation, isRetryable(error) else { return nil }
        let fraction = jitter()
        let bound = bound(attempts: attempts)
        // A number that is none is the largest.
        let delay = fraction < 1 ? bound * max(0, fraction) : bound
        guard let retryAfter else { return delay }
        return retryAfter <= maximumRetryAfter ? max(delay, retryAfter) : nil
    }

    /// `baseDelay` · 2^(`attempts` − 1), at most ``maximumDelay``, without overflow.
    private func bound(attempts: Int) -> Duration {
        var bound = baseDelay.boundedLimit
        let maximum = maximumDelay.boundedLimit
        var remaining = attempts - 1
        while remaining > 0, bound != .zero, !(bound >= maximum) {
            bound *= 2
            remaining -= 1
        }
        return min(bound, maximum)
    }
}

/// A budget that refills with time: the repetitions of a server.
struct RetryBudget: Sendable {
    private let capacity: Double
    private var tokens: Double
    private var last: Duration

    /// - Parameters:
    ///   - perMinute: the number of tokens, and of those that refill in a minute.
    ///   - now: the time, by any clock.
    init(perMinute: Int, at now: Duration) {
        capacity = Double(max(0, perMinute))
        tokens = capacity
        last = now
    }

    /// Takes a token.
    /// - Returns: false if there is none.
    mutating func take(at now: Duration) -> Bool {
        let elapsed = max(0, (now - last).inSeconds)
        last = now
        tokens = min(capacity, tokens + elapsed * capacity / 60)
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
