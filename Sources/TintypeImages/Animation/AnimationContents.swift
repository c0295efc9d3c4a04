internal import FoundationEssentials

/// The frames of an animation, decoded or in bytes; more may be arriving. Shared by an animation and the animations that transformers
/// derive from it.
final class AnimationContents: Sendable {
    /// The part of an animation that is known.
    struct State: Sendable {
        var data = Data()
        var info: ImageInfo
        /// The duration of each frame.
        var durations: [Duration]
        /// True if more bytes are expected.
        var isArriving = false
        /// The reason why missing bytes are no longer expected.
        var interruption: ImageError?
        /// The pools whose decoders take the bytes that arrive.
        var pools: [WeakPool] = []
        /// The animations with a transformer, by its key and their pixels per point.
        var transformed: [String: WeakAnimation] = [:]

        var isWhole: Bool { !isArriving && interruption == nil }
    }

    struct WeakPool: Sendable {
        weak let pool: AnimationFramePool?
    }

    struct WeakAnimation: Sendable {
        weak let animation: AnimatedImage?
    }

    let options: DecodeOptions
    let coder: EntryCoder
    private let posterProperties: Image.Properties
    /// The size and the format of the first frame, as it was decoded. All frames have them.
    let frameSize: PixelSize
    let frameFormat: PixelFormat
    /// The memory of the decoded frames but the first. Those that share a buffer count once.
    private let frameBytes: Int
    /// The frames that a program has decoded; `nil` for bytes.
    private let frames: [ImageFrame]?
    /// Sent after each change, on any thread.
    let changes = Broadcast<Void>()
    private let state: Lock<State>

    /// Frames that are decoded from bytes.
    init(
        _ data: Data, _ info: ImageInfo, options: DecodeOptions, _ coder: EntryCoder,
        poster: Image, isArriving: Bool = false
    ) {
        (self.options, self.coder) = (options, coder)
        posterProperties = poster.properties
        (frameSize, frameFormat) = (poster.pixels.size, poster.pixels.format)
        (frames, frameBytes) = (nil, 0)
        var start = State(data: data, info: info, durations: Self.durations(of: info))
        start.isArriving = isArriving
        state = Lock(start)
    }

    /// Frames that a program has.
    init(_ frames: [ImageFrame], _ properties: Image.Properties) {
        (options, coder) = (properties.decodeOptions, EntryCoder(coders: ImageCoders()))
        posterProperties = properties
        let frames =
            frames.count == 1
            ? frames : frames.map { ImageFrame(pixels: $0.pixels, duration: FrameTiming.shown($0.duration)) }
        self.frames = frames
        (frameSize, frameFormat) = (frames[0].pixels.size, frames[0].pixels.format)
        var seen: Set = [ObjectIdentifier(frames[0].pixels)]
        frameBytes = frames.reduce(0) {
            seen.insert(ObjectIdentifier($1.pixels)).inserted ? $0 + $1.pixels.byteCount : $0
        }
        var info = ImageInfo(
            format: properties.format ?? ImageFormat(rawValue: "frames"), size: frames[0].pixels.size,
            frameCount: frames.count, loopCount: frames.count > 1 ? properties.loopCount : nil,
            frameDurations: frames.count > 1 ? frames.map(\.duration) : [], hasAlpha: properties.hasAlpha,
            bitsPerComponent: properties.bitsPerComponent, isHighDynamicRange: properties.isHighDynamicRange)
        info.metadata = properties.metadata
        state = Lock(State(info: info, durations: Self.durations(of: info)))
    }

    private static func durations(of info: ImageInfo) -> [Duration] {
        let durations = info.frameDurations
        return (0..<max(1, info.frameCount)).map { index in
            index < durations.count ? FrameTiming.shown(durations[index]) : FrameTiming.standard
        }
    }

    /// True for frames that a program has decoded.
    var isDecoded: Bool { frames != nil }

    /// A copy of the present state.
    var known: State { state.withLock { $0 } }

    /// The memory of the bytes, or of the decoded frames.
    var byteCount: Int { state.withLock { $0.data.count } + frameBytes }

    /// The properties of each frame as an image, for transformers. Frames that have arrived later may leave gaps.
    var frameProperties: Image.Properties {
        var properties = posterProperties
        properties.loopCount = 0
        properties.hasAlpha = properties.hasAlpha || known.info.hasAlpha
        return properties
    }

    // MARK: Frames

