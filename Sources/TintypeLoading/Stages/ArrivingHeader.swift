internal import FoundationEssentials

/// Reads the header of an image whose bytes arrive, so that observers know its size and format before the end.
///
/// An image that arrives all at once is left to the decoder.
final class ArrivingHeader: Sendable {
    private enum State {
        /// The start of the image, and the number of bytes that make it worth reading.
        case collecting(Data, until: Int)
        case found(ImageInfo)
        /// The header can't be read, a chunk is missing, or a report is being taken.
        case ended
    }

    /// The most bytes that are kept for a header. Formats that describe an image behind its pixels have more.
    private static let limit = 1 << 20

    private let state = Lock(State.collecting(Data(), until: 1))
    private let coders: ImageCoders
    private let context: ProcessingContext

    init(_ environment: LoadEnvironment, of url: URL) {
        coders = environment.coders
        context = environment.headerContext(of: url)
    }

    /// Takes the next bytes, or those of a buffer, and returns the header if enough have arrived.
    func info(after progress: LoadProgress, of bytes: ArrivingBytes?) -> ImageInfo? {
        // Reports don't overlap. The data isn't shared while it grows, and is read without the lock.
        let collected = state.withLock { state -> (data: Data, wanted: Int)? in
            guard case .collecting(let data, let wanted) = state else { return nil }
            state = .ended
            return (data, wanted)
        }
        guard var collected else { return known }
        let next = next(&collected.data, collected.wanted, progress, bytes)
        state.withLock { if case .ended = $0 { $0 = next } }
        return known
    }

    private func next(_ data: inout Data, _ wanted: Int, _ progress: LoadProgress, _ bytes: ArrivingBytes?) -> State {
        let chunk = bytes?.copy(data.count..<max(data.count, progress.receivedBytes)) ?? progress.chunk
        guard !chunk.isEmpty else { return .collecting(data, until: wanted) }
        let isAtOnce = data.isEmpty && progress.receivedBytes == progress.expectedBytes
        guard data.count + chunk.count == progress.receivedBytes, !isAtOnce else { return .ended }
        data.append(chunk)
        guard data.count >= wanted else { return .collecting(data, until: wanted) }
        do throws(ImageError) {
            return .found(try coders.info(of: data, context: context))
        } catch {
            // Reading again as the bytes double costs no more than reading all of them twice.
            let isWorthMore = error.code == .truncatedImage && data.count < Self.limit
            return isWorthMore ? .collecting(data, until: 2 * data.count) : .ended
        }
    }

    /// The header, if enough bytes have arrived.
    var known: ImageInfo? { state.withLock { if case .found(let info) = $0 { info } else { nil } } }
}
