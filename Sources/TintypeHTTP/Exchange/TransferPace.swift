internal import TintypeLoading

/// A state machine that decides when a transfer is too slow.
struct TransferPace: Sendable {
    /// The limits of a transfer.
    struct Limits: Sendable {
        /// The longest silence.
        var idle: Duration
        /// The longest duration of the whole transfer.
        var total: Duration?
        /// The longest wait for the head of a response.
        var firstByte: Duration?
        /// The smallest number of bytes of the body per second, on average over ``speedPeriod``.
        var minimumSpeed: Int?

        /// The period of the speed measurement.
        static let speedPeriod = Duration.seconds(10)
    }

    /// The answer to the question whether a limit is exceeded.
    enum Verdict: Equatable {
        /// None is exceeded before a time.
        case fine(until: Duration)
        case exceeded(String)
    }

    private let limits: Limits
    private let start: Duration
    private var lastActivity: Duration
    /// The time when the last request was sent, until its response has started.
    private var requestStart: Duration?
    /// The start of the period of the speed measurement, and the bytes since; `nil` before the body.
    private var period: (start: Duration, bytes: Int)?
    /// True while a closure of the program runs, whose time the server isn't to blame for.
    private var isPaused = false
    /// The time since when something that arrived waits for the program, whose threads may be busy; `nil` if nothing does.
    private var untakenSince: Duration?

    init(_ limits: Limits, at now: Duration) {
        self.limits = limits
        start = now
        lastActivity = now
    }

    mutating func recordRequest(at now: Duration) {
        (lastActivity, requestStart, period, untakenSince) = (now, now, nil, nil)
    }

    /// Notes that something arrived that waits for the program: until it is taken, only the limit of the whole transfer counts.
    mutating func recordArrival(at now: Duration) {
        (lastActivity, requestStart) = (now, nil)
        if untakenSince == nil { untakenSince = now }
    }

    /// Notes that the program has taken the arrivals. The wait isn't part of the period of the speed measurement.
    mutating func recordTaken(at now: Duration) {
        guard let since = untakenSince.take() else { return }
        lastActivity = now
        if let (start, bytes) = period { period = (start + (now - max(start, since)), bytes) }
    }

    mutating func recordHead(at now: Duration) { (lastActivity, requestStart) = (now, nil) }

    /// Notes bytes of the body; the first bytes start the measurement of the speed.
    mutating func recordBody(_ bytes: Int, at now: Duration) {
        lastActivity = now
        let (start, count) = period ?? (now, 0)
        period = (start, count + bytes)
    }

    /// Notes that a closure of the program starts: until it ends, only the limit of the whole transfer counts.
    mutating func recordPause() { isPaused = true }

    /// Notes that a closure of the program has ended.
    mutating func recordResumption(at now: Duration) {
        isPaused = false
        lastActivity = now
        if period != nil { period = (now, 0) }
    }

    mutating func check(at now: Duration) -> Verdict {
        let isPaused = isPaused || untakenSince != nil
        var next = (isPaused ? now : lastActivity) + limits.idle
        if now >= next { return .exceeded("no data arrived for \(limits.idle.inWords)") }
        if let total = limits.total {
            if now >= start + total { return .exceeded("the transfer took longer than \(total.inWords)") }
            next = min(next, start + total)
        }
        guard !isPaused else { return .fine(until: next) }
        if let firstByte = limits.firstByte {
            // Another request may be sent at any time, and isn't late before this.
            let end = (requestStart ?? now) + firstByte
            if now >= end, requestStart != nil {
                return .exceeded("the response didn't begin within \(firstByte.inWords)")
            }
            next = min(next, end)
        }
        if let speed = limits.minimumSpeed {
            // Before the body, nothing is measured: the wait is at most a period too long.
            guard let (start, bytes) = period else { return .fine(until: min(next, now + Limits.speedPeriod)) }
            let end = start + Limits.speedPeriod
            guard now >= end else { return .fine(until: min(next, end)) }
            let rate = Double(bytes) / (now - start).inSeconds
            if rate < Double(speed) {
                return .exceeded(
                    "only \(ByteCount(Int(rate))) arrived per second; the minimum is \(ByteCount(speed)) per second")
            }
            period = (now, 0)
            next = min(next, now + Limits.speedPeriod)
        }
        return .fine(until: next)
    }
}

extension Duration {
    /// The duration in seconds without needless digits, such as `15 s`.
    var inWords: String {
        components.attoseconds == 0 ? "\(components.seconds) s" : "\(Int(inMilliseconds.rounded())) ms"
    }
}
