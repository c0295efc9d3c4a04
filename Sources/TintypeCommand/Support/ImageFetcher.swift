internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// Loads a list of images, and saves and reports each.
struct ImageFetcher: Sendable {
    let manager: ImageManager
    let folder: OutputFolder
    var thumbnail: PixelSize?
    /// The page of documents, counted from 0.
    var page: Int?
    var transformer: ImageTransformers?
    var format: ImageFormat?
    var usesCache = true
    var cachePolicy = CachePolicy.cacheFirst
    var headers: [String: String] = [:]
    let runner: URLListRunner

    /// The most memory for an image that is decoded only to verify it.
    private static let verificationLimit = ByteCount.megabytes(16)

    /// Fetches all images of the list.
    /// - Returns: the totals, including the number of failures.
    /// - Throws: an error if the list can't be read, or if the task is canceled.
    func run(_ list: URLList) async throws(ImageError) -> FetchSummary {
        let start = ContinuousClock.now
        let summary = Lock(FetchSummary())
        let hasWarned = Lock(false)
        let failed = try await runner.run(list, prepare: { [folder] in folder.reserve(url: $0) }) {
            (url, reservation) async throws(ImageError) -> Int in
            let (report, storeError) = try await fetch(url, reservation)
            summary.withLock { $0.add(report) }
            runner.console.print(runner.json ? JSONLine.encode(report) : report.line)
            if let storeError,
                !hasWarned.withLock({ hasWarned in
                    defer { hasWarned = true }
                    return hasWarned
                })
            {
                runner.console.warning("the cache can't be used: \(storeError)")
            }
            return report.bytes
        }
        return summary.withLock { summary in
            summary.failed = failed
            summary.duration = ContinuousClock.now - start
            return summary
        }
    }

    private func fetch(
        _ text: String, _ reservation: OutputFolder.Reservation
    ) async throws(ImageError) -> (report: FetchReport, storeError: ImageError?) {
        var request = ImageRequest(try runner.url(text), headers: headers)
        request.cache.query = usesCache ? .disk : []
        request.cache.store = usesCache ? .disk : []
        request.cache.waitsForStore = true
        request.cachePolicy = cachePolicy
        let savesBytes = thumbnail == nil && transformer == nil && format == nil && page == nil
        if savesBytes { request.decode.maximumBytes = Self.verificationLimit }
        request.thumbnailSize = thumbnail
        request.decode.page = page ?? 0
        request.transformer = transformer
        request.transformsAnimatedImages = transformer != nil
        request.transformsVectorImages = transformer != nil
        let result = try await manager.load(request)
        let image = result.image

        let saved: (data: Data, format: ImageFormat, size: PixelSize)
        if savesBytes {
            guard let data = result.data, let format = image.format else {
                throw ImageError(
                    .emptyBody, stage: .load, source: runner.shown(text), reason: "the image has no bytes")
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
            throw ImageError(.cancelled, stage: .store, reason: "the command was canceled")
        }
        let path = try await WorkQueue.files.perform { [folder] _ throws(ImageError) in
            try folder.save(saved.data, format: saved.format, as: reservation)
        }
        let report = FetchReport(
            url: runner.shown(text), path: path, format: saved.format.rawValue, width: saved.size.width,
            height: saved.size.height, bytes: saved.data.count, source: result.source.rawValue,
            ms: result.metrics.total.reportedMilliseconds)
        return (report, result.storeError)
    }
}
