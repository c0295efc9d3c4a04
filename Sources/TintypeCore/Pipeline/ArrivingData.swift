internal import FoundationEssentials

/// The bytes of a source that have come so far, for all who decode them while they come.
final class ArrivingData: Sendable {
    private struct State {
        var chunks: [Data] = []
        var count = 0
        /// True once a report did not follow the one before it: what is here is then not the beginning of the source.
        var isBroken = false
    }

    private let state = Lock(State())

    func append(_ progress: LoadProgress) {
        guard !progress.chunk.isEmpty else { return }
        state.withLock { state in
            state.count += progress.chunk.count
            if state.count != progress.receivedBytes { state.isBroken = true }
            if state.isBroken { state.chunks = [] } else { state.chunks.append(progress.chunk) }
        }
    }

    /// The chunks behind the first so many; none, now and ever after, if they do not make up the source.
    func chunks(after index: Int) -> ArraySlice<Data> {
        state.withLock { $0.isBroken ? [] : $0.chunks.dropFirst(index) }
    }

    /// Whether the chunks are all of a source of so many bytes.
    func isAll(of bytes: Int) -> Bool { state.withLock { !$0.isBroken && $0.count == bytes } }
}

/// What a fetch tells while it is under way. Who joins late is told the newest, which leads to all the bytes.
struct FetchUpdate: Sendable {
    var progress: ImageProgress
    var data: ArrivingData
}
