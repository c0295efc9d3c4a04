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
    let diskTime: Duration
    let loadTime: Duration
    let response: SourceResponse?
    /// The bytes as the decode budget counts them.
    let reservation: BodyReservation

    private struct State {
        var replacement: OnceTask<Void>?
        var writes: [String: OnceTask<ImageError?>] = [:]
    }

    private let state = Lock(State())

    var data: Data { entry.data }

    init(
        _ entry: DiskCacheEntry, source: ImageSource, isNotModified: Bool = false, replacesVariants: Bool = false,
        isVariant: Bool = false, diskTime: Duration = .zero, loadTime: Duration = .zero,
        response: SourceResponse? = nil, reservation: BodyReservation
    ) {
        self.entry = entry
        self.source = source
        self.isNotModified = isNotModified
        self.replacesVariants = replacesVariants
        self.isVariant = isVariant
        self.diskTime = diskTime
        self.loadTime = loadTime
        self.response = response
        self.reservation = reservation
    }

    /// True if the disk does not have these bytes, or has them with an older date.
    var needsStoring: Bool { !isVariant && (source != .disk || isNotModified) }

    /// True if the removal of the variants that these bytes replace has begun.
    var hasReplacedVariants: Bool { state.withLock { $0.replacement }?.hasBegun ?? false }

    /// The removal of the variants that these bytes replace.
    var replacement: OnceTask<Void> {
        state.withLock { state in
            if let replacement = state.replacement { return replacement }
            let replacement = OnceTask<Void>()
            state.replacement = replacement
            return replacement
        }
    }

    /// The write of these bytes under a source.
    func write(for source: String) -> OnceTask<ImageError?> {
        state.withLock { state in
            if let write = state.writes[source] { return write }
            let write = OnceTask<ImageError?>()
            state.writes[source] = write
            return write
        }
    }
}
