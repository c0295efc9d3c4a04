#if HTTP
internal import AsyncHTTPClient
public import FoundationEssentials
internal import NIOCore
public import TintypeCore

/// A loader for images over HTTP/1.1 and HTTP/2.
///
/// ```swift
/// let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 4, order: .lastInFirstOut))
/// let loaded = try await downloader.load(LoadRequest(url: url))
/// ```
///
/// At most ``Configuration/maximumConcurrentDownloads`` transfers run at once. The others wait, in the order of their priority,
/// which follows changes of ``LoadRequest/priority``. Connections are kept and reused.
///
/// A downloader closes its connections when it is released. ``shutdown()`` closes them earlier and waits for the end. The
/// threads belong to the process and are shared by all downloaders.
///
/// A downloader makes a request for each load. The manager combines equal loads.
public final class ImageDownloader: ImageLoading, Sendable {
    /// A downloader with the default configuration.
    public static let shared = ImageDownloader()

    /// The configuration that the downloader was created with.
    public let configuration: Configuration
    private let clients: HTTPClients
    private let slots: DownloadSlots
    private let time: Timekeeper
    private let totals = Lock(Statistics())
    private let liveHeaders: Lock<[String: String]>
    private let running = Lock(RunningLoads())
    private let isShutDown = Lock(false)

    /// The loads that ``cancelAll()`` ends.
    private struct RunningLoads {
        var tasks: [Int: Task<Result<LoadedData, ImageError>, Never>] = [:]
        var lastID = 0
    }

    /// Creates a downloader that measures time limits with a given clock, such as one that a test controls.
    /// - Parameters:
    ///   - configuration: the requests to make and the responses to accept.
    ///   - clock: the clock for time limits.
    public init<C: Clock>(_ configuration: Configuration = Configuration(), clock: C) where C.Duration == Duration {
        self.configuration = configuration
        time = Timekeeper(clock)
        slots = DownloadSlots(limit: configuration.maximumConcurrentDownloads, order: configuration.order)
        liveHeaders = Lock(configuration.headers)
        clients = HTTPClients { SharedHTTPClient(.init(configuration)) }
    }

    /// Creates a downloader.
    /// - Parameter configuration: the requests to make and the responses to accept.
    public convenience init(_ configuration: Configuration = Configuration()) {
        self.init(configuration, clock: ContinuousClock())
    }

    /// The number of transfers that may run at once.
    ///
    /// A change takes effect immediately, but ends no transfer that runs.
    public var maximumConcurrentDownloads: Int {
        get { slots.limit }
        set { slots.limit = newValue }
    }

    /// The header fields of every request, initially those of the configuration.
    ///
    /// A change applies to the transfers that begin after it. The fields are merged like ``Configuration/headers``.
    public var headers: [String: String] {
        get { liveHeaders.withLock { $0 } }
        set { liveHeaders.withLock { $0 = newValue } }
    }

    /// A Boolean value that is true while no transfer may begin. Transfers that run continue.
    public var isSuspended: Bool {
        get { slots.isSuspended }
        set { slots.isSuspended = newValue }
    }

    /// The state of the downloader and the sums of its work.
    public var statistics: Statistics {
        var statistics = totals.withLock { $0 }
        (statistics.active, statistics.waiting) = slots.counts
        return statistics
    }

    /// Cancels all loads, those that run and those that wait. They end with ``ImageError/Code/cancelled``.
    ///
    /// The downloader can be used afterward.
    public func cancelAll() {
        for task in running.withLock({ Array($0.tasks.values) }) { task.cancel() }
    }

    /// Closes all connections.
    ///
    /// Loads that run or wait end with ``ImageError/Code/cancelled``, and later ones with ``ImageError/Code/loadingDisallowed``.
    /// Shutting down again does nothing.
    public func shutdown() async {
        isShutDown.withLock { $0 = true }
        // A load that is registered later sees the flag.
        cancelAll()
        await clients.shutdown()
    }

    public var schemes: [String] { configuration.schemes.sorted() }

    public func canLoad(_ url: URL) -> Bool {
        url.scheme.map { configuration.schemes.contains($0.lowercased()) } ?? false
    }

