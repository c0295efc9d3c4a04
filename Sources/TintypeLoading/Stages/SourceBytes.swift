internal import FoundationEssentials

/// The encoded bytes of a source, shared by all loads that use them, and stored at most once under each source.
final class SourceBytes: Sendable {
    let entry: DiskCacheEntry
    let source: ImageSource
    /// True for bytes from the disk that the source said are still current.
    let isNotModified: Bool
    /// True for bytes that replace whatever the caches have of their source.
    let replacesVariants: Bool
    /// True if ``entry`` is the thumbnail or transformed image, not the source itself.
    let isVariant: Bool
    let diskTime: StageTime
    let loadTime: StageTime
    /// The number of the load that transferred the bytes; `nil` for bytes from disk that no source was asked for.
    let loadedBy: Int?
    let response: SourceResponse?
    /// The image of a loader that has no bytes.
    let image: Image?
    /// The bytes as the decode budget counts them.
    let reservation: BodyReservation

    /// A write of the bytes to disk.
    final class Write: Sendable {
        let task = OnceTask<ImageError?>()
        /// The state of the cache's removals before the write. What was removed since is written anew.
        let mark: RemovalLog.Mark?
        /// The write whose entry was removed.
        let previous: Write?

        init(mark: RemovalLog.Mark?, previous: Write? = nil) { (self.mark, self.previous) = (mark, previous) }
    }

    private struct State {
        var writes: [String: Write] = [:]
        var replacements: [String: OnceTask<Void>] = [:]
        var mark: RemovalLog.Mark?
    }

    private let state = Lock(State())

    var data: Data { entry.data }

    init(
        _ entry: DiskCacheEntry, source: ImageSource, isNotModified: Bool = false, replacesVariants: Bool = false,
        isVariant: Bool = false, diskTime: StageTime = .zero, loadTime: StageTime = .zero,
        loadedBy: Int? = nil, response: SourceResponse? = nil, image: Image? = nil,
        reservation: BodyReservation
    ) {
        self.entry = entry
        self.source = source
        self.isNotModified = isNotModified
        self.replacesVariants = replacesVariants
        self.isVariant = isVariant
        self.diskTime = diskTime
        self.loadTime = loadTime
        self.loadedBy = loadedBy
        self.response = response
        self.image = image
        self.reservation = reservation
    }

    /// True for the bytes of a source that wasn't asked for them, but whether they are current.
    var isConfirmation: Bool { isNotModified && source == .disk }

    /// The stages that other loads than one with a number carried out, up to decoding.
    func sharedStages(with id: Int, decodedBy: Int?) -> SharedStages {
        var stages: SharedStages = []
        if let loadedBy, loadedBy != id { stages.insert(.transfer) }
        if let decodedBy, decodedBy != id { stages.insert(.decode) }
        return stages
    }

    /// True if the disk does not have these bytes, or has them with an older date.
    var needsStoring: Bool { !isVariant && (source != .disk || isNotModified) }

    /// The state of the cache's removals before the bytes were asked for, or after they replaced others.
    var mark: RemovalLog.Mark? {
        get { state.withLock { $0.mark } }
        set { state.withLock { $0.mark = newValue } }
    }

    /// Ends the replacement of older bytes, with which a write of these bytes may have been removed.
    func finishReplacement(for source: String, mark: RemovalLog.Mark?) {
        state.withLock { state in
            state.mark = mark
            state.writes[source] = nil
        }
    }

    /// The write of these bytes under a source, if it has been made.
    func write(for source: String) -> Write? { state.withLock { $0.writes[source] } }

    /// Makes the write of these bytes under a source, in place of another one.
    /// - Returns: the write that another caller has made meanwhile, if there is one.
    func makeWrite(for source: String, at mark: RemovalLog.Mark?, replacing old: Write?) -> Write {
        state.withLock { state in
            if let write = state.writes[source], write !== old { return write }
            let write = Write(mark: mark, previous: old)
            state.writes[source] = write
            return write
        }
    }

    /// The removal of the variants of a source that these bytes replace.
    func replacement(for source: String) -> OnceTask<Void> {
        state.withLock { state in
            if let replacement = state.replacements[source] { return replacement }
            let replacement = OnceTask<Void>()
            state.replacements[source] = replacement
            return replacement
        }
    }

    /// True if these bytes replace the variants of a source, or have replaced them.
    func hasReplacement(for source: String) -> Bool { state.withLock { $0.replacements[source] != nil } }
}
