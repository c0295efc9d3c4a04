internal import FoundationEssentials

/// The encoded bytes of a source, shared by all loads that use them, and stored at most once.
final class SourceBytes: Sendable {
    let entry: DiskCacheEntry
    let source: ImageOrigin
    /// The number of new bytes, which replace what the caches have of the source. Bytes that were asked for later have a higher number.
    let number: Int?
    /// True for bytes from the disk that the source said are still current.
    let isNotModified: Bool
    /// True if the disk had others, which it keeps until these are known to be an image.
    let replacesCached: Bool
    /// True if ``entry`` is the thumbnail or transformed image, not the source itself.
    let isVariant: Bool
    let diskTime: StageTime
    let loadTime: StageTime
    /// The source's answer, if it was asked.
    let loaded: LoadedData?
    /// The bytes as the decode budget counts them.
    let reservation: BodyReservation
    /// The fetch that keeps the bytes for others; `nil` for a variant.
    let fetch: FetchKey?
    /// The memory of the bytes, or of the image of a loader that has none.
    private let size: Int

    private struct State {
        /// The removals when the bytes were asked for, or when they replaced others; `nil` for a variant.
        var removals: SourceRemovals?
        var write: Promise<ImageError?>?
        var replacement: Promise<Void>?
        /// True from the end of the fetch until the first decode.
        var awaitsDecode = false
        /// The number of decodes under way.
        var decodes = 0

        var takesRoom: Bool { awaitsDecode || decodes > 0 }
    }

    private let state: Lock<State>

    var data: Data { entry.data }
    /// The image of a loader that has no bytes.
    var image: Image? { loaded?.isNotModified == false ? loaded?.image : nil }

    init(
        _ entry: DiskCacheEntry, source: ImageOrigin, number: Int? = nil, isNotModified: Bool = false,
        isVariant: Bool = false, diskTime: StageTime = .zero, loadTime: StageTime = .zero, loaded: LoadedData? = nil,
        fetch: FetchKey? = nil, replacesCached: Bool = false, reservation: BodyReservation
    ) {
        state = Lock(State(removals: fetch?.removals))
        self.fetch = fetch
        (self.entry, self.source, self.loaded, self.reservation) = (entry, source, loaded, reservation)
        (self.number, self.isNotModified, self.isVariant) = (number, isNotModified, isVariant)
        self.replacesCached = replacesCached
        (self.diskTime, self.loadTime) = (diskTime, loadTime)
        size = (loaded?.isNotModified == false ? loaded?.image?.memoryCost : nil) ?? entry.data.count
        reservation.grow(to: size)
    }

    deinit { changeRoom { $0.awaitsDecode = false } }

    /// The entry without its data, which isn't held while the source is asked.
    var withoutData: SourceBytes {
        var entry = entry
        (entry.data, entry.extendedData) = (Data(), nil)
        return SourceBytes(
            entry, source: source, diskTime: diskTime, fetch: fetch, reservation: BodyReservation(reservation.budget))
    }

    /// True for the bytes of a source that wasn't asked for them, but whether they are current.
    var isConfirmation: Bool { isNotModified && source == .disk }

    /// True if the disk does not have these bytes, or has them with an older date. Bytes of a partial image wouldn't say that it is partial.
    var needsStoring: Bool { !isVariant && (source != .disk || isNotModified) && image?.isPartial != true }

    /// The removals that happened before these bytes, passed to their stores and those of images made from them; `nil` for a variant.
    var removals: SourceRemovals? { state.withLock { $0.removals } }

    // MARK: Room

    /// Lets the bytes take room from transfers, until they have been decoded, or nobody wants them anymore.
    ///
    /// A fetch calls this as it ends: the jobs that waited for it decode the bytes next.
    func awaitDecode() { changeRoom { $0.awaitsDecode = true } }

    /// Decodes the bytes, which take room from transfers meanwhile.
    ///
    /// Whatever waits for a transfer afterwards, such as a load that finds the bytes damaged, holds bytes that take no room. So no transfer
    /// waits for itself.
    /// - Parameter decode: Waits for the processing queue and for the memory to decode, and for nothing that needs a transfer.
    func decoding<Value>(_ decode: () async throws(ImageError) -> Value) async throws(ImageError) -> Value {
        changeRoom { ($0.awaitsDecode, $0.decodes) = (false, $0.decodes + 1) }
        defer { changeRoom { $0.decodes -= 1 } }
        return try await decode()
    }

    private func changeRoom(_ change: (inout State) -> Void) {
        let (tookRoom, takesRoom) = state.withLockUnchecked { state in
            let before = state.takesRoom
            change(&state)
            return (before, state.takesRoom)
        }
        guard tookRoom != takesRoom else { return }
        if takesRoom { reservation.budget.takeRoom(size) } else { reservation.budget.returnRoom(size) }
    }

    // MARK: Storing

    /// Returns the write of these bytes to disk.
    /// - Returns: True for the first caller, which has to start it.
    func claimWrite() -> (write: Promise<ImageError?>, isFirst: Bool) {
        state.withLock { state in
            if let write = state.write { return (write, false) }
            let write = Promise<ImageError?>()
            state.write = write
            return (write, true)
        }
    }

    /// Replaces the variants that the caches have of the source, once for all loads of these bytes. All of them wait for it.
    /// - Parameter replace: Returns the removals for the stores of these bytes; `nil` if nothing of them may be stored.
    func replaceOnce(_ replace: (SourceRemovals) async -> SourceRemovals?) async {
        guard let removals else { return }
        let (replacement, isFirst) = state.withLock { state in
            let (isFirst, replacement) = (state.replacement == nil, state.replacement ?? Promise<Void>())
            state.replacement = replacement
            return (replacement, isFirst)
        }
        guard isFirst else { return await replacement.value }
        if let removals = await replace(removals) { state.withLock { $0.removals = removals } }
        replacement.fulfill(())
    }
}
