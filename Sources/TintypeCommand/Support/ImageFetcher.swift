internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// Loads a list of images, and saves and reports each.
struct ImageFetcher: Sendable {
    let manager: ImageManager
    let folder: OutputFolder
    var thumbnail: PixelSize?
    var transformer: ImageTransformers?
    var format: ImageFormat?
    var usesCache = true
    var json = false
    /// True if reports show URLs with credentials.
    var showsCompleteURLs = false
    let console: Console

    /// The most memory for an image that is decoded only to verify it.
    private static let verificationLimit = ByteCount.megabytes(16)

    private struct Job: Sendable {
        var url: String
        var reservation: OutputFolder.Reservation
    }

    /// Fetches all images of the list.
    /// - Returns: the totals, in which failures are counted.
    /// - Throws: an error if the list can't be read.
    func run(_ list: URLList, jobs: Int) async throws(ImageError) -> FetchSummary {
        let start = ContinuousClock.now
        let display = ProgressDisplay(console, total: try await list.count())
        let summary = Lock(FetchSummary())
        let listError = Lock<ImageError?>(nil)
        let hasWarned = Lock(false)
        await Workers.run(jobs) { () -> Job? in
            do throws(ImageError) {
                return try await list.next { [folder] in Job(url: $0, reservation: folder.reserve(url: $0)) }
            } catch {
                listError.withLock { $0 = $0 ?? error }
                return nil
            }
        } work: { job in
            do throws(ImageError) {
                let (report, storeError) = try await fetch(job)
                summary.withLock { $0.add(report) }
                console.print(json ? JSONLine.encode(report) : report.line)
                display.finishedOne(bytes: report.bytes, failed: false)
                if let storeError,
                    !hasWarned.withLock({ hasWarned in
                        defer { hasWarned = true }
                        return hasWarned
                    })
                {
                    console.warning("the cache can’t be used: \(storeError)")
                }
            } catch {
                guard !error.isCancellation else { return }
                summary.withLock { $0.failed += 1 }
                let url = shown(job.url)
                if json { console.print(JSONLine.encode(FetchFailure(url: url, error: ErrorReport(error)))) }
                console.error(error.withSource(url))
                display.finishedOne(bytes: 0, failed: true)
            }
        }
        display.end()
        if let error = listError.withLock({ $0 }) { throw error }
        let skipped = list.skippedLines
        if skipped > 0 {
            let limit = ByteCount(URLList.longestLine)
            console.warning("skipped \(counted(skipped, "line")) of the list, longer than \(limit)")
            summary.withLock { $0.failed += skipped }
        }
        if Task.isCancelled { throw ImageError(.cancelled, stage: .request, reason: "the command was cancelled") }
        return summary.withLock { summary in
            summary.duration = ContinuousClock.now - start
            return summary
        }
    }

    private func fetch(_ job: Job) async throws(ImageError) -> (report: FetchReport, storeError: ImageError?) {
        guard let url = URL(string: job.url) else {
            let source = job.url.isEmpty ? "''" : shown(job.url)
            throw ImageError(.invalidURL, stage: .request, source: source, reason: "it is not a URL")
        }
        var request = ImageRequest(url)
        request.queryFrom = usesCache ? .disk : []
        request.storeTo = usesCache ? .disk : []
        request.options = [.waitStoreCache]
        let savesBytes = thumbnail == nil && transformer == nil && format == nil
        if savesBytes { request.decodeOptions.maximumBytes = Self.verificationLimit }
        request.thumbnailSize = thumbnail
        request.transformer = transformer
        request.transformsAnimatedImages = transformer != nil
        request.transformsVectorImages = transformer != nil
        let result = try await manager.load(request)
        let image = result.image

        let saved: (data: Data, format: ImageFormat, size: PixelSize)
        if savesBytes {
            guard let data = result.data, let format = image.format else {
                throw ImageError(.emptyBody, stage: .load, source: shown(job.url), reason: "the image has no bytes")
            }
            saved = (data, format, image.properties.sourceSize ?? image.size)
        } else {
            let format = format ?? OutputFormat.natural(for: image)
            let data = try await WorkQueue.processing.perform { _ throws(ImageError) in
                try image.encoded(as: format)
            }
            saved = (data, format, image.size)
        }
        guard !Task.isCancelled else {
            throw ImageError(.cancelled, stage: .store, reason: "the command was cancelled")
        }
        let path = try await WorkQueue.files.perform { [folder] _ throws(ImageError) in
            try folder.save(saved.data, format: saved.format, as: job.reservation)
        }
        let report = FetchReport(
            url: shown(job.url), path: path, format: saved.format.rawValue, width: saved.size.width,
            height: saved.size.height, bytes: saved.data.count, source: result.source.rawValue,
            ms: result.metrics.total.reportedMilliseconds)
        return (report, result.storeError)
    }

    private func shown(_ url: String) -> String { ShownURL.text(url, isComplete: showsCompleteURLs) }
}
