public import FoundationEssentials

/// An animated image, whose frames are decoded when they are due, so that a long animation takes no more memory than a short one.
///
/// ```swift
/// let image = try await manager.image(for: url)
/// if let animation = image.animation {
///     let player = AnimatedImagePlayer(animation)
///     for await frame in player.frames { show(frame.pixels) }
/// }
/// ```
///
/// All players of an animation share its decoded frames.
public final class AnimatedImage: Sendable {
    /// The first frame, as a still image.
    public let poster: Image
    let contents: AnimationContents
    /// Changes each frame; `nil` for none.
    private let transformer: (any ImageTransformer)?
    /// The number of plays, if it differs from the file's.
    private let ownLoopCount: Int?
    private let pressure: MemoryPressure?
    private let frames = Lock(Frames())

    /// The decoded frames, and the wishes for all of them.
    private struct Frames {
        var pool: AnimationFramePool?
        /// Those of calls of ``preload()`` that are running.
        var running: [Preload] = []
        /// That of the last call that has succeeded.
        var preload: Preload?
    }

    /// A member of a frame pool that wants all frames, as long as it lives.
    private final class Preload: Sendable {
        private let pool: AnimationFramePool
        private let member: Int

        init(_ pool: AnimationFramePool, frameCount: Int) {
            self.pool = pool
            let buffer = FrameBuffer(capacity: frameCount, lookahead: 0, keepsAll: true)
            member = pool.join(.init(demand: FrameDemand(frames: [], buffer: buffer), onFrame: {}))
        }

        deinit { pool.leave(member) }
    }

    init(
        _ contents: AnimationContents, poster: Image, transformer: (any ImageTransformer)? = nil, loopCount: Int? = nil,
        pressure: MemoryPressure?
    ) {
        self.contents = contents
        self.poster = poster.firstFrame
        self.transformer = transformer
        ownLoopCount = loopCount
        self.pressure = pressure
    }

    /// Creates an animation of decoded frames that all stay in memory; `nil` without frames, or if their sizes or pixel formats
    /// differ.
    ///
    /// For coders that decode a movie as a whole, and for programs that draw their frames. To decode bytes, use ``ImageCoders``.
    /// - Parameters:
    ///   - frames: the frames, with their durations. A frame without a duration is shown for 100 ms.
    ///   - loopCount: the number of plays; 0 to repeat the animation forever.
    public convenience init?(frames: [ImageFrame], loopCount: Int = 0) {
        var properties = Image.Properties()
        properties.loopCount = loopCount
        self.init(frames: frames, properties: properties)
    }

    /// Creates an animation of decoded frames with properties that all of them have.
    package convenience init?(frames: [ImageFrame], properties: Image.Properties) {
        guard let first = frames.first?.pixels,
            frames.allSatisfy({ $0.pixels.size == first.size && $0.pixels.format == first.format })
        else { return nil }
        var properties = properties
        if frames.count == 1 { properties.loopCount = 0 }
        self.init(
            AnimationContents(frames, properties), poster: Image(pixels: first, properties: properties),
            pressure: .system)
    }

    /// Creates an animation of images that all stay in memory. The properties are the first image's.
    /// - Parameters:
    ///   - images: the frames. An animated image contributes its first frame.
    ///   - durations: how long each frame is shown. Images beyond the end of the array use the last duration.
    ///   - loopCount: the number of plays; 0 to repeat the animation forever.
    /// - Throws: ``ImageError/Code/invalidRequest`` without images or durations, and for images of different sizes, pixel
    ///   formats, or color spaces.
    package convenience init(images: [Image], durations: [Duration], loopCount: Int = 0) throws(ImageError) {
        func invalid(_ reason: String) -> ImageError { ImageError(.invalidRequest, stage: .request, reason: reason) }
        guard let first = images.first, let last = durations.last else {
            throw invalid("an animation needs at least one image, and one duration")
        }
        for (index, image) in images.enumerated() {
            guard image.size == first.size else {
                throw invalid(
                    "image \(index) of the animation has \(image.size) pixels, but the first has \(first.size)")
            }
            guard image.pixels.format == first.pixels.format, image.colorSpace == first.colorSpace else {
                throw invalid(
                    "image \(index) of the animation has a different pixel format or color space than the first")
            }
        }
        var properties = first.properties
        properties.loopCount = loopCount
        properties.hasAlpha = images.contains(where: \.hasAlpha)
        let frames = images.enumerated().map { index, image in
            ImageFrame(image, duration: index < durations.count ? durations[index] : last)
        }
        self.init(
            AnimationContents(frames, properties), poster: Image(pixels: first.pixels, properties: properties),
            pressure: .system)
    }