    /// Loads the bytes of a URL.
    ///
    /// `user:password@` in the URL becomes a Basic authorization for its origin, and no error shows it. A GET whose kept connection
    /// breaks before the response is sent once more.
    /// - Parameter request: the URL, its header fields and priority, and a closure for progress.
    /// - Returns: the body and the properties of the response.
    /// - Throws: an ``ImageError`` whose source is the URL without credentials. Codes: ``ImageError/Code/invalidURL``,
    ///   ``ImageError/Code/cancelled``, ``ImageError/Code/badRequest``, ``ImageError/Code/connectionFailed``,
    ///   ``ImageError/Code/connectionLost``, ``ImageError/Code/timedOut``, ``ImageError/Code/badRedirect``,
    ///   ``ImageError/Code/badStatus``, ``ImageError/Code/badContentType``, ``ImageError/Code/badResponse``,
    ///   ``ImageError/Code/emptyBody``, ``ImageError/Code/incompleteBody``,
    ///   ``ImageError/Code/bodyTooLarge``, ``ImageError/Code/outOfMemory``, and ``ImageError/Code/loadingDisallowed`` after
    ///   ``shutdown()``.
    public func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        do throws(ImageError) {
            let loaded = try await cancellable { () throws(ImageError) in try await self.loadInTurn(request) }
            totals.withLock { $0.succeeded += 1 }
            return loaded
        } catch {
            totals.withLock { totals in
                if error.isCancellation { totals.cancelled += 1 } else { totals.failed += 1 }
            }
            throw error.withSource(request.url.shortDescription)
        }
    }

    /// Runs a load in a task that ``cancelAll()`` and the calling task can cancel.
    private func cancellable(
        _ load: @escaping @Sendable () async throws(ImageError) -> LoadedData
    ) async throws(ImageError) -> LoadedData {
        let (id, task) = running.withLock { running in
            let task = Task {
                do throws(ImageError) {
                    return Result<LoadedData, ImageError>.success(try await load())
                } catch {
                    return Result<LoadedData, ImageError>.failure(error)
                }
            }
            running.lastID += 1
            running.tasks[running.lastID] = task
            return (running.lastID, task)
        }
        defer { running.withLock { $0.tasks[id] = nil } }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }

    private func loadInTurn(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        guard !isShutDown.withLock({ $0 }) else {
            throw ImageError(.loadingDisallowed, stage: .load, reason: "the downloader is shut down")
        }
        try check(request.url)
        let wait = StageStopwatch.beginWait()
        let ticket = try await slots.acquire(request.priority)
        wait?.end()
        defer { slots.release(ticket) }
        totals.withLock { $0.started += 1 }

        let limits = TimeLimits(time, idle: configuration.idleLimit, total: configuration.totalLimit)
        var configuration = configuration
        configuration.headers = headers
        let transfer = Transfer(clients: clients, configuration: configuration, limits: limits) { [totals] count in
            totals.withLock { $0.receivedBytes += count }
        }
        return try await limits.run { () throws(ImageError) in try await transfer.run(request) }
    }

    private func check(_ url: URL) throws(ImageError) {
        guard canLoad(url) else {
            let problem = url.scheme.map { "the scheme “\($0)” can’t be loaded over HTTP" } ?? "the URL has no scheme"
            throw ImageError(
                .invalidURL, stage: .load,
                reason: "\(problem); supported schemes: \(schemes.joined(separator: ", "))")
        }
        guard let host = url.host(), !host.isEmpty else {
            throw ImageError(.invalidURL, stage: .load, reason: "the URL has no host")
        }
        guard url.hasPossiblePort else { throw .impossiblePort }
    }
}

extension HTTPClient.Configuration {
    init(_ configuration: ImageDownloader.Configuration) {
        // The downloader has redirects and time limits of its own. The client's limits come later, and only make sure that no
        // unwatched connection stays open.
        let limit = TimeAmount(configuration.idleLimit + .seconds(5))
        self.init(redirectConfiguration: .disallow, timeout: Timeout(connect: limit, read: limit))
        // The slots limit the number of connections.
        connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        // A server that refuses the connection is an answer: there is nothing to wait for.
        connectionPool.retryConnectionEstablishment = false
        // `ContentDecoder` decompresses, up to the limit of bytes rather than of a ratio.
        decompression = .disabled
        http1_1ConnectionDebugInitializer = { ResponseHeadGuard.install(on: $0) }
        http2StreamChannelDebugInitializer = { ResponseHeadGuard.installOnStream($0) }
    }
}
#endif
