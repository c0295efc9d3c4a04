internal import FoundationEssentials

/// The chunks of a source that have arrived so far, for decoders that decode them as they come.
///
/// Only transfers that begin for a progressive load have them: otherwise the loader's buffer is the only place that has the bytes.
final class ArrivingData: Sendable {
    private struct State {
        var chunks: [Data] = []
        var count = 0
        /// True if a chunk is missing: the chunks here are then not the beginning of the source.
        var isIncomplete = false
    }

    private let state = Lock(State())

    func append(_ progress: LoadProgress) {
        guard !progress.chunk.isEmpty else { return }
        state.withLock { state in
            state.count += progress.chunk.count
            if state.count != progress.receivedBytes { state.isIncomplete = true }
            if state.isIncomplete { state.chunks = [] } else { state.chunks.append(progress.chunk) }
        }
    }

    /// The chunks from an index on; none, now and later, if they don't make up the source.
    func chunks(after index: Int) -> ArraySlice<Data> {
        state.withLock { $0.isIncomplete ? [] : $0.chunks.dropFirst(index) }
    }

    /// True if the chunks are all of a source of so many bytes.
    func isAll(of bytes: Int) -> Bool { state.withLock { !$0.isIncomplete && $0.count == bytes } }
}