    // MARK: Properties

    /// The encoded animation, as far as it has arrived; empty for an animation made of decoded frames. Transformers don't change it.
    public var data: Data { contents.known.data }
    /// The options that frames are decoded with.
    package var options: DecodeOptions { contents.options }
    /// The contents of its header. While the animation is arriving, only the frames so far are included.
    public var info: ImageInfo { contents.known.info }
    /// The duration of each frame. It is 100 ms for a frame without a duration.
    public var frameDurations: [Duration] { contents.known.durations }
    /// The number of frames that have arrived.
    public var frameCount: Int { frameDurations.count }
    /// True if there is more than one frame.
    package var isAnimated: Bool { frameCount > 1 }
    /// The number of times that the animation is played; 0 to repeat it forever.
    public var loopCount: Int {
        let info = info
        return info.isAnimated ? ownLoopCount ?? info.loopCount ?? 0 : 0
    }
    /// The upright size of the frames, in pixels.
    public var size: PixelSize { poster.size }
    /// The duration of one pass through the frames.
    public var duration: Duration { frameDurations.reduce(.zero, +) }
    /// The memory of the bytes, or of the frames that the animation was made of, and of the first frame, in bytes. Frames that players keep
    /// are not part of it.
    package var memoryCost: Int { sourceBytes + poster.memoryCost }

    /// The memory of the bytes, or of the decoded frames after the first.
    var sourceBytes: Int { contents.byteCount }

    /// The memory of a picture that has the size of the source, in bytes.
    var canvasBytes: Int {
        let ratio = Double(info.size.pixelCount) / Double(max(1, size.pixelCount))
        return Int(min(Double(poster.pixels.byteCount) * ratio, 1e15))
    }

    /// The order and the times of the frames that are there.
    func timeline(mode: PlaybackMode, loopCount: Int?) -> AnimationTimeline {
        let known = contents.known
        return AnimationTimeline(
            durations: known.durations, mode: mode, loopCount: loopCount ?? self.loopCount, isArriving: known.isArriving
        )
    }

    // MARK: Other animations of the same frames

    /// Returns the animation with a transformer for each frame, which is applied when the frame is due.
    /// - Parameter poster: the first frame, transformed.
    func transformed(_ transformer: any ImageTransformer, poster: Image) -> AnimatedImage {
        let all: any ImageTransformer = self.transformer.map { $0.then(transformer) } ?? transformer
        let make = { [self] in
            AnimatedImage(contents, poster: poster, transformer: all, loopCount: ownLoopCount, pressure: pressure)
        }
        // Keys are asked for outside the lock: they are the program's code.
        guard !all.hasEmptyKey, ownLoopCount == nil else { return make() }
        return contents.animation(transformedBy: "\(all.key)@\(poster.scale)", make)
    }

    /// Returns the animation with another number of plays.
    func repeated(_ loopCount: Int) -> AnimatedImage {
        AnimatedImage(contents, poster: poster, transformer: transformer, loopCount: loopCount, pressure: pressure)
    }

    /// Returns the animation with another number of pixels per point.
    func scaled(_ scale: Double) -> AnimatedImage {
        AnimatedImage(
            contents, poster: poster.with { $0.scale = scale }, transformer: transformer, loopCount: ownLoopCount,
            pressure: pressure)
    }

    /// The way of each frame from the decoder.
    private var frameWork: FrameWork { FrameWork(contents: contents, transformer: transformer, poster: poster.pixels) }

    /// - Throws: ``ImageError/Code/truncatedImage``, or the reason why frames are missing.
    package func checkIsWhole() throws(ImageError) {
        let known = contents.known
        guard !known.isWhole else { return }
        throw known.interruption
            ?? ImageError(.truncatedImage, stage: .decode, reason: "the animation is still being loaded")
    }

    // MARK: Frames

    /// Returns a frame. Decodes it if necessary, with the earlier frames that it depends on.
    /// - Parameter index: the number of the frame, counted from 0.
    /// - Returns: the frame; `nil` if no frame has this number.
    /// - Throws: ``ImageError/Code/cancelled``, and the errors of the decoder and the transformer.
    public func frame(at index: Int) async throws(ImageError) -> ImageFrame? {
        guard frameDurations.indices.contains(index) else { return nil }
        return try await framePool().waitForFrame(at: index)
    }

