internal import TintypeCore

/// The time limits of one transfer: how long nothing may come, and how long all of it may take.
final class TimeLimits: Sendable {
    private let time: Timekeeper
    private let idle: Duration
    private let end: Duration?
    private let total: Duration?
    private let lastSign: Lock<Duration>

    init(_ time: Timekeeper, idle: Duration, total: Duration?) {
        self.time = time
        self.idle = idle
        self.total = total
        let now = time.now()
        end = total.map { now + $0 }
        lastSign = Lock(now)
    }

    /// Says that something came.
    func sign() {
        let now = time.now()
        lastSign.withLock { $0 = now }
    }

    /// Runs `work` and cancels it when a limit is exceeded.
    ///
    /// One task sleeps beside each transfer. A sign of life does not wake it: it looks when it wakes whether it was too early.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let result: Result<Value, ImageError> = await withTaskGroup(of: Outcome<Value>.self) { group in
            group.addTask {
                do throws(ImageError) {
                    return .ended(.success(try await work()))
                } catch {
                    return .ended(.failure(error))
                }
            }
            group.addTask { await self.expiry().map { .expired($0) } ?? .stopped }

            var expired: ImageError?
            for await outcome in group {
                switch outcome {
                case .expired(let error):
                    expired = error
                    group.cancelAll()
                case .stopped: break
                case .ended(let result):
                    group.cancelAll()
                    guard case .failure(let error) = result, error.isCancellation, let expired else { return result }
                    return .failure(expired)
                }
            }
            return .failure(ImageError(.cancelled, stage: .load, reason: "cancelled"))
        }
        return try result.get()
    }

    /// Sleeps until a limit is exceeded; `nil` if it is cancelled before that.
    private func expiry() async -> ImageError? {
        while true {
            let now = time.now()
            let silent = lastSign.withLock { $0 } + idle
            if now >= silent { return error("nothing came for \(idle.inWords)") }
            if let end, let total, now >= end { return error("the transfer took longer than \(total.inWords)") }
            do { try await time.sleep(min(silent, end ?? silent)) } catch { return nil }
        }
    }

    private func error(_ reason: String) -> ImageError { ImageError(.timedOut, stage: .load, reason: reason) }
}

/// How one of the two tasks of a transfer ended.
private enum Outcome<Value: Sendable>: Sendable {
    case ended(Result<Value, ImageError>)
    case expired(ImageError)
    case stopped
}

/// A clock without its type; times are counted from when it was made.
struct Timekeeper: Sendable {
    let now: @Sendable () -> Duration
    /// Sleeps until a time, or throws when it is cancelled.
    let sleep: @Sendable (Duration) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }
}

extension Duration {
    /// The duration in seconds without needless digits, such as `15 s`.
    fileprivate var inWords: String {
        components.attoseconds == 0 ? "\(components.seconds) s" : "\(Int(inMilliseconds.rounded())) ms"
    }
}
