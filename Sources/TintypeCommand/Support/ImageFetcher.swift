internal import FoundationEssentials
internal import Tintype

/// Fetches a list of images, saves each, and reports each.
struct ImageFetcher: Sendable {
    let manager: ImageManager
    let folder: OutputFolder
    var thumbnail: PixelSize?
    var format: ImageFormat?
    var usesCache = true
    var json = false
    let console: Console

    /// What is decoded only to see that it can be takes no more memory than this.
    private static let verificationLimit = ByteCount.megabytes(16)

    private struct Job: Sendable {
        var url: String
        var reservation: OutputFolder.Reservation
    }

    /// Fetches everything on the list.
    /// - Throws: what made it impossible to read the list. Images that fail are reported and counted.
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
                    console.warning("the cache is not used: \(storeError)")
                }
            } catch {
                guard !error.isCancellation else { return }
                summary.withLock { $0.failed += 1 }
                if json { console.print(JSONLine.encode(FetchFailure(url: job.url, error: ErrorReport(error)))) }
                console.error(error.withSource(job.url))
                display.finishedOne(bytes: 0, failed: true)
            }
        }
        display.end()
        if let error = listError.withLock({ $0 }) { throw error }
        if Task.isCancelled { throw ImageError(.cancelled, stage: .request, reason: "cancelled") }
        return summary.withLock { summary in
            summary.duration = ContinuousClock.now - start
            return summary
        }
    }

    private func fetch(_ job: Job) async throws(ImageError) -> (report: FetchReport, storeError: ImageError?) {
        guard let url = URL(string: job.url) else {
            let shown = job.url.isEmpty ? "''" : job.url
            throw ImageError(.invalidURL, stage: .request, source: shown, reason: "is no URL")
        }
        var request = ImageRequest(url)
        request.queryFrom = usesCache ? .disk : []
        request.storeTo = usesCache ? .disk : []
        request.options = [.waitStoreCache]
        let savesBytes = thumbnail == nil && format == nil
        if savesBytes { request.decodeOptions.maximumBytes = Self.verificationLimit }
        request.thumbnailSize = thumbnail
        let result = try await manager.load(request)
        let image = result.image

        let saved: (data: Data, format: ImageFormat, size: PixelSize)
        if savesBytes {
            guard let data = result.data, let format = image.format else {
                throw ImageError(.emptyBody, stage: .load, source: job.url, reason: "the bytes did not come")
            }
            saved = (data, format, image.properties.sourceSize ?? image.size)
        } else {
            let format = format ?? OutputFormat.natural(for: image)
            let data = try await WorkQueue.processing.perform { _ throws(ImageError) in
                try image.encoded(as: format)
            }
            saved = (data, format, image.size)
        }
        guard !Task.isCancelled else { throw ImageError(.cancelled, stage: .store, reason: "cancelled") }
        let path = try await WorkQueue.files.perform { [folder] _ throws(ImageError) in
            try folder.save(saved.data, format: saved.format, as: job.reservation)
        }
        let report = FetchReport(
            url: job.url, path: path, format: saved.format.rawValue, width: saved.size.width,
            height: saved.size.height, bytes: saved.data.count, source: result.source.rawValue,
            ms: result.metrics.total.reportedMilliseconds)
        return (report, result.storeError)
    }
}
