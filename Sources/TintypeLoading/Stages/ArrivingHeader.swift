internal import FoundationEssentials

/// Reads the header of an image whose bytes arrive, so that observers know its size and format before the end.
///
/// An image that arrives all at once is left to the decoder.
final class ArrivingHeader: Sendable {
    private enum State {
        /// The start of the image, and the number of bytes that make it worth reading.
        case collecting(Data, until: Int)
        case found(ImageInfo)
        /// The header can't be read, or a chunk is missing.
        case ended
    }

    /// The most bytes that are kept for a header. Formats that describe an image behind its pixels have more.
    private static let limit = 1 << 20

    private let state = Lock(State.collecting(Data(), until: 1))
    private let coders: ImageCoders
    private let context: ProcessingContext

    init(_ environment: LoadEnvironment, of url: URL) {
        coders = environment.coders
        var context = ProcessingContext(limits: environment.configuration.limits)
        context.origin = environment.origin(of: url)
        self.context = context
    }

    /// Takes the next bytes of a buffer, and returns the header if enough have arrived.
    func info(after progress: LoadProgress, of bytes: ArrivingBytes?) -> ImageInfo? {
        var progress = progress
        let collected = state.withLock { if case .collecting(let data, _) = $0 { data.count } else { Int?.none } }
        if let bytes, let collected { progress.chunk = bytes.copy(collected..<max(collected, progress.receivedBytes)) }
        return info(after: progress)
    }

    /// The header, if enough bytes have arrived.
    var known: ImageInfo? { state.withLock { if case .found(let info) = $0 { info } else { nil } } }

    private func info(after progress: LoadProgress) -> ImageInfo? {
        let data: Data? = state.withLock { state in
            guard case .collecting(var data, let wanted) = state, !progress.chunk.isEmpty else { return nil }
            let isAtEnd = progress.receivedBytes == progress.expectedBytes
            guard data.count + progress.chunk.count == progress.receivedBytes, !(data.isEmpty && isAtEnd) else {
                state = .ended
                return nil
            }
            // The copy in the state must not be shared while it grows.
            state = .ended
            data.append(progress.chunk)
            state = .collecting(data, until: wanted)
            return data.count >= wanted ? data : nil
        }
        if let data { read(data) }
        return known
    }

    /// Reads the header outside of the lock. Until then, further bytes are collected.
    private func read(_ data: Data) {
        let next: State
        do throws(ImageError) {
            next = .found(try coders.info(of: data, context: context))
        } catch {
            let isWorthMore = error.code == .truncatedImage && data.count < Self.limit
            next = isWorthMore ? .collecting(Data(), until: 2 * data.count) : .ended
        }
        state.withLock { state in
            // Reading again as the bytes double costs no more than reading all of them twice.
            guard case .collecting(let all, _) = state else { return }
            if case .collecting(_, let wanted) = next { state = .collecting(all, until: wanted) } else { state = next }
        }
    }
}
