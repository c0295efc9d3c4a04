/// The identity of a job in the table of a manager.
///
/// Indirect, as values of the table are: they are large, and the table copies them many times while a job runs.
indirect enum LoadKey: Hashable, Sendable {
    case fetch(FetchKey)
    case image(ImageLoadKey)
    /// The wait of one caller for the disk.
    case stores(Int)
}

/// The value of a job, which its key decides.
enum LoadValue: Sendable {
    indirect case fetch(FetchedBytes)
    indirect case image(PipelineOutput)
    indirect case data(DataOutput)
    indirect case encoded(EncodedOutput)
    indirect case stores(ImageError?)
}

/// The code of a job.
enum LoadJob: SharedJob {
    typealias Key = LoadKey
    typealias Value = LoadValue

    case fetch(SourceFetch)
    case image(ImageLoad)
    case data(DataLoad)
    case encoded(EncodedLoad)
    case stores([Promise<ImageError?>])

    func run(_ job: LoadWork.Job) async throws(ImageError) -> LoadValue {
        switch self {
        case .fetch(let fetch):
            let fetched = try await fetch.run(job)
            fetched.bytes.awaitDecode()
            return .fetch(fetched)
        case .image(let load): return .image(try await load.run(job))
        case .data(let load): return .data(try await load.run(job))
        case .encoded(let load): return .encoded(try await load.run(job))
        case .stores(let writes): return .stores(try await writes.firstError)
        }
    }

    func store(_ value: LoadValue, _ wishes: LoadWishes) async {
        switch (self, value) {
        case (.image(let load), .image(let output)): await load.store(output, wishes)
        case (.data(let load), .data(let output)): await load.store(output, wishes)
        case (.encoded(let load), .encoded(let output)): await load.store(output, wishes)
        default: break  // A fetch stores nothing: the image decides whether its bytes are worth keeping.
        }
    }

    func keeps(_ value: LoadValue) -> Bool {
        guard case .fetch(let fetch) = self, case .fetch(let fetched) = value else { return false }
        return fetch.keeps(fetched)
    }
}

typealias LoadWork = SharedWork<LoadJob>

/// The identity of a fetch: everything that decides which bytes it finds, on disk or at the source.
struct FetchKey: Hashable, Sendable {
    var original: ImageKey
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

    /// The failure of its transfer, or of decoding its bytes in a way.
    func failure(_ decoding: FailureMemory.Decoding? = nil) -> FailureMemory.Key {
        FailureMemory.Key(source: original.source, message: download.message, decoding: decoding)
    }

    func hash(into hasher: inout Hasher) {
        // The rest seldom differs between fetches of the same URL, and would have to be hashed anew each time.
        hasher.combine(original)
        hasher.combine(policy)
    }
}

/// The removals of a source from the cache of images, and from the cache of originals.
struct SourceRemovals: Hashable, Sendable {
    var images: RemovalCount
    var originals: RemovalCount

    func afterReplacement(by number: Int, since old: SourceRemovals) -> SourceRemovals? {
        guard let images = images.afterReplacement(by: number, since: old.images),
            let originals = originals.afterReplacement(by: number, since: old.originals)
        else { return nil }
        return SourceRemovals(images: images, originals: originals)
    }
}

extension ImageError {
    /// The end of a wait that its caller canceled.
    static let cancelled = ImageError(.cancelled, stage: .request, reason: "the load was canceled")
    static let waitsForItself = ImageError(
        .invalidRequest, stage: .request,
        reason: "a loader requested the image that it is loading from its own manager, and would wait for itself")
}
