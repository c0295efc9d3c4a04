internal import FoundationEssentials

/// The images that a job shows before its own: of the bytes that have arrived, and of cached bytes while their source is asked. They are
/// made only while a caller wants them. Copies share them.
struct LoadPreviews: Sendable {
    private struct State {
        /// The bytes of the transfer that is under way.
        var arriving: ArrivingData?
        /// The decoder of arriving bytes, once a caller has asked for a preview.
        var decoding: ProgressiveDecoding?
        /// The cached bytes that were shown, with their image.
        var outdated: (bytes: SourceBytes, image: ImageLoad.Decoded)?
        /// Makes the images, once a caller has asked for one.
        var worker: NewestWork<Work>?
        var hasEnded = false
    }

    private enum Work: Sendable {
        case outdated(SourceBytes)
        case arriving(ArrivingData)
    }

    private let state = Lock(State())
    private let load: ImageLoad
    private let job: LoadWork.Job

    init(_ load: ImageLoad, _ job: LoadWork.Job) { (self.load, self.job) = (load, job) }

    private func begin(_ work: Work) {
        let worker = state.withLock { state -> NewestWork<Work>? in
            guard !state.hasEnded else { return nil }
            let worker = state.worker ?? NewestWork(show)
            state.worker = worker
            return worker
        }
        worker?.send(work)
    }

    private func show(_ work: Work) async {
        switch work {
        case .outdated(let bytes):
            guard let decoded = try? await load.decoded(bytes, job) else { return }
            state.withLock { $0.outdated = (bytes, decoded) }
            job.publish(.outdated(decoded.image))
        case .arriving(let data):
            // The whole cached image may have been shown since these bytes arrived.
            guard state.withLock({ $0.outdated == nil }) else { return }
            let decoding = decoding()
            let preview = try? await load.environment.configuration.processing.perform(priority: job.priority) {
                isCancelled throws(ImageError) in try decoding.preview(of: data, isCancelled: isCancelled)
            }
            if let preview = preview ?? nil { job.publish(.preview(preview)) }
        }
    }

    /// The decoder of arriving bytes, which is made when it is first needed.
    private func decoding() -> ProgressiveDecoding {
        if let known = state.withLock({ $0.decoding }) { return known }
        let made = ProgressiveDecoding(load)
        state.withLock { $0.decoding = made }
        return made
    }

    /// Takes an update of the fetch.
    func receive(_ update: LoadUpdate) {
        switch update {
        case .asking(about: let bytes): if job.wishes.outdated { begin(.outdated(bytes)) }
        case .arriving(let data): state.withLock { $0.arriving = data }
        case .progress:
            job.publish(update)
            // A partial image must not replace a whole image.
            let data = state.withLock { $0.outdated == nil ? $0.arriving : nil }
            if let data, job.wishes.previews { begin(.arriving(data)) }
        case .preview, .outdated: break
        }
    }

    /// Returns what the previews have made of bytes: the image of cached bytes that was shown already, or the decoder that has taken the
    /// bytes while they arrived. No preview follows.
    func decoded(of bytes: SourceBytes) async -> (ImageLoad.Decoded?, ProgressiveDecoding?) {
        await endWork()
        return state.withLock { state in
            let outdated = state.outdated.flatMap { $0.bytes.data == bytes.data ? $0.image : nil }
            return (outdated, bytes.source == .network ? state.decoding : nil)
        }
    }

    private func endWork() async {
        let worker = state.withLock { state in
            state.hasEnded = true
            // It refers to this state.
            return state.worker.take()
        }
        await worker?.end()
    }

    /// Ends the previews.
    /// - Parameter isCut: true if the data isn't a whole image.
    /// - Returns: the animation that the previews had, if it is made of the data.
    @discardableResult func end(_ result: Result<Data, ImageError>, isCut: Bool = false) async -> AnimatedImage? {
        await endWork()
        guard let decoding = state.withLock({ $0.decoding }) else { return nil }
        return await decoding.endAnimation(result, isCut: isCut, on: load.environment.configuration.processing)
    }
}
