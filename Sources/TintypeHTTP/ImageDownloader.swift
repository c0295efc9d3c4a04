#if HTTP
public import FoundationEssentials
public import TintypeLoading

/// A loader for images over HTTP/1.1 and HTTP/2.
///
/// ```swift
/// let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 4, newestFirst: true))
/// let loaded = try await downloader.load(LoadRequest(url: url))
/// ```
///
/// Normally at most ``Configuration/maximumConcurrentDownloads`` transfers run at once. The others wait in the order of their priority,
/// which follows changes of ``LoadRequest/priority``. Connections are kept and reused. A slow host doesn't block others: while it holds
/// more than half of the slots, additional transfers start for waiting downloads.
///
/// A downloader closes its connections when it is released. ``shutdown(cancelsLoads:)`` closes them earlier and waits for the end. The
/// threads belong to the process and are shared by all downloaders.
///
/// A downloader makes one request for each load. The manager combines equal loads.
public final class ImageDownloader: ImageLoading, Sendable {
    /// A downloader with the default configuration.
    public static let shared = ImageDownloader()

    /// The configuration that the downloader was created with.
    public let configuration: Configuration
    let clients: HTTPClients
    let tls: TLSConfigurations
    private let slots: DownloadSlots
    private let time: Timekeeper
    private let watch: TransferWatch
    private let totals = Lock(Statistics())
    private let liveHeaders: Lock<[String: String]>
    private let running = Lock(RunningLoads())
    private let servers: ServerRecords

    /// The loads that ``cancelAll()`` ends.
    private struct RunningLoads {
        /// True if no load starts anymore.
        var isShutDown = false
        var loads: [Int: RunningLoad] = [:]
        var lastID = 0
        /// Callers that wait until no load runs.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// Creates a downloader.
    /// - Parameters:
    ///   - configuration: the requests to make and the responses to accept.
    ///   - clock: the clock for time limits, such as a test's clock.
    public init(_ configuration: Configuration = Configuration(), clock: some Clock<Duration> = ContinuousClock()) {
        self.configuration = configuration
        time = Timekeeper(clock)
        watch = TransferWatch(time)
        slots = DownloadSlots(
            limit: configuration.maximumConcurrentDownloads, hostLimit: configuration.maximumDownloadsPerHost,
            newestFirst: configuration.newestFirst)
        liveHeaders = Lock(configuration.headers)
        tls = TLSConfigurations(configuration.tls)
        clients = HTTPClients { [tls] in SharedHTTPClient(.init(configuration, $0, tls.common)) }
        servers = ServerRecords(retry: configuration.retry, breaker: configuration.circuitBreaker, now: time.now)
    }

    /// The number of transfers that may run at once.
    ///
    /// A change takes effect immediately, but doesn't end running transfers.
    public var maximumConcurrentDownloads: Int {
        get { slots.limit }
        set { slots.limit = newValue }
    }

    /// The header fields of every request, initially the configuration's.
    ///
    /// A change applies to the transfers that start after it. The fields are merged like ``Configuration/headers``.
    public var headers: [String: String] {
        get { liveHeaders.withLock { $0 } }
        set { liveHeaders.withLock { $0 = newValue } }
    }

    /// True while no transfers may start. Running transfers continue.
    public var isSuspended: Bool {
        get { slots.isSuspended }
        set {
            slots.isSuspended = newValue
            configuration.observer?(newValue ? .suspended : .resumed)
        }
    }

    /// The state of the downloader and the totals of its work.
    public var statistics: Statistics {
        var statistics = totals.withLock { $0 }
        (statistics.active, statistics.waiting) = slots.counts
        return statistics
    }

    /// Cancels all running and waiting loads. They end with ``ImageError/Code/cancelled``.
    ///
    /// The downloader can be used afterward.
    public func cancelAll() {
        for load in running.withLock({ Array($0.loads.values) }) { load.cancel() }
    }

    /// Ends all loads, and closes all connections.
    ///
    /// Later loads end with ``ImageError/Code/loadingDisallowed``. A connection attempt without an answer can't be ended: the call waits
    /// for it up to 5 s longer than ``Configuration/timeout``, and then abandons it. Shutting down again does nothing. Neither does
    /// shutting down ``shared``, which belongs to the whole program.
    /// - Parameter cancelsLoads: true to end running and waiting loads with ``ImageError/Code/cancelled``; false to wait for them to end.
    ///   In a suspended downloader, waiting loads never end by themselves.
    public func shutdown(cancelsLoads: Bool = true) async {
        guard self !== Self.shared else { return }
        running.withLock { $0.isShutDown = true }
        if !cancelsLoads { await waitForLoads() }
        cancelAll()
        await clients.shutdown(within: configuration.idleLimit + .seconds(5), time)
    }

