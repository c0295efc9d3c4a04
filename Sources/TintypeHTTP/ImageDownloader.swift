#if HTTP
internal import AsyncHTTPClient
public import FoundationEssentials
internal import NIOCore
public import TintypeCore

/// Loads images over HTTP/1.1 and HTTP/2.
///
/// ```swift
/// let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 4, order: .lastInFirstOut))
/// let loaded = try await downloader.load(LoadRequest(url: url))
/// ```
///
/// At most ``Configuration/maximumConcurrentDownloads`` transfers run at once; the others wait, the most urgent first, and
/// follow changes of their ``LoadRequest/priority``. Connections are kept and used again.
///
/// A downloader needs no care: when nobody holds it any more it closes its connections. ``shutdown()`` does so earlier, and says
/// when it is done. The threads belong to the process and are shared by all downloaders.
///
/// It loads what it is asked for, as often as it is asked: that equal loads are made once is up to the manager.
public final class ImageDownloader: ImageLoading, Sendable {
    /// The downloader of programs that need no configuration.
    public static let shared = ImageDownloader()

    public let configuration: Configuration
    private let client: HTTPClient
    private let slots: DownloadSlots
    private let time: Timekeeper
    private let totals = Lock(Statistics())

    /// - Parameter clock: what time limits are measured by; tests put their own here.
    public init<C: Clock>(_ configuration: Configuration = Configuration(), clock: C) where C.Duration == Duration {
        self.configuration = configuration
        time = Timekeeper(clock)
        slots = DownloadSlots(limit: configuration.maximumConcurrentDownloads, order: configuration.order)
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .init(configuration))
    }

    public convenience init(_ configuration: Configuration = Configuration()) {
        self.init(configuration, clock: ContinuousClock())
    }

    deinit {
        // Nothing is under way: a load holds its downloader. Only idle connections are closed, and nobody waits for that.
        client.shutdown { _ in }
    }

    /// How many transfers run at once. A change takes effect at once, but ends nothing that runs.
    public var maximumConcurrentDownloads: Int {
        get { slots.limit }
        set { slots.limit = newValue }
    }

    /// While true no transfer begins; those that run go on.
    public var isSuspended: Bool {
        get { slots.isSuspended }
        set { slots.isSuspended = newValue }
    }

    public var statistics: Statistics {
        var statistics = totals.withLock { $0 }
        (statistics.active, statistics.waiting) = slots.counts
        return statistics
    }

    /// Closes all connections. Loads that run end with ``ImageError/Code/cancelled``, later ones with
    /// ``ImageError/Code/loadingDisallowed``. Shutting down again does nothing.
    public func shutdown() async {
        // The one error there is says that it is shut down already.
        try? await client.shutdown()
    }

    public var schemes: [String] { configuration.schemes.sorted() }

    public func canLoad(_ url: URL) -> Bool {
        url.scheme.map { configuration.schemes.contains($0.lowercased()) } ?? false
    }

    /// Gets the bytes behind a URL.
    ///
    /// `user:password@` in the URL becomes a Basic authorization for that origin, and is shown in no error. A GET whose
    /// connection broke before anything came, as kept connections do, is sent once more.
    /// - Throws: an ``ImageError`` whose source is the URL without credentials. Codes: ``ImageError/Code/invalidURL``,
    ///   ``ImageError/Code/cancelled``, ``ImageError/Code/badRequest``, ``ImageError/Code/connectionFailed``,
    ///   ``ImageError/Code/connectionLost``, ``ImageError/Code/timedOut``, ``ImageError/Code/badRedirect``,
    ///   ``ImageError/Code/badStatus``, ``ImageError/Code/badContentType``, ``ImageError/Code/badResponse``,
    ///   ``ImageError/Code/emptyBody``, ``ImageError/Code/incompleteBody``,
    ///   ``ImageError/Code/bodyTooLarge``, ``ImageError/Code/loadingDisallowed`` after ``shutdown()``.
    public func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        do throws(ImageError) {
            let loaded = try await loadInTurn(request)
            totals.withLock { $0.succeeded += 1 }
            return loaded
        } catch {
            totals.withLock { totals in
                if error.isCancellation { totals.cancelled += 1 } else { totals.failed += 1 }
            }
            throw error.withSource(request.url.shortDescription)
        }
    }

    private func loadInTurn(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        try check(request.url)
        let ticket = try await slots.acquire(request.priority)
        defer { slots.release(ticket) }
        totals.withLock { $0.started += 1 }

        let limits = TimeLimits(time, idle: configuration.idleLimit, total: configuration.totalTimeout)
        let transfer = Transfer(client: client, configuration: configuration, limits: limits) { [totals] count in
            totals.withLock { $0.receivedBytes += count }
        }
        return try await limits.run { () throws(ImageError) in try await transfer.run(request) }
    }

    private func check(_ url: URL) throws(ImageError) {
        guard canLoad(url) else {
            let scheme = url.scheme.map { "the scheme “\($0)” is not" } ?? "a URL without a scheme is not"
            throw ImageError(
                .invalidURL, stage: .load,
                reason: "\(scheme) loaded over HTTP, only \(schemes.joined(separator: " and "))")
        }
        guard let host = url.host(), !host.isEmpty else {
            throw ImageError(.invalidURL, stage: .load, reason: "the URL has no host")
        }
    }
}

extension HTTPClient.Configuration {
    init(_ configuration: ImageDownloader.Configuration) {
        // Redirects and time limits are ours. The client's own limits come later than ours, and only make sure that no
        // connection stays behind that nobody watches.
        let slack = configuration.idleLimit + .seconds(5)
        let limit = TimeAmount(slack)
        self.init(redirectConfiguration: .disallow, timeout: Timeout(connect: limit, read: limit))
        // The slots limit how many there are.
        connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        // A server that refuses the connection is an answer: there is nothing to wait for.
        connectionPool.retryConnectionEstablishment = false
        // For servers that compress although they are asked not to: at most 25 bytes for one.
        decompression = Self.singletonConfiguration.decompression
    }
}
#endif
