public import FoundationEssentials

/// An animation whose frames are decoded when they are due, so that a long one takes no more memory than a short one.
///
/// An ``Image``, in contrast, has all of its frames. A still image is an animation with one frame.
///
/// ```swift
/// let animated = try await manager.animatedImage(for: url)
/// let player = AnimatedImagePlayer(animated)
/// for await frame in player.frames { show(frame.pixels) }
/// ```
///
/// All players of one animation share its decoded frames. Loads of one URL return the same object as long as it is in memory.
public final class AnimatedImage: Sendable {
    /// The first frame.
    public let poster: Image
    /// The options that frames are decoded with.
    public let options: DecodeOptions

    let coder: EntryCoder
    private let pressure: MemoryPressure?
    let contents: Lock<Contents>
    let pools = Lock(Pools())

    struct Pools {
        /// The frames without a transformer, which hold the decoder, and its place.
        var plain: AnimationFramePool?
        /// The frames by the key of their transformer.
        var transformed: [String: WeakPool] = [:]
        /// Keeps all frames.
        var preload: Preload?

        /// All pools that are in use.
        var all: [AnimationFramePool] { transformed.values.compactMap(\.pool) + (plain.map { [$0] } ?? []) }
    }

    struct WeakPool: Sendable {
        weak let pool: AnimationFramePool?
    }

    /// A member of a frame pool that wants all frames, as long as it lives.
    final class Preload: Sendable {
        private let pool: AnimationFramePool
        private let member: Int

        init(_ pool: AnimationFramePool, frameCount: Int) {
            self.pool = pool
            let buffer = FrameBuffer(capacity: frameCount, lookahead: 0, keepsAll: true)
            member = pool.join(.init(demand: FrameDemand(frames: [], buffer: buffer), onFrame: {}))
        }

        deinit { pool.leave(member) }
    }

    /// Opens an animation and decodes its first frame, on the calling thread.
    /// - Parameters:
    ///   - data: the encoded animation, or a still image.
    ///   - options: the size, color space and other properties of the frames. With ``DecodeOptions/firstFrameOnly``, the animation has
    ///     one frame.
    ///   - coders: the coders that may decode it; the first animated one is used.
    ///   - limits: the limits that the animation must not exceed.
    ///   - budget: the memory in which frames that are kept are counted.
    /// - Throws: An ``ImageError`` of the decode stage.
    public convenience init(
        data: Data, options: DecodeOptions = DecodeOptions(), coders: ImageCoders,
        limits: DecodeLimits = DecodeLimits(),
        budget: DecodeBudget = .shared
    ) throws(ImageError) {
        try self.init(
            data, options: options, EntryCoder(coders: coders, limits: limits, budget: budget),
            context: DecodeContext(limits: limits, budget: budget))
    }

    /// - Parameter context: the context in which the first frame is decoded.
    package init(
        _ data: Data, options: DecodeOptions, _ coder: EntryCoder, context: DecodeContext,
        pressure: MemoryPressure? = .system
    ) throws(ImageError) {
        let coders = (coder.coders as? ImageCoders) ?? ImageCoders([coder.coders])
        self.options = options
        self.coder = coder
        self.pressure = pressure
        let info = try coders.info(of: data, hint: options.formatHint, context: context)
        var first = options
        first.firstFrameOnly = true
        poster = try coders.decode(data, options: first, context: context)
        contents = Lock(Contents(data, info, firstFrameOnly: options.firstFrameOnly))
    }

    /// Creates the beginning of an animation: see ``AnimatedImage/init(arriving:options:_:context:)``.
    init(
        _ contents: Contents, poster: Image, options: DecodeOptions, _ coder: EntryCoder, pressure: MemoryPressure?
    ) {
        self.poster = poster
        self.options = options
        self.coder = coder
        self.pressure = pressure
        self.contents = Lock(contents)
    }

    // MARK: Properties

    /// The encoded animation, as far as it has arrived.
    public var data: Data { contents.withLock { $0.data } }
    /// The contents of its header. While the animation arrives, only the frames that are there count.
    public var info: ImageInfo { contents.withLock { $0.info } }
    /// The duration of each frame. It is 100 ms where the header doesn't tell.
    public var frameDurations: [Duration] { contents.withLock { $0.frameDurations } }
    public var frameCount: Int { frameDurations.count }
    /// True if there is more than one frame.
    public var isAnimated: Bool { frameCount > 1 }
    /// The number of times that the animation is played; 0 to repeat it forever.
    public var loopCount: Int { isAnimated ? info.loopCount ?? 0 : 0 }
    public var format: ImageFormat { info.format }
    /// The upright size of the frames, in pixels.
    public var size: PixelSize { poster.size }
    /// The number of pixels per point, at least 1.
    public var scale: Double { poster.scale }
    /// The duration of one pass through the frames.
    public var duration: Duration { frameDurations.reduce(.zero, +) }
    /// The memory of the bytes and the first frame, in bytes. Frames that players keep are not part of it.
    public var memoryCost: Int { data.count + poster.memoryCost }

    /// The memory of a picture that has the size of the source, in bytes.
    var canvasBytes: Int {
        let ratio = Double(info.size.pixelCount) / Double(max(1, size.pixelCount))
        return Int(min(Double(poster.pixels.byteCount) * ratio, 1e15))
    }

    // MARK: Frames