    private func waitForLoads() async {
        await withCheckedContinuation { continuation in
            let isIdle = running.withLock { running in
                if !running.loads.isEmpty { running.waiting.append(continuation) }
                return running.loads.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }

    public var schemes: [String] { configuration.schemes.sorted() }

    public func canLoad(_ url: URL) -> Bool {
        url.scheme.map { configuration.schemes.contains($0.lowercased()) } ?? false
    }

    public var addsRequestHeaders: Bool { !headers.isEmpty || configuration.headerProvider != nil }

    public func cookies(for url: URL) -> String? { configuration.cookies?.cookies(for: url) }

    /// Returns the fields of a request, with ``headers``, the authorization from `user:password@` in the URL, and the fields from
    /// ``Configuration/headerProvider``.
    ///
    /// Fields that closures add later, such as credentials for a challenge, aren't included, and neither are ``cookies(for:)``.
    /// - Parameters:
    ///   - headers: the header fields of the request.
    ///   - url: the URL of the request.
    public func requestHeaders(_ headers: [String: String], for url: URL) -> [String: String] {
        let own = self.headers
        guard !own.isEmpty || configuration.headerProvider != nil || url.hasCredentials else { return headers }
        var request = DownloadRequest(url: url, headers: Configuration.defaultFields)
        request.headers.merge(own)
        request.headers.merge(headers)
        request.moveCredentialsToHeader()
        let fields = configuration.headerProvider?(request.url, request.headers) ?? request.headers
        return Dictionary(fields.all.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// Loads the bytes of a URL.
    ///
    /// `user:password@` in the URL becomes a Basic authorization for its origin, and never appears in errors. If a reused connection breaks
    /// before the response, a GET or HEAD request is sent again, until a new connection breaks.
    /// - Parameter request: the URL, its header fields and priority, and a closure for progress.
    /// - Returns: the body and the properties of the response.
    /// - Throws: an ``ImageError`` whose source is the URL without credentials. Codes: ``ImageError/Code/invalidURL``,
    ///   ``ImageError/Code/cancelled``, ``ImageError/Code/badRequest``, ``ImageError/Code/connectionFailed``,
    ///   ``ImageError/Code/connectionLost``, ``ImageError/Code/timedOut``, ``ImageError/Code/badRedirect``,
    ///   ``ImageError/Code/badStatus``, ``ImageError/Code/badContentType``, ``ImageError/Code/badResponse``,
    ///   ``ImageError/Code/emptyBody``, ``ImageError/Code/incompleteBody``,
    ///   ``ImageError/Code/bodyTooLarge``, ``ImageError/Code/hostUnavailable`` with a circuit breaker, ``ImageError/Code/outOfMemory``, and ``ImageError/Code/loadingDisallowed`` after
    ///   ``shutdown(cancelsLoads:)``.
    public func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        do throws(ImageError) {
            let load = try beginLoad(of: try checked(request))
            defer { endLoad(load.id) }
            let loaded = try await loadWithRetries(load)
            totals.withLock { $0.succeeded += 1 }
            return loaded
        } catch {
            totals.withLock { totals in
                if error.isCancellation { totals.cancelled += 1 } else { totals.failed += 1 }
            }
            throw error.withSource(request.url.shortDescription)
        }
    }

    private static let shutDown = ImageError(
        .loadingDisallowed, stage: .load, reason: "the downloader is shut down")

    /// A load, over all of its attempts.
    final class Load: Sendable {
        let request: LoadRequest
        let id: Int
        let running = RunningLoad()
        let record = TransferRecord()
        let progress = Lock(ProgressReporter.State())

        init(request: LoadRequest, id: Int) {
            self.request = request
            self.id = id
        }
    }

    /// Notes bytes of a body that arrived.
    func countBytes(_ count: Int) { totals.withLock { $0.receivedBytes += count } }

    private func beginLoad(of request: LoadRequest) throws(ImageError) -> Load {
        let load = running.withLock { running -> Load? in
            guard !running.isShutDown else { return nil }
            running.lastID += 1
            let load = Load(request: request, id: running.lastID)
            running.loads[load.id] = load.running
            return load
        }
        guard let load else { throw Self.shutDown }
        return load
    }

    private func endLoad(_ id: Int) {
        let waiting = running.withLock { running -> [CheckedContinuation<Void, Never>] in
            running.loads[id] = nil
            guard running.loads.isEmpty else { return [] }
            defer { running.waiting = [] }
            return running.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Attempts a load until it succeeds, or the policy gives up.
    private func loadWithRetries(_ load: Load) async throws(ImageError) -> LoadedData {
        while true {
            let failure: ImageError
            let visits = ServerVisits(servers, slots)
            do throws(ImageError) {
                try visits.begin(at: load.request.url)
                do throws(ImageError) {
                    var loaded = try await loadInTurn(load, visits)
                    visits.end(nil)
                    loaded.transfer = load.record.metrics
                    configuration.observer?(.finished(id: load.id, load.record.metrics, nil))
                    return loaded
                } catch {
                    visits.end(error)
                    throw error
                }
            } catch {
                failure = error
            }
            let server = visits.lastServer ?? load.request.url.server
            guard let delay = delay(after: failure, of: load, server: server) else {
                throw finish(load, with: failure)
            }
            let deadline = time.now() + delay
            configuration.observer?(.retrying(id: load.id, after: failure, delay: delay))
            do throws(ImageError) {
                try await load.running.runClosure { [time, configuration, failure] () throws(ImageError) in
                    do { try await time.sleep(deadline) } catch { throw .cancelledTransfer }
                    do { try await configuration.retry.waitUntilReady?(failure) } catch {
                        throw Task.isCancelled ? .cancelledTransfer : failure
                    }
                }
            } catch {
                throw finish(load, with: error)
            }
            load.record.update { metrics in
                metrics.backoff += delay
                metrics.attempts += 1
            }
        }
    }

    /// Tells the observer that a load failed for good.
    /// - Returns: the error with the last response.
    private func finish(_ load: Load, with failure: ImageError) -> ImageError {
        var error = failure
        if error.response == nil { error.response = load.record.head }
        configuration.observer?(.finished(id: load.id, load.record.metrics, error))
        return error
    }

    /// The delay before the next attempt; `nil` if there is none.
    private func delay(after error: ImageError, of load: Load, server: String) -> Duration? {
        guard load.record.mayRepeat else { return nil }
        let fields = load.record.head?.headers
        let retryAfter = RetryAfter.delay(fields?["Retry-After"], date: fields?["Date"], now: Date())
        let delay = configuration.retry.delay(
            after: error, attempts: load.record.metrics.attempts, retryAfter: error.statusCode == nil ? nil : retryAfter
        )
        guard let delay, servers.takeRetry(server) else { return nil }
        return delay
    }

    /// A single attempt.
    /// - Parameter visits: The servers that the attempt asks.
    private func loadInTurn(_ load: Load, _ visits: ServerVisits) async throws(ImageError) -> LoadedData {
        let start = time.now()
        let wait = StageStopwatch.beginWait()
        let cancel = try load.running.beginAttempt()
        defer { load.running.endAttempt() }
        try await visits.acquireSlot(for: load)
        defer { visits.releaseSlot() }
        if load.request.budget?.hasRoom == false {
            try await load.running.run { () throws(ImageError) in try await load.request.waitForRoom() }
        }
        wait?.end()
        let now = time.now()
        load.record.update { $0.waiting += now - start }
        totals.withLock { $0.started += 1 }
        configuration.observer?(.started(id: load.id, url: load.request.url.withoutCredentials))

        let limits = TimeLimits(configuration.paceLimits, watch: watch, at: now)
        let context = TransferContext(
            downloader: self, load: load, headers: headers, limits: limits, visits: visits)
        let loaded = try await limits.run(from: now, cancel: cancel) { () throws(ImageError) in
            try await Transfer(context: context).run()
        }
        guard !load.running.isCancelled else { throw .cancelledTransfer }
        return loaded
    }

    /// The request with its host in ASCII and in lowercase.
    /// - Throws: ``ImageError/Code/invalidURL``.
    private func checked(_ request: LoadRequest) throws(ImageError) -> LoadRequest {
        let url = request.url
        guard canLoad(url) else {
            let problem = url.scheme.map { "the scheme “\($0)” can't be loaded over HTTP" } ?? "the URL has no scheme"
            throw ImageError(
                .invalidURL, stage: .load,
                reason: "\(problem); supported schemes: \(schemes.joined(separator: ", "))")
        }
        guard let host = url.host(), !host.isEmpty else {
            throw ImageError(.invalidURL, stage: .load, reason: "the URL has no host")
        }
        guard url.hasPossiblePort else { throw .impossiblePort }
        guard let encoded = url.withCanonicalHost else { throw .impossibleHost }
        var request = request
        request.url = encoded
        return request
    }
}
#endif
