internal import FoundationEssentials

/// The images that a job shows before its own: of the bytes that have arrived, and of cached bytes while their source is asked. They are
/// made only while a caller wants them.
final class LoadPreviews: Sendable {
    private struct State {
        /// The bytes of the transfer that is under way.
        var arriving: ArrivingData?
        /// The decoder of arriving bytes, once a caller has asked for a preview.
        var decoding: ProgressiveDecoding?
        var hasNoDecoding = false
        /// The cached bytes that were shown, with their image.
        var outdated: (bytes: SourceBytes, image: ImageLoad.Decoded)?
    }

    private enum Work: Sendable {
        case outdated(SourceBytes)
        case arriving(ArrivingData)
    }

    private let state: Lock<State>
    private let load: ImageLoad
    private let job: LoadWork.Job
    private let worker: NewestWork<Work>

    init(_ load: ImageLoad, _ job: LoadWork.Job) {
        let state = Lock(State())
        (self.load, self.job, self.state) = (load, job, state)
        worker = NewestWork { work in
            switch work {
            case .outdated(let bytes):
                guard let decoded = try? await load.decoded(bytes, job) else { return }
                state.withLock { $0.outdated = (bytes, decoded) }
                job.publish(.outdated(decoded.image))
            case .arriving(let data):
                guard let decoding = Self.decoding(state, load) else { return }
                let preview = try? await load.environment.configuration.processing.perform(priority: job.priority) {
                    isCancelled throws(ImageError) in try decoding.preview(of: data, isCancelled: isCancelled)
                }
                if let preview = preview ?? nil { job.publish(.preview(preview)) }
            }
        }
    }

    /// The decoder of arriving bytes, which is made when it is first needed; `nil` if the coder has none.
    private static func decoding(_ state: Lock<State>, _ load: ImageLoad) -> ProgressiveDecoding? {
        let (known, isMissing) = state.withLock { ($0.decoding, $0.hasNoDecoding) }
        guard known == nil, !isMissing else { return known }
        let made = load.makeProgressiveDecoding()
        state.withLock { ($0.decoding, $0.hasNoDecoding) = (made, made == nil) }
        return made
    }

    /// Takes an update of the fetch.
    func receive(_ update: LoadUpdate) {
        switch update {
        case .asking(about: let bytes): if job.wishes.outdated { worker.send(.outdated(bytes)) }
        case .arriving(let data): state.withLock { $0.arriving = data }
        case .progress:
            job.publish(update)
            // A partial image must not replace a whole image.
            let data = state.withLock { $0.outdated == nil ? $0.arriving : nil }
            if let data, job.wishes.previews { worker.send(.arriving(data)) }
        case .preview, .outdated: break
        }
    }

    /// Returns the image of cached bytes that was shown already. No preview follows.
    func image(of bytes: SourceBytes) async -> ImageLoad.Decoded? {
        await worker.end()
        return state.withLock { state in
            state.outdated.flatMap { $0.bytes.data == bytes.data ? $0.image : nil }
        }
    }

    /// The decoder that has taken the bytes while they arrived.
    func decoding(of bytes: SourceBytes) -> ProgressiveDecoding? {
        bytes.source == .network ? state.withLock { $0.decoding } : nil
    }

    /// Ends the previews.
    /// - Parameter isCut: true if the data isn't a whole image.
    /// - Returns: the animation that the previews had, if it is made of the data.
    @discardableResult func end(_ result: Result<Data, ImageError>, isCut: Bool = false) async -> AnimatedImage? {
        await worker.end()
        guard let decoding = state.withLock({ $0.decoding }) else { return nil }
        return await decoding.endAnimation(result, isCut: isCut, on: load.environment.configuration.processing)
    }
}
