internal import ArgumentParser
internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// `tintype prefetch`
struct PrefetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch",
        abstract: "Download images to the disk cache, so that later loads find them there.",
        discussion: """
            The original bytes are stored without being decoded; data that does not start like an image is an error. Images \
            that the cache already has, and readable local files, are skipped.

            The last line of output counts the loaded, skipped, and failed images. With --json each image is one object per \
            line instead: url and outcome (loaded or skipped), or url and error (code, stage, reason). Each error is one \
            line on standard error. URLs are shown without user names and passwords, unless --full-urls is given.

            Exit status: 0 if all images are in the cache, 1 if one failed (the others are stored), 64 for wrong usage, 130 \
            after Ctrl-C.
            """)

    @OptionGroup var download: DownloadArguments

    @OptionGroup var isolation: IsolationArguments

    @Option(
        help: ArgumentHelp(
            "The directory of the disk cache. The default is $XDG_CACHE_HOME/tintype/tintype or ~/.cache/tintype/tintype.",
            valueName: "dir"),
        completion: .directory)
    var cache: String?

    func validate() throws {
        guard cache?.isEmpty != true else { throw ValidationError("--cache needs the path of a directory.") }
    }

    func run() async throws {
        try await Interruption.handled { try await run(Console.standard) }
    }

    func run(_ console: Console) async throws {
        do {
            let list = try download.list()
            let stack = try ImageStack(
                directory: cache ?? DiskCache.Configuration.defaultDirectory,
                memory: .init(capacity: .megabytes(1)), jobs: download.jobs, timeout: download.timeoutDuration,
                network: download.network, coders: isolation.coders)
            let summary = try await run(list, stack.manager, console)
            await stack.manager.flush()
            if download.json { console.note(summary.line) } else { console.print(summary.line) }
            if summary.failed > 0 { throw ExitCode(1) }
        } catch let error as ImageError {
            if error.isCancellation, Task.isCancelled { return }
            console.error(error)
            throw ExitCode(1)
        }
    }

    private func run(
        _ list: URLList, _ manager: ImageManager, _ console: Console
    ) async throws(ImageError) -> PrefetchSummary {
        let start = ContinuousClock.now
        var configuration = ImagePrefetcher.Configuration()
        configuration.storesOnDiskOnly = true
        configuration.maximumConcurrentLoads = download.jobs
        // Bytes go to disk in parts of a few kilobytes, so memory pressure isn't a reason to pause.
        let prefetcher = ImagePrefetcher(manager: manager, configuration: configuration, pressure: nil)
        let runner = download.runner(console)
        let headers = download.headers
        let json = download.json
        let summary = Lock(PrefetchSummary())
        let failed: Int
        do throws(ImageError) {
            // Each URL is a prefetch of its own, because the list may have any length and may still be being written.
            failed = try await runner.run(list) { (text) async throws(ImageError) in
                let prefetch = prefetcher.prefetch([ImageRequest(try runner.url(text), headers: headers)])
                let progress = await prefetch.wait()
                if let failure = prefetch.failures.first { throw failure.error }
                guard progress.loaded + progress.skipped == 1 else { throw ImageError.interruptedPrefetch }
                summary.withLock { $0.add(progress) }
                if json {
                    let outcome = progress.loaded == 1 ? "loaded" : "skipped"
                    console.print(JSONLine.encode(PrefetchReport(url: runner.shown(text), outcome: outcome)))
                }
            }
        } catch {
            // A wait that was canceled leaves its prefetch running.
            prefetcher.cancelAll()
            throw error
        }
        return summary.withLock { summary in
            summary.failed = failed
            summary.duration = ContinuousClock.now - start
            return summary
        }
    }
}

extension ImageError {
    fileprivate static var interruptedPrefetch: ImageError {
        ImageError(.cancelled, stage: .load, reason: "the command was canceled")
    }
}
