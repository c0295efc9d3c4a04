internal import TintypeImages

/// The points, besides the first frame, that decoding of an animation can start from: copies of the canvas that were kept on the way.
///
/// Copies are kept only once a program has sought back; playing from the first frame to the last costs nothing, and skipping some neither.
/// They lie as far apart as their number lets them, so that, of frames that have been decoded before, a seek decodes no more than lie
/// between two. When memory becomes scarce they go, and are made again on the way.
struct SeekPoints {
    /// The most copies, and the most bytes that they take together.
    static let maximumCopies = 8
    static let maximumBytes = 64 << 20

    /// A point to start at.
    enum Start {
        /// At the next frame.
        case here
        /// At a frame that doesn't depend on the canvas.
        case blank(Int)
        /// At a frame that is drawn on this canvas.
        case copy(Int, PixelBuffer)
    }

    private let copies: CanvasSnapshots
    /// The number of frames between two copies; `nil` as long as none are kept.
    private var spacing: Int?
    /// True if a program has set the spacing, regardless of the copies' memory.
    private var isSpacingFixed = false
    /// The number of frames that have been decoded so far.
    private(set) var decodedFrames = 0

    init(_ context: ProcessingContext) {
        copies = CanvasSnapshots(pressure: context.memoryPressure, pool: context.pool)
    }

    /// The number of copies.
    var copyCount: Int { copies.count }

    /// Returns the point to start at on the way to a frame.
    /// - Parameters:
    ///   - next: the frame that would come next.
    ///   - isKey: true if no earlier frame is visible in this frame or in later frames.
    mutating func start(
        for target: Int, next: Int, frameCount: Int, canvas: PixelSize, isKey: (Int) -> Bool
    ) -> Start {
        guard target != next else { return .here }
        let copies = min(Self.maximumCopies, Self.maximumBytes / max(1, PixelBufferPool.footprint(of: canvas)))
        if copies > 0, !isSpacingFixed, target < next { spacing = (frameCount + copies) / (copies + 1) }
        var best = next <= target ? next : 0
        var start: Start = next <= target ? .here : .blank(0)
        if let copy = self.copies.latest(upTo: target), copy.index > best {
            best = copy.index
            start = .copy(copy.index, copy.picture)
        }
        guard best < target else { return start }
        return (best + 1...target).last(where: isKey).map { .blank($0) } ?? start
    }

    /// Keeps a copy at every multiple of an interval from now on.
    mutating func keepCopies(every interval: Int) { (spacing, isSpacingFixed) = (max(1, interval), true) }

    /// Notes that a frame is about to be decoded, and stores the canvas before it if the spacing of copies requires it.
    /// - Parameter copy: makes a copy of the canvas.
    mutating func pass(_ index: Int, copy: () throws(ImageError) -> PixelBuffer?) throws(ImageError) {
        decodedFrames += 1
        guard let spacing, index > 0, index % spacing == 0, copies[index] == nil,
            isSpacingFixed || copies.count < Self.maximumCopies, let picture = try copy()
        else { return }
        copies.keep(picture, at: index)
    }
}

/// Frames that are drawn over each other, so that decoding can start only where the canvas is known.
protocol SeekableFrames: ArrivingFrames {
    var state: FrameDecoderState { get set }
    /// True if nothing that was drawn before a frame shows in it or in later frames.
    func isKeyframe(_ index: Int) -> Bool
    /// Goes to a frame that is drawn on a known canvas, or doesn't depend on it.
    func begin(at index: Int, over picture: PixelBuffer?)
    /// Draws the next frame without making a picture of it.
    /// - Returns: false if there is none.
    func skipFrame() throws(ImageError) -> Bool
}

extension SeekableFrames {
    func keepSeekPoints(every interval: Int) { state.seekPoints.keepCopies(every: interval) }

    func seek(to index: Int) throws(ImageError) {
        let target = min(max(0, index), info.frameCount)
        // A copy, because the question below reads the state.
        var seekPoints = state.seekPoints
        let start = seekPoints.start(
            for: target, next: state.next, frameCount: info.frameCount, canvas: info.size,
            // Behind the last frame there is nothing to start with.
            isKey: { $0 < info.frameCount && isKeyframe($0) })
        state.seekPoints = seekPoints
        switch start {
        case .here: break
        case .blank(let index): begin(at: index, over: nil)
        case .copy(let index, let picture): begin(at: index, over: picture)
        }
        while state.next < target, try skipFrame() {}
    }
}