    /// Decodes all frames, in order on the calling thread, and keeps none.
    ///
    /// For encoders and other code that processes an animation once.
    /// - Parameters:
    ///   - isCancelled: returns true once the frames are no longer needed.
    ///   - body: receives each frame.
    /// - Throws: ``ImageError/Code/truncatedImage`` if a frame is missing or has not arrived, the errors of the decoder and the
    ///   transformer, and the errors of `body`.
    public func forEachFrame(
        isCancelled: @escaping @Sendable () -> Bool = { Task.isCancelled },
        _ body: (ImageFrame) throws(ImageError) -> Void
    ) throws(ImageError) {
        try checkIsWhole()
        let (coder, work, count) = (contents.coder, frameWork, frameCount)
        var context = ProcessingContext(
            limits: coder.limits, pool: coder.pool, budget: coder.budget, isCancelled: isCancelled)
        context.memoryPressure = nil
        context.origin = coder.origin
        let decoder = try contents.open(context)
        for index in 0..<count {
            try context.checkCancellation()
            guard let frame = try decoder.nextFrame() else { throw FrameReader.missing(index) }
            try body(work.apply(to: frame, isCancelled: isCancelled))
        }
    }

    /// Decodes all frames, and keeps them until ``unload()`` or until memory is scarce. An animation that was made of decoded frames always
    /// keeps them.
    /// - Throws: ``ImageError/Code/limitExceeded`` if all frames together take more memory than an image may,
    ///   ``ImageError/Code/cancelled``, and the errors of the decoder.
    public func preload() async throws(ImageError) {
        guard !isMadeOfFrames else { return }
        let (count, info) = (frameCount, info)
        try contents.coder.limits.check(
            size: info.size, output: size, frameCount: count, bytesPerPixel: poster.pixels.format.bytesPerPixel)
        let pool = framePool()
        let preload = Preload(pool, frameCount: count)
        frames.withLock { if $0.pool === pool { $0.running.append(preload) } }
        var isDone = false
        defer { end(preload, isDone: isDone) }
        for index in 0..<count { _ = try await pool.waitForFrame(at: index) }
        isDone = true
    }

    /// Ends a call of ``preload()``. If it fails, only its own wish ends: others may use the decoded frames.
    private func end(_ preload: Preload, isDone: Bool) {
        let old = frames.withLock { frames -> Preload? in
            // It isn't there any more after ``unload()``.
            guard let place = frames.running.firstIndex(where: { $0 === preload }) else { return nil }
            frames.running.remove(at: place)
            defer { if isDone { frames.preload = preload } }
            return frames.preload
        }
        _ = old  // Deallocated outside the lock.
    }

    /// Releases the decoder and the frames that ``preload()`` decoded. Players keep the frames that they need.
    public func unload() {
        let old = frames.withLock { frames in
            defer { frames = Frames() }
            return frames
        }
        _ = old  // Deallocated outside the lock.
    }

    /// True if all frames are decoded.
    public var isPreloaded: Bool {
        isMadeOfFrames || frames.withLock { $0.pool }?.statistics.frames == frameCount
    }

    /// True if the frames were decoded before, and nothing is left to do for each of them.
    private var isMadeOfFrames: Bool { contents.isDecoded && transformer == nil }

    /// The decoded frames, which all players share.
    func framePool() -> AnimationFramePool {
        frames.withLock { frames in
            if let pool = frames.pool { return pool }
            let pool = AnimationFramePool(contents, frameWork, pressure: pressure)
            contents.add(pool)
            frames.pool = pool
            return pool
        }
    }
}

extension AnimatedImage: Hashable {
    /// Returns true if both decode the same bytes with the same options and transformers, and so have equal frames, and have the same loop
    /// count. An incomplete animation, or an animation made of decoded frames, equals only itself.
    public static func == (left: AnimatedImage, right: AnimatedImage) -> Bool {
        if left === right { return true }
        let (one, other) = (left.contents.known, right.contents.known)
        return one.isWhole && other.isWhole && !one.data.isEmpty && one.data == other.data
            && left.options == right.options && left.transformer?.key == right.transformer?.key
            && left.transformer?.hasEmptyKey != true && left.loopCount == right.loopCount && left.size == right.size
    }

    // Considers only properties that don't change while bytes arrive.
    /// Hashes the size.
    public func hash(into hasher: inout Hasher) { hasher.combine(size) }
}

extension AnimatedImage: CustomStringConvertible {
    /// The format, the size, the number of frames, and the duration.
    public var description: String { "\(info.format.rawValue) \(size), \(frameCount) frames in \(duration)" }
}
