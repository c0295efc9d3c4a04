internal import FoundationEssentials

/// The bytes of a source that have arrived so far, for decoders that decode them as they come.
///
/// Only transfers that start for a progressive load have them. Loaders that collect their bytes in an ``ArrivingBytes`` share it with the
/// decoders; the chunks of others are collected here.
final class ArrivingData: Sendable {
    private enum Source {
        case none
        /// The only chunk so far.
        case chunk(Data)
        case bytes(ArrivingBytes)
        /// The bytes that are here are not the start of the source: the first byte is missing.
        case incomplete
    }

    private struct State {
        var source = Source.none
        /// The number of bytes that have arrived.
        var count = 0
    }

    private let state = Lock(State())

    /// Takes the chunk of a report.
    func append(_ progress: LoadProgress) {
        guard !progress.chunk.isEmpty else { return }
        state.withLock { state in
            let (count, overflow) = state.count.addingReportingOverflow(progress.chunk.count)
            guard !overflow, count == progress.receivedBytes else { return state.source = .incomplete }
            state.count = count
            switch state.source {
            case .none: state.source = .chunk(progress.chunk)
            case .chunk(let first):
                let bytes = ArrivingBytes()
                let isWhole = bytes.append(first) && bytes.append(progress.chunk)
                state.source = isWhole ? .bytes(bytes) : .incomplete
            case .bytes(let bytes): if !bytes.append(progress.chunk) { state.source = .incomplete }
            case .incomplete: break
            }
        }
    }

    /// Shares the buffer of the loader, which may belong to another attempt than at the last report.
    func share(_ bytes: ArrivingBytes) {
        state.withLock { state in
            switch state.source {
            case .none: state.source = .bytes(bytes)
            case .bytes(let known) where known === bytes: break
            case .bytes(let known):
                // Until there are as many bytes as before, the bytes of the earlier attempt stay.
                let (old, new) = (known.data, bytes.data)
                guard new.count >= old.count else { return }
                state.source = new.prefix(old.count) == old ? .bytes(bytes) : .incomplete
            case .chunk, .incomplete: return
            }
            state.count = bytes.count
        }
    }

    /// The bytes so far, without a copy; none, now and later, if they don't make up the source.
    var data: Data {
        state.withLock { state in
            switch state.source {
            case .none, .incomplete: Data()
            case .chunk(let data): data
            case .bytes(let bytes): bytes.data
            }
        }
    }

    /// True if all bytes of a source of so many have arrived here.
    func isAll(of bytes: Int) -> Bool {
        state.withLock { state in
            if case .incomplete = state.source { return false }
            return state.count == bytes
        }
    }
}
