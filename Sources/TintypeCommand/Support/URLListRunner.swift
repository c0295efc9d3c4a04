internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// Runs work for each URL of a list, several at a time, and reports progress and failures.
struct URLListRunner: Sendable {
    var jobs: Int
    var json = false
    /// True if reports show URLs with credentials.
    var showsCompleteURLs = false
    let console: Console

    private struct Job<Value: Sendable>: Sendable {
        var url: String
        var value: Value
    }

    /// Runs work for all URLs of a list.
    /// - Parameters:
    ///   - list: the list.
    ///   - prepare: a closure that gets the URLs in order, individually; its result is passed to `work`.
    ///   - work: a closure that returns the number of bytes to show. Its errors are reported, and the others continue.
    /// - Returns: the number of URLs that failed, including lines that are too long.
    /// - Throws: an error if the list can't be read, or if the task is canceled.
    func run<Value: Sendable>(
        _ list: URLList, prepare: @escaping @Sendable (String) -> Value,
        work: @escaping @Sendable (String, Value) async throws(ImageError) -> Int
    ) async throws(ImageError) -> Int {
        let display = ProgressDisplay(console, total: try await list.count())
        let failures = Lock(0)
        let listError = Lock<ImageError?>(nil)
        await Workers.run(jobs) { () -> Job<Value>? in
            do throws(ImageError) {
                return try await list.next { Job(url: $0, value: prepare($0)) }
            } catch {
                listError.withLock { $0 = $0 ?? error }
                return nil
            }
        } work: { job in
            do throws(ImageError) {
                display.finishedOne(bytes: try await work(job.url, job.value), failed: false)
            } catch {
                // The command was interrupted. A load that was canceled without that has failed.
                guard !error.isCancellation || !Task.isCancelled else { return }
                failures.withLock { $0 += 1 }
                let url = shown(job.url)
                if json { console.print(JSONLine.encode(URLFailure(url: url, error: ErrorReport(error)))) }
                console.error(error.withSource(url))
                display.finishedOne(bytes: 0, failed: true)
            }
        }
        display.end()
        if let error = listError.withLock({ $0 }) { throw error }
        if Task.isCancelled { throw ImageError(.cancelled, stage: .request, reason: "the command was canceled") }
        let skipped = list.skippedLines
        if skipped > 0 {
            let limit = ByteCount(URLList.longestLine)
            console.warning("skipped \(counted(skipped, "line")) of the list: longer than \(limit)")
        }
        return failures.withLock { $0 } + skipped
    }

    /// Runs work for all URLs of a list.
    func run(
        _ list: URLList, work: @escaping @Sendable (String) async throws(ImageError) -> Void
    ) async throws(ImageError) -> Int {
        try await run(list, prepare: { _ in true }) { (url, _) async throws(ImageError) -> Int in
            try await work(url)
            return 0
        }
    }

    /// The URL that a line names.
    func url(_ text: String) throws(ImageError) -> URL {
        guard let url = URL(written: text) else {
            let source = text.isEmpty ? "''" : shown(text)
            throw ImageError(.invalidURL, stage: .request, source: source, reason: "it isn't a URL")
        }
        return url
    }

    /// The text to show for a URL.
    func shown(_ url: String) -> String { ShownURL.text(url, isComplete: showsCompleteURLs) }
}

/// The report of a URL that failed.
struct URLFailure: Encodable, Equatable {
    var url: String
    var error: ErrorReport
}
