internal import FoundationEssentials
internal import TintypeLoading

/// The retry budgets and circuit breakers of all servers of a downloader.
final class ServerRecords: Sendable {
    /// The number of servers at which servers without failures start to be removed.
    private static let maximumServers = 1_000

    private struct Record {
        var budget: RetryBudget
        var breaker: CircuitBreaker?
    }

    private let retry: RetryPolicy
    private let breaker: CircuitBreakerPolicy?
    private let now: @Sendable () -> Duration
    private let records = Lock<[String: Record]>([:])

    init(retry: RetryPolicy, breaker: CircuitBreakerPolicy?, now: @escaping @Sendable () -> Duration) {
        self.retry = retry
        self.breaker = breaker
        self.now = now
    }

    /// Returns true if the request is a probe.
    /// - Throws: ``ImageError/Code/hostUnavailable``.
    func admit(_ server: String) throws(ImageError) -> Bool {
        guard breaker != nil else { return false }
        let now = now()
        switch change(server, at: now, { $0.breaker?.admit(at: now) ?? .allowed }) {
        case .allowed: return false
        case .probe: return true
        case .refused(let end):
            let wait = end.map { "; the next attempt is in \(Int(max(1, ($0 - now).inSeconds.rounded(.up)))) s" } ?? ""
            throw ImageError(
                .hostUnavailable, stage: .load,
                reason: "the server failed several times in a row, so it isn't asked again for a while\(wait)")
        }
    }

    /// Notes the end of a request.
    /// - Parameters:
    ///   - error: `nil` for success.
    ///   - hasAnswered: true if there was a response, whatever was wrong with it.
    func record(_ error: ImageError?, of server: String, isProbe: Bool, hasAnswered: Bool) {
        guard breaker != nil else { return }
        let now = now()
        change(server, at: now) { record in
            if let error, CircuitBreakerPolicy.concernsServer(error) {
                record.breaker?.recordFailure(isProbe: isProbe, at: now)
            } else if error == nil || hasAnswered {
                record.breaker?.recordSuccess()
            } else {
                record.breaker?.recordNothing(isProbe: isProbe, at: now)
            }
        }
    }

    /// Takes a repetition from the budget of a server.
    func takeRetry(_ server: String) -> Bool {
        let now = now()
        return change(server, at: now) { $0.budget.take(at: now) }
    }

    @discardableResult
    private func change<Result: Sendable>(
        _ server: String, at now: Duration, _ body: (inout Record) -> Result
    ) -> Result {
        records.withLock { records in
            if records.count >= Self.maximumServers, records[server] == nil {
                records = records.filter { !($0.value.breaker?.isIdle ?? true) }
                // All of them fail: which are remembered matters little.
                if records.count >= Self.maximumServers { records = [:] }
            }
            var record =
                records[server]
                ?? Record(
                    budget: RetryBudget(perMinute: retry.retriesPerMinute, at: now),
                    breaker: breaker.map { CircuitBreaker($0) })
            let result = body(&record)
            records[server] = record
            return result
        }
    }
}

extension URL {
    /// The scheme, host, and port, which name a server.
    var server: String {
        "\(scheme?.lowercased() ?? "")://\(host()?.lowercased() ?? ""):\(serverPort)"
    }

    /// The port, also if it is that of the scheme.
    var serverPort: Int { port ?? (scheme?.lowercased() == "https" ? 443 : 80) }
}