    /// Returns a frame, decoded if need be, with those before it on which it depends.
    /// - Parameter index: the number of the frame, counted from 0.
    /// - Returns: the frame; `nil` if there is none with this number.
    /// - Throws: ``ImageError/Code/cancelled``, and the errors of the decoder.
    public func frame(at index: Int) async throws(ImageError) -> ImageFrame? {
        guard frameDurations.indices.contains(index) else { return nil }
        guard isAnimated else { return poster.frames[0] }
        return try await framePool().waitForFrame(at: index)
    }

    /// Decodes all frames, and keeps them until ``unload()`` or until memory is scarce.
    /// - Throws: ``ImageError/Code/limitExceeded`` if all frames together take more memory than an image may,
    ///   ``ImageError/Code/cancelled``, and the errors of the decoder.
    public func preload() async throws(ImageError) {
        guard isAnimated else { return }
        try coder.limits.check(
            size: info.size, output: size, frameCount: frameCount, bytesPerPixel: poster.pixels.format.bytesPerPixel)
        let pool = framePool()
        let preload = Preload(pool, frameCount: frameCount)
        pools.withLock { $0.preload = preload }
        for index in 0..<frameCount { _ = try await pool.waitForFrame(at: index) }
    }

    /// Releases the frames that ``preload()`` decoded, and the decoder. Frames that players need stay with them.
    public func unload() {
        let old = pools.withLock { pools in
            defer { (pools.plain, pools.preload) = (nil, nil) }
            return (pools.plain, pools.preload)
        }
        _ = old  // Deallocated outside the lock.
    }

    /// True if all frames are decoded.
    public var isPreloaded: Bool {
        !isAnimated || pools.withLock { $0.plain }?.statistics.frames == frameCount
    }

    /// The decoded frames that players of a transformer share.
    func framePool(_ transformer: (any ImageTransformer)? = nil) -> AnimationFramePool {
        // Asked outside the lock: it is the program's code.
        let key = transformer?.key
        return pools.withLock { pools in
            if let pool = key.map({ pools.transformed[$0]?.pool }) ?? pools.plain { return pool }
            var properties = poster.properties
            properties.loopCount = 0
            let source = AnimationFrameSource { [contents] in
                contents.withLock { $0.data }
            } open: { [contents, options, coder, poster] context throws(ImageError) in
                let contents = contents.withLock { $0 }
                let coders = (coder.coders as? ImageCoders) ?? ImageCoders([coder.coders])
                if !contents.isWhole, let arriving = coders.arrivingCoder(for: contents.data, hint: options.formatHint)
                {
                    return try arriving.arrivingFrameDecoder(for: contents.data, options: options, context: context)
                }
                guard contents.frameDurations.count > 1 else {
                    return StillFrameDecoder(info: contents.info, frame: poster.frames[0])
                }
                return try coders.frameDecoder(for: contents.data, options: options, context: context)
            }
            let pool = AnimationFramePool(
                coder, properties: properties, transformer: transformer, pressure: pressure, source)
            if let key {
                pools.transformed = pools.transformed.filter { $0.value.pool != nil }
                pools.transformed[key] = WeakPool(pool: pool)
            } else {
                pools.plain = pool
            }
            return pool
        }
    }

    // MARK: Encoding

    /// Returns the animation in a format. The bytes stay as they are if they have the format, and the options ask for no change.
    /// - Parameters:
    ///   - format: the format to write; `nil` for that of the animation.
    ///   - encodeOptions: the options to encode with.
    /// - Throws: ``ImageError/Code/truncatedImage`` if bytes are missing, ``ImageError/Code/formatNotEncodable``, and the errors of decoding
    ///   and encoding.
    public func encoded(
        as format: ImageFormat? = nil, options encodeOptions: EncodeOptions = EncodeOptions()
    ) async throws(ImageError) -> Data {
        let (format, data) = (format ?? self.format, try wholeData)
        if format == self.format, encodeOptions.cacheKey.isEmpty, options == DecodeOptions() { return data }
        let image = try await coder.decode(data, options: options)
        return try await coder.processing.perform { [coder] isCancelled throws(ImageError) in
            try coder.coders.encode(
                image, as: format, options: encodeOptions, context: EncodeContext(isCancelled: isCancelled))
        }
    }
}

/// The one frame of a still image, whose coder may have no frames.
private final class StillFrameDecoder: FrameDecoder {
    let info: ImageInfo
    private let frame: ImageFrame
    private var isGiven = false
    var outputSize: PixelSize { frame.pixels.size }

    init(info: ImageInfo, frame: ImageFrame) { (self.info, self.frame) = (info, frame) }

    func nextFrame() -> ImageFrame? {
        defer { isGiven = true }
        return isGiven ? nil : frame
    }

    func rewind() { isGiven = false }
}

extension AnimatedImage: Hashable {
    /// Returns true if both decode the same bytes with the same options. An animation that isn't whole equals only itself.
    public static func == (left: AnimatedImage, right: AnimatedImage) -> Bool {
        if left === right { return true }
        let (one, other) = (left.contents.withLock { $0 }, right.contents.withLock { $0 })
        return one.isWhole && other.isWhole && left.options == right.options && one.data == other.data
    }

    // Only of what doesn't change while bytes arrive.
    public func hash(into hasher: inout Hasher) { hasher.combine(size) }
}

extension AnimatedImage: CustomStringConvertible {
    public var description: String {
        "\(format.rawValue) \(size), \(frameCount) frames in \(duration)"
    }
}
