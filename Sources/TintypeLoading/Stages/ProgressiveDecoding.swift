internal import FoundationEssentials

/// Decodes an image while its bytes arrive, a pass at a time.
///
/// Each pass takes the bytes that have come since the last pass, on a thread of the processing queue. Passes don't overlap: the load makes
/// the image after its last preview.
final class ProgressiveDecoding: Sendable {
    private struct State {
        /// The decoder, which is released after it has failed, with its memory.
        var decoder: (any ProgressiveDecoder)?
        var animation: ArrivingAnimation
        var data: ArrivingData?
        var taken = 0
        var lastPreview: ContinuousClock.Instant?

        /// Gives the decoder the bytes that arrived since the last call.
        mutating func take(_ data: Data) throws(ImageError) {
            guard let decoder, data.count > taken else { return }
            let chunk = data.dropFirst(taken)
            taken = data.count
            try decoder.append(chunk, of: data)
        }
    }

    /// `nil` during a pass: no lock is held while the program's coder is called.
    private let state: Lock<State?>
    private let interval: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    /// True if the result of the running pass is still needed.
    private let isCancelled: Lock<@Sendable () -> Bool>

    init(_ load: ImageLoad) {
        let (environment, options) = (load.environment, load.options())
        let coder = environment.entryCoder(of: load.request.url)
        let isCancelled = Lock<@Sendable () -> Bool>({ false })
        var context = ProcessingContext(
            limits: coder.limits, pool: coder.pool, budget: coder.budget, admission: .preview
        ) { isCancelled.withLock { $0 }() }
        (context.processing, context.origin) = (coder.processing, coder.origin)
        let decoder = try? environment.coders.progressiveDecoder(options: options, context: context)
        state = Lock(State(decoder: decoder, animation: ArrivingAnimation(coder, options: options, context: context)))
        self.isCancelled = isCancelled
        (interval, now) = (environment.configuration.previewInterval, environment.configuration.now)
    }

    /// - Returns: `nil` if another pass is under way, which the load rules out.
    private func pass<Value>(
        _ isCancelled: @escaping @Sendable () -> Bool, _ body: (inout State) throws(ImageError) -> Value?
    ) throws(ImageError) -> Value? {
        guard var taken = state.withLockUnchecked({ $0.take() }) else { return nil }
        defer { state.withLockUnchecked { $0 = taken } }
        self.isCancelled.withLock { $0 = isCancelled }
        return try body(&taken)
    }

    /// Decodes the bytes that have arrived, and returns a preview if enough time has passed since the last preview, or if the image turns
    /// out to be an animation.
    func preview(of data: ArrivingData, isCancelled: @escaping @Sendable () -> Bool) throws(ImageError) -> Image? {
        try pass(isCancelled) { state throws(ImageError) in
            state.data = data
            let bytes = data.data
            let preview = preview(of: bytes, &state)
            let isNew = state.animation.extend(bytes)
            guard let animation = state.animation.image else { return preview }
            return preview?.with(animation) ?? (isNew ? Image(animation).with { $0.isPartial = true } : nil)
        }
    }

    private func preview(of bytes: Data, _ state: inout State) -> Image? {
        guard let decoder = state.decoder else { return nil }
        let start = now()
        do throws(ImageError) {
            try state.take(bytes)
            if let lastPreview = state.lastPreview, start < lastPreview + interval { return nil }
            guard let preview = try decoder.preview() else { return nil }
            // Counted from its end, so that slow previews leave as much time for other work.
            state.lastPreview = now()
            return preview
        } catch {
            state.decoder = nil
            return nil
        }
    }

    /// Ends the animation with all bytes, or with the reason why they didn't come.
    /// - Parameter isCut: true if the bytes aren't a whole image.
    /// - Returns: the animation, if it is made of the bytes.
    func endAnimation(_ result: Result<Data, ImageError>, isCut: Bool, on queue: WorkQueue) async -> AnimatedImage? {
        guard state.withLock({ $0?.animation.image != nil }) else { return nil }
        do throws(ImageError) {
            let data = try result.get()
            // Reads the whole file.
            return try await queue.perform { [self] isCancelled throws(ImageError) in
                try pass(isCancelled) { state in
                    guard isCut else {
                        state.animation.end(result)
                        return state.animation.image
                    }
                    let hasArrived = state.data?.isAll(of: data) == true
                    if hasArrived { _ = state.animation.extend(data, isEnd: true) }
                    state.animation.end(.failure(.endsTooEarly))
                    return hasArrived ? state.animation.image : nil
                }
            }
        } catch {
            _ = try? pass({ false }) { state in state.animation.end(.failure(error)) }
            return nil
        }
    }

    /// Returns the image of all bytes; `nil` if others arrived in front of the decoder, or not all, or if it could not
    /// read them, or found no room for the image.
    func finish(_ bytes: Data, _ context: ProcessingContext) throws(ImageError) -> Image? {
        try pass(context.isCancelled) { state throws(ImageError) in
            // Whatever the result, the decoder isn't needed again.
            defer { state.decoder = nil }
            guard let decoder = state.decoder, state.data?.isAll(of: bytes) == true else { return nil }
            do throws(ImageError) {
                try state.take(bytes)
                return try decoder.finish()
            } catch {
                if error.code == .overBudget { return nil }
                throw error
            }
        }
    }
}

extension ImageError {
    /// The reason why an animation of which a part is shown has no more frames.
    fileprivate static let endsTooEarly = ImageError(
        .truncatedImage, stage: .decode, reason: "the image ends too early")
}
