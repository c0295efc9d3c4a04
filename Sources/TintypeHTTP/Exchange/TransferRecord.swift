internal import FoundationEssentials
internal import TintypeLoading

/// The observations of a load: its measurements, and the last response.
final class TransferRecord: Sendable {
    private struct State {
        var metrics = TransferMetrics()
        var head: ResponseHead?
        var requestStart = Duration.zero
        var headTime = Duration.zero
        var mayRepeat = true
    }

    private let state = Lock(State())

    var metrics: TransferMetrics { state.withLock { $0.metrics } }

    /// The head of the last response.
    var head: ResponseHead? { state.withLock { $0.head } }

    func update(_ change: (inout TransferMetrics) -> Void) { state.withLock { change(&$0.metrics) } }

    /// True if the request of the last attempt may be sent again: a GET or HEAD without a body.
    var mayRepeat: Bool { state.withLock { $0.mayRepeat } }

    /// Starts an attempt, with its request as closures have changed it.
    func recordAttempt(_ request: DownloadRequest) {
        state.withLock { state in
            (state.metrics.redirects, state.metrics.resumedBytes) = (0, 0)
            state.mayRepeat = ["GET", "HEAD"].contains(request.method) && request.body == nil
        }
    }

    /// Starts an attempt or the request of a redirect.
    func recordRequest(at now: Duration) {
        state.withLock { state in
            state.requestStart = now
            state.metrics.start = Date()
            state.head = nil
        }
    }

    func recordHead(_ head: ResponseHead, at now: Duration) {
        state.withLock { state in
            state.head = head
            state.headTime = now
            state.metrics.firstByte = now - state.requestStart
        }
    }

    func recordEnd(at now: Duration) {
        state.withLock { $0.metrics.body = now - $0.headTime }
    }
}
