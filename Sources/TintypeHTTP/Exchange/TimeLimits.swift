internal import TintypeCore

/// The time limits of one transfer, as a ``TransferPace`` decides.
final class TimeLimits: Sendable {
    private let time: Timekeeper
    private let pace: Lock<TransferPace>

    init(_ time: Timekeeper, _ limits: TransferPace.Limits) {
        self.time = time
        pace = Lock(TransferPace(limits, at: time.now()))
    }

    /// The time since an arbitrary moment.
    var now: Duration { time.now() }

    /// Notes that something arrived.
    func recordActivity() { record { $0.recordHead(at: $1) } }

    /// Notes that a request is sent.
    func recordRequest() { record { $0.recordRequest(at: $1) } }

    /// Notes that bytes of the body arrived.
    func recordBody(_ bytes: Int) { record { $0.recordBody(bytes, at: $1) } }

    private func record(_ change: (inout TransferPace, Duration) -> Void) {
        let now = time.now()
        pace.withLock { change(&$0, now) }
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
            switch pace.withLock({ $0.check(at: now) }) {
            case .exceeded(let reason): return error(reason)
            case .fine(let next): do { try await time.sleep(next) } catch { return nil }
            }
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
}
