#if HTTP
internal import TintypeLoading

/// The environment of an attempt to load a URL, which its parts share.
final class TransferContext: Sendable {
    let downloader: ImageDownloader
    let load: ImageDownloader.Load
    /// The header fields of the downloader at the moment when the attempt started.
    let headers: [String: String]
    let limits: TimeLimits
    let visits: ServerVisits

    init(
        downloader: ImageDownloader, load: ImageDownloader.Load, headers: [String: String], limits: TimeLimits,
        visits: ServerVisits
    ) {
        self.downloader = downloader
        self.load = load
        self.headers = headers
        self.limits = limits
        self.visits = visits
    }

    var configuration: ImageDownloader.Configuration { downloader.configuration }
    var record: TransferRecord { load.record }
    var running: RunningLoad { load.running }

    /// Runs a closure of the program, whose time doesn't count as silence of the server.
    func runClosure<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        limits.recordPause()
        defer { limits.recordResumption() }
        return try await running.runClosure(work)
    }
}
#endif
