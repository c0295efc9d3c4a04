#if HTTP
internal import TintypeCore

/// The environment of one attempt to load a URL, which its parts share.
final class TransferContext: Sendable {
    let clients: HTTPClients
    let tls: TLSConfigurations
    /// The configuration of the downloader, with the header fields of the moment when the attempt began.
    let configuration: ImageDownloader.Configuration
    let limits: TimeLimits
    let record: TransferRecord
    let running: RunningLoad
    let visits: ServerVisits
    let progress: Lock<ProgressReporter.State>
    /// Called with the sizes of pieces of the body.
    let countBytes: @Sendable (Int) -> Void
    /// Called with the head of the last response.
    let observeHead: @Sendable (SourceResponse) -> Void

    init(
        clients: HTTPClients, tls: TLSConfigurations, configuration: ImageDownloader.Configuration,
        limits: TimeLimits, record: TransferRecord, running: RunningLoad, visits: ServerVisits,
        progress: Lock<ProgressReporter.State>,
        countBytes: @escaping @Sendable (Int) -> Void, observeHead: @escaping @Sendable (SourceResponse) -> Void
    ) {
        self.clients = clients
        self.tls = tls
        self.configuration = configuration
        self.limits = limits
        self.record = record
        self.running = running
        self.visits = visits
        self.progress = progress
        self.countBytes = countBytes
        self.observeHead = observeHead
    }

    /// Runs a closure of the program, whose time doesn't count as silence of the server.
    func runClosure<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        limits.recordPause()
        defer { limits.recordResumption() }
        return try await running.run(work)
    }
}
#endif
