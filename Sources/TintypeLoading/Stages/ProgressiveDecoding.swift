internal import FoundationEssentials

/// Decodes one image while its bytes arrive, a pass at a time.
///
/// Each pass takes the bytes that have come since the last one, on a thread of the processing queue. Passes don't overlap: the last one, which
/// makes the image, waits for a preview that is being made.
final class ProgressiveDecoding: Sendable {
    private struct State {
        /// The decoder, which is released after it has failed, with its memory.
        var decoder: (any ProgressiveDecoder)?
        var animation: ArrivingAnimation
        var data: ArrivingData?
        var taken = 0
        var lastPreview: ContinuousClock.Instant?

        /// Gives the decoder what it doesn't have of the bytes so far.
        mutating func take(_ data: Data) throws(ImageError) {
            guard let decoder, data.count > taken else { return }
            let chunk = data.dropFirst(taken)
            taken = data.count
            try decoder.append(chunk, of: data)
        }
    }

    /// Locked during a pass, and so while the decoder works: it knows nothing of the lock.
    private let state: Lock<State>
    private let interval: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    /// True if the result of the running pass is still needed.
    private let isCancelled: Lock<@Sendable () -> Bool>

    /// - Returns: `nil` if the coder cannot decode while bytes arrive.
    init?(
        _ coder: any ImageCoder, options: DecodeOptions, _ configuration: ImageManager.Configuration,
        _ entryCoder: EntryCoder
    ) {
        let isCancelled = Lock<@Sendable () -> Bool>({ false })
        let context = DecodeContext(
            limits: configuration.limits, pool: configuration.pool, budget: configuration.budget, admission: .preview
        ) { isCancelled.withLock { $0 }() }
        guard let progressive = coder as? any ProgressiveImageCoder,
            let decoder = try? progressive.progressiveDecoder(options: options, context: context)
        else { return nil }
        var entryCoder = entryCoder
        entryCoder.coders = (coder as? ImageCoders) ?? ImageCoders([coder])
        var frames = options
        frames.firstFrameOnly = false
        state = Lock(
            State(decoder: decoder, animation: ArrivingAnimation(entryCoder, options: frames, context: context)))
        self.isCancelled = isCancelled
        interval = configuration.previewInterval
        now = configuration.now
    }

    /// Decodes the bytes that have arrived, and returns a preview if enough time has passed since the last one, or if the image turns out to be
    /// an animation.
    func preview(of data: ArrivingData, isCancelled: @escaping @Sendable () -> Bool) -> Image? {
        state.withLockUnchecked { state in
            self.isCancelled.withLock { $0 = isCancelled }
            state.data = data
            let bytes = data.data
            let preview = preview(of: bytes, &state)
            let isNew = state.animation.extend(bytes)
            guard let animation = state.animation.image else { return preview }
            return (preview ?? (isNew ? animation.poster : nil))?.with(animation)
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

    /// Ends the animation with all bytes, or with the reason for which they didn't come.
    func endAnimation(_ result: Result<Data, ImageError>, on queue: WorkQueue) async {
        guard state.withLock({ $0.animation.image != nil }) else { return }
        do throws(ImageError) {
            let data = try result.get()
            // Reads the whole file.
            try await queue.perform { [self] isCancelled throws(ImageError) in
                self.isCancelled.withLock { $0 = isCancelled }
                state.withLockUnchecked { $0.animation.end(.success(data)) }
            }
        } catch {
            state.withLockUnchecked { $0.animation.end(.failure(error)) }
        }
    }

    /// Returns the image of all bytes; `nil` if they didn't all arrive in front of the decoder, or if it could not read
    /// them, or found no room for the image.
    func finish(_ bytes: Data, _ context: DecodeContext) throws(ImageError) -> Image? {
        try state.withLockUnchecked { state throws(ImageError) in
            isCancelled.withLock { $0 = context.isCancelled }
            // The decoder is not needed again, whatever the result.
            defer { state.decoder = nil }
            guard let decoder = state.decoder, state.data?.isAll(of: bytes.count) == true else { return nil }
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
