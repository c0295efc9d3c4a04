internal import TintypeImages

/// The frames of an animation that is open in a worker, which has no other work meanwhile.
final class IsolatedFrameDecoder: FrameDecoder {
    let info: ImageInfo
    let outputSize: PixelSize
    private let worker: WorkerProcess
    private let pool: WorkerPool
    private let context: ProcessingContext
    private let request: WireRequest
    /// The number of the next frame.
    private var position = 0
    /// The error that ended the worker.
    private var failure: ImageError?

    init(
        info: ImageInfo, outputSize: PixelSize, about request: WireRequest, _ worker: WorkerProcess, _ pool: WorkerPool,
        _ context: ProcessingContext
    ) {
        (self.info, self.outputSize, self.request) = (info, outputSize, request)
        (self.worker, self.pool, self.context) = (worker, pool, context)
    }

    deinit {
        guard failure == nil else { return }
        try? pool.converse(with: worker, about: request, context) { conversation throws(WorkerConversation.Failure) in
            try conversation.send(.close)
        }
        pool.keep(worker)
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        // A file that breaks off may have frames that weren't counted.
        guard position < (info.isComplete ? info.frameCount : context.limits.maximumFrames) else { return nil }
        let frame: ImageFrame? = try converse { conversation throws(WorkerConversation.Failure) in
            switch try conversation.ask(.nextFrame) {
            case .done: return nil
            case .layout(let image): return try conversation.frame(image)
            default: throw .nonsense
            }
        }
        if frame != nil { position += 1 }
        return frame
    }

    func rewind() throws(ImageError) { try seek(to: 0) }

    func seek(to index: Int) throws(ImageError) {
        try perform(.seek(index))
        position = max(0, index)
    }

    func keepSeekPoints(every interval: Int) { try? perform(.keepSeekPoints(interval)) }

    private func perform(_ message: HostMessage) throws(ImageError) {
        try converse { conversation throws(WorkerConversation.Failure) in
            guard case .done = try conversation.ask(message) else { throw .nonsense }
        }
    }

    private func converse<Value>(
        _ body: (WorkerConversation) throws(WorkerConversation.Failure) -> Value
    ) throws(ImageError) -> Value {
        if let failure { throw failure }
        do throws(ImageError) {
            return try pool.converse(with: worker, about: request, frameSize: outputSize, context, body)
        } catch {
            if !worker.isUsable { failure = error }
            throw error
        }
    }
}
