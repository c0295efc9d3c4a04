/// The identity of a job in the table of a manager.
enum LoadKey: Hashable, Sendable {
    case fetch(FetchKey)
    case image(ImageLoadKey)
}

/// The value of a job, which its key decides.
enum LoadValue: Sendable {
    case fetch(FetchedBytes)
    case image(PipelineOutput)
    case data(DataOutput)
    case encoded(EncodedOutput)
}

typealias LoadWork = SharedWork<LoadKey, LoadValue>

/// The identity of a fetch: everything that decides which bytes it finds, on disk or at the source.
struct FetchKey: Hashable, Sendable {
    var source: String
    var download: DownloadKey
    var policy: CachePolicy
    var queriesDisk: Bool
    /// True if bytes that were asked for before the load started are too old.
    var isReload: Bool
    var retriesFailed: Bool
    /// The removals before the load: a load that starts after a removal doesn't join an earlier load.
    var removals: SourceRemovals
    /// The way of decoding that failed a short while ago.
    var failedDecoding: FailureMemory.Decoding?

    func hash(into hasher: inout Hasher) {
        // The rest seldom differs between fetches of the same URL.
        hasher.combine(download)
        hasher.combine(policy)
    }
}

/// The removals of a source from the cache of images, and from the cache of originals.
struct SourceRemovals: Hashable, Sendable {
    var images: RemovalCount
    var originals: RemovalCount

    /// True if a single removal happened since, and it was from all layers of both caches.
    func isOne(after old: SourceRemovals) -> Bool {
        func isOne(_ new: RemovalCount, _ old: RemovalCount) -> Bool {
            // A cache that doesn't count its removals always has the same number. Others count beginnings and ends.
            new.removing == [] && old.removing == []
                && (new == old || (new.memory == old.memory + 2 && new.disk == old.disk + 2))
        }
        return isOne(images, old.images) && isOne(originals, old.originals)
    }
}

extension ImageError {
    /// The end of a wait that its caller canceled.
    static let cancelled = ImageError(.cancelled, stage: .request, reason: "the load was cancelled")
    static let waitsForItself = ImageError(
        .invalidRequest, stage: .request,
        reason: "a loader asked its own manager for the image that it was loading, and would have waited for itself")
}
