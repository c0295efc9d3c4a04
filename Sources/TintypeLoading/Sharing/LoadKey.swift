/// The identity of a job in the table of a manager.
enum LoadKey: Hashable, Sendable {
    case fetch(FetchKey)
    case image(ImageLoadKey)
    case data(DataLoadKey)
}

/// The value of a job: each kind of key has its own.
enum LoadValue: Sendable {
    case fetch(FetchedBytes)
    case image(PipelineOutput)
    case data(DataOutput)
}

typealias LoadWork = SharedWork<LoadKey, LoadValue>

/// The identity of a fetch: everything that decides which bytes it finds, on disk or at the source.
struct FetchKey: Hashable, Sendable {
    var source: String
    var download: DownloadKey
    var policy: CachePolicy
    var queriesDisk: Bool
    /// True if bytes that were asked for before the load began are too old.
    var isReload: Bool
    var retriesFailed: Bool
    /// The way of decoding that failed a short while ago.
    var failedDecoding: FailureMemory.Decoding?

    func hash(into hasher: inout Hasher) {
        // The rest seldom differs between fetches of one URL.
        hasher.combine(download)
        hasher.combine(policy)
    }
}

extension ImageError {
    /// The end of a wait that its caller cancelled.
    static let cancelled = ImageError(.cancelled, stage: .request, reason: "the load was cancelled")
    static let waitsForItself = ImageError(
        .invalidRequest, stage: .request,
        reason: "a loader asked its own manager for the image that it was loading, and would have waited for itself")
}