    /// Opens a decoder for the frames that are there.
    func open(_ context: ProcessingContext) throws(ImageError) -> any FrameDecoder {
        let known = known
        if let frames { return DecodedFrames(frames, info: known.info) }
        let coders = coder.list
        if !known.isWhole, let arriving = coders.arrivingCoder(for: known.data, hint: options.formatHint) {
            return try arriving.arrivingFrameDecoder(for: known.data, options: options, context: context)
        }
        guard let decoder = try coders.frameDecoder(for: known.data, options: options, context: context) else {
            throw ImageError(.formatNotEnabled, stage: .decode, reason: "no coder reads the frames of the animation")
        }
        return decoder
    }

    func add(_ pool: AnimationFramePool) {
        state.withLock { state in
            state.pools.removeAll { $0.pool == nil }
            state.pools.append(WeakPool(pool: pool))
        }
    }

    /// Returns the animation with a transformer that is in use, or makes it. All previews of a load have the same contents.
    /// - Parameter make: called under the lock, and not the program's code.
    func animation(transformedBy key: String, _ make: () -> AnimatedImage) -> AnimatedImage {
        state.withLockUnchecked { state in
            if let animation = state.transformed[key]?.animation { return animation }
            state.transformed = state.transformed.filter { $0.value.animation != nil }
            let new = make()
            state.transformed[key] = WeakAnimation(animation: new)
            return new
        }
    }

    // MARK: Changes

    // These functions are called one at a time, by the load.

    /// Takes all bytes that have arrived so far.
    func extend(_ data: Data, context: ProcessingContext) {
        let known = known
        guard known.isArriving, data.count > known.data.count else { return }
        do throws(ImageError) {
            guard
                let info = try coder.list.arrivingCoder(for: data, hint: options.formatHint)?
                    .arrivedInfo(of: data, context: context)
            else { return }
            try replace(data, info, isArriving: true)
        } catch {
            if !error.isCancellation { interrupt(error) }
        }
    }

    /// Takes all bytes of the file: the animation is now like any other.
    func finish(_ data: Data, context: ProcessingContext) {
        let known = known
        guard known.isArriving else { return }
        do throws(ImageError) {
            guard data.prefix(known.data.count) == known.data else {
                throw ImageError(
                    .truncatedImage, stage: .decode, reason: "the source sent a different file meanwhile")
            }
            extend(data, context: context)
            // Tells if it can be played.
            _ = try coder.list.frameDecoder(for: data, options: options, context: context)
            let info = try coder.list.info(of: data, hint: options.formatHint, context: context)
            let count = self.known.durations.count
            guard info.isComplete || info.frameCount <= count else {
                throw ImageError(
                    .truncatedImage, stage: .decode, reason: "the file ends in frame \(count + 1) of the animation")
            }
            try replace(data, info, isArriving: false)
        } catch {
            interrupt(error)
        }
    }

    /// Notes that no more bytes will come.
    func interrupt(_ error: ImageError) {
        change { state in
            guard state.isArriving else { return false }
            (state.isArriving, state.interruption) = (false, error)
            return true
        }
    }

    private func replace(_ data: Data, _ info: ImageInfo, isArriving: Bool) throws(ImageError) {
        let durations = Self.durations(of: info)
        let known = known
        // Players are at frames that they have shown.
        guard durations.count >= known.durations.count, info.size == known.info.size,
            info.orientation == known.info.orientation
        else {
            throw ImageError(
                .corruptImage, stage: .decode, reason: "the rest of the animation contradicts its earlier frames")
        }
        change { state in
            let isNew = !isArriving || durations != state.durations || info.loopCount != state.info.loopCount
            (state.data, state.info, state.durations) = (data, info, durations)
            state.isArriving = state.isArriving && isArriving
            return isNew
        }
        for pool in state.withLock({ $0.pools.compactMap(\.pool) }) { pool.takeNewBytes() }
    }

    /// - Parameter body: returns true if observers have to be told.
    private func change(_ body: (inout State) -> Bool) {
        if state.withLock({ body(&$0) }) { changes.send() }
    }
}

/// The frames that a program has decoded.
private final class DecodedFrames: FrameDecoder {
    let info: ImageInfo
    private let frames: [ImageFrame]
    private var next = 0
    var outputSize: PixelSize { info.size }

    init(_ frames: [ImageFrame], info: ImageInfo) { (self.frames, self.info) = (frames, info) }

    func nextFrame() -> ImageFrame? {
        guard next < frames.count else { return nil }
        defer { next += 1 }
        return frames[next]
    }

    func rewind() { next = 0 }

    func seek(to index: Int) { next = max(0, index) }
}

extension EntryCoder {
    var list: ImageCoders { (coders as? ImageCoders) ?? ImageCoders([coders]) }
}
