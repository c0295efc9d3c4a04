internal import TintypeCore

/// The time limits of one transfer: the longest silence, and the longest duration of the whole transfer.
final class TimeLimits: Sendable {
    private let time: Timekeeper
    private let idle: Duration
    private let end: Duration?
    private let total: Duration?
    private let lastActivity: Lock<Duration>

    init(_ time: Timekeeper, idle: Duration, total: Duration?) {
        self.time = time
        self.idle = idle
        self.total = total
        let now = time.now()
        end = total.map { now + $0 }
        lastActivity = Lock(now)
    }

    /// Notes that something arrived.
    func recordActivity() {
        let now = time.now()
        lastActivity.withLock { $0 = now }
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

    /// Runs `work` and cancels it when a limit is exceeded.
    ///
    /// One task sleeps beside each transfer. Activity does not wake it: when it wakes, it checks whether it woke too early.
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
            return .failure(ImageError(.cancelled, stage: .load, reason: "the load was cancelled"))
        }
        return try result.get()
    }

    /// Sleeps until a limit is exceeded.
    /// - Returns: `nil` if the task is cancelled before that.
    private func expiry() async -> ImageError? {
        while true {
            let now = time.now()
            let silent = lastActivity.withLock { $0 } + idle
            if now >= silent { return error("no data arrived for \(idle.inWords)") }
            if let end, let total, now >= end { return error("the transfer took longer than \(total.inWords)") }
            do { try await time.sleep(min(silent, end ?? silent)) } catch { return nil }
        }
    }

    private func error(_ reason: String) -> ImageError { ImageError(.timedOut, stage: .load, reason: reason) }
}

/// The end of one of the two tasks of a transfer.
private enum Outcome<Value: Sendable>: Sendable {
    case ended(Result<Value, ImageError>)
    case expired(ImageError)
    case stopped
}

/// A clock without its type. Times are counted from its creation.
struct Timekeeper: Sendable {
    let now: @Sendable () -> Duration
    /// Sleeps until a time, or throws when the task is cancelled.
    let sleep: @Sendable (Duration) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }
}

extension Duration {
    /// The longest time limit. Longer ones overflow clocks, and never expire in practice.
    static let longestLimit = Duration.seconds(10 * 365 * 86_400)

    /// The duration in seconds without needless digits, such as `15 s`.
    fileprivate var inWords: String {
        components.attoseconds == 0 ? "\(components.seconds) s" : "\(Int(inMilliseconds.rounded())) ms"
    }
}
