internal import FoundationEssentials

/// The arrival of a body, as its loader reports it: counts the bytes in the decode budget, shows the progress and the header, and shares
/// the bytes with decoders.
final class BodyArrival: Sendable {
    private struct Readers {
        let data = ArrivingData()
        let header: ArrivingHeader
        /// True for a load that shows the bytes from the start: others don't copy chunks. A loader's own buffer is shared in any case.
        let copiesChunks: Bool
    }

    private struct State {
        // All `nil` after the end: a loader may keep the closure, and the environment has the loader.
        var environment: LoadEnvironment?
        /// The bytes count only as long as loads hold them.
        var reservation: BodyReservation?
        /// Made for the first bytes: many loaders report none.
        var readers: Readers?
    }

    private let url: URL
    private let job: LoadWork.Job
    private let state: Lock<State>

    init(_ environment: LoadEnvironment, of url: URL, counting reservation: BodyReservation, for job: LoadWork.Job) {
        (self.url, self.job) = (url, job)
        state = Lock(State(environment: environment, reservation: reservation))
    }

    /// Takes a report.
    /// - Parameter bytes: The buffer of a loader that collects its bytes in one; `nil` for a chunk.
    func take(_ progress: LoadProgress, _ bytes: ArrivingBytes?) {
        guard let reservation = state.withLock({ $0.reservation }) else { return }
        reservation.grow(to: progress.receivedBytes)
        var header: ImageInfo?
        if bytes != nil || !progress.chunk.isEmpty {
            guard let readers = readers() else { return }
            if let bytes {
                readers.data.share(bytes)
            } else if readers.copiesChunks {
                readers.data.append(progress)
            }
            header = readers.header.info(after: progress, of: bytes)
        } else {
            header = state.withLock { $0.readers }?.header.known
        }
        job.publish(
            .progress(
                ImageProgress(
                    receivedBytes: progress.receivedBytes, expectedBytes: progress.expectedBytes, header: header)))
    }

    /// The readers, made for the first bytes; `nil` after the end.
    private func readers() -> Readers? {
        let (known, environment) = state.withLock { ($0.readers, $0.environment) }
        guard known == nil, let environment else { return known }
        let made = Readers(header: ArrivingHeader(environment, of: url), copiesChunks: job.wishes.previews)
        let hasEnded = state.withLock { state in
            guard state.environment != nil else { return true }
            state.readers = made
            return false
        }
        guard !hasEnded else { return nil }
        job.publish(.arriving(made.data))
        return made
    }

    /// Ends the arrival: later reports have no effect.
    func end() { state.withLock { $0 = State() } }
}
