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
    /// - Parameters:
    ///   - name: the closure, as the reason of an error names it.
    ///   - code: the code of an error that the closure throws.
    func runClosure<Value: Sendable>(
        _ name: String, failingWith code: ImageError.Code, _ closure: @escaping @Sendable () async throws -> Value
    ) async throws(ImageError) -> Value {
        limits.recordPause()
        defer { limits.recordResumption() }
        return try await running.runClosure { () throws(ImageError) in
            do { return try await closure() } catch { throw .refused(code, by: name, error) }
        }
    }

    /// Returns a value as a closure of the program changes it.
    func changed<Value: Sendable>(
        _ value: Value, by name: String, failingWith code: ImageError.Code,
        _ change: @escaping @Sendable (inout Value) async throws -> Void
    ) async throws(ImageError) -> Value {
        try await runClosure(name, failingWith: code) {
            var value = value
            try await change(&value)
            return value
        }
    }
}
#endif
