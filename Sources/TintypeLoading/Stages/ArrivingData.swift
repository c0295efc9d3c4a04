internal import FoundationEssentials

/// The bytes of a source that have arrived so far, for decoders that decode them as they come.
///
/// Loaders that collect their bytes in an ``ArrivingBytes`` share it with the decoders. The chunks of others are collected here,
/// but only if a caller wants previews when the first chunk arrives.
final class ArrivingData: Sendable {
    private struct State {
        /// The loader's buffer, or a buffer with its chunks.
        var bytes: ArrivingBytes?
        /// The number of bytes that have arrived.
        var count = 0
        /// True if the bytes that are here are not the start of the source: the first byte is missing.
        var isIncomplete = false
    }

    private let state = Lock(State())

    /// Takes the chunk of a report.
    func append(_ progress: LoadProgress) {
        guard !progress.chunk.isEmpty else { return }
        state.withLock { state in
            guard !state.isIncomplete else { return }
            let bytes = state.bytes ?? ArrivingBytes()
            (state.bytes, state.count) = (bytes, state.count + progress.chunk.count)
            guard state.count == progress.receivedBytes, bytes.append(progress.chunk)
            else { return state = State(isIncomplete: true) }
        }
    }

    /// Shares the buffer of the loader, which may belong to another attempt than at the last report.
    func share(_ bytes: ArrivingBytes) {
        state.withLock { state in
            guard !state.isIncomplete else { return }
            if let known = state.bytes, known !== bytes {
                // Until there are as many bytes as before, the bytes of the earlier attempt stay.
                let (old, new) = (known.data, bytes.data)
                guard new.count >= old.count else { return }
                guard new.prefix(old.count) == old else { return state = State(isIncomplete: true) }
            }
            (state.bytes, state.count) = (bytes, bytes.count)
        }
    }

    /// The bytes so far, without a copy; none, now and later, if they don't make up the source.
    var data: Data { state.withLock { $0.bytes?.data ?? Data() } }

    /// Returns true if all of these bytes have arrived here, and no others.
    func isAll(of bytes: Data) -> Bool {
        // A loader that has handed its buffer over leaves it empty.
        state.withLock { !$0.isIncomplete && $0.count == bytes.count } && bytes.prefix(data.count) == data
    }
}
