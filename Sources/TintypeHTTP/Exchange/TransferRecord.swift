internal import FoundationEssentials
internal import TintypeLoading

/// The observations of one load: its measurements, and the last response.
final class TransferRecord: Sendable {
    private struct State {
        var metrics = TransferMetrics()
        var head: SourceResponse?
        var requestStart = Duration.zero
        var headTime = Duration.zero
    }

    private let state = Lock(State())

    var metrics: TransferMetrics { state.withLock { $0.metrics } }

    /// The head of the last response.
    var head: SourceResponse? { state.withLock { $0.head } }

    func update(_ change: (inout TransferMetrics) -> Void) { state.withLock { change(&$0.metrics) } }

    /// Begins an attempt or the request of a redirect.
    func recordRequest(at now: Duration) {
        state.withLock { state in
            state.requestStart = now
            state.head = nil
        }
    }

    func recordHead(_ head: SourceResponse, at now: Duration) {
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
