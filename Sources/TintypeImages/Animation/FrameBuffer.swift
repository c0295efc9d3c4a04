/// The frames that a player keeps decoded.
struct FrameBuffer: Sendable, Hashable {
    /// The number of frames that are kept, including the frame on the screen.
    var capacity: Int
    /// The number of frames to keep decoded after the present frame.
    var lookahead: Int
    /// The number of frames that are decoded forward to be shown backward; `nil` if frames are shown in the order of the file.
    var segment: Int?
    /// The number of frames between two copies of the canvas that segments are decoded from; `nil` for as few as the decoder makes.
    var seekPointInterval: Int?
    /// True if every frame that was decoded is kept.
    var keepsAll = false
}

extension FrameBuffer {
    /// The memory that a player takes if the program doesn't say.
    static let automaticBytes = 64 << 20
    /// The memory for playing backward if the program doesn't say, with copies of the canvas.
    static let automaticBytesBackward = 512 << 20
    /// The number of frames that a segment is complete ahead of its turn.
    private static let slack = 2
    /// More frames are never asked for at once: later frames aren't needed yet.
    private static let longestLookahead = 256

    /// Chooses the frames to keep.
    ///
    /// Backward, *s* frames make a segment, and a copy of the canvas lies before each: *s* frames and *n*/*s* copies are in memory, which
    /// is least at *s* = √*n* if both have the same size. Then a frame is decoded once for each time that it is shown, and once more in the
    /// first pass, on the way to the last segment. That is twice in any pass, but three times in the first pass of
    /// ``PlaybackMode/reversedBounce``: it shows each frame twice, after the way to the last frame, and only keeping all frames would save
    /// that.
    /// - Parameters:
    ///   - frameBytes: the memory of a frame.
    ///   - canvasBytes: the memory of a copy of the canvas, which has the size of the source.
    ///   - maximum: the memory that the program allows; `nil` to choose.
    init(frameCount: Int, frameBytes: Int, canvasBytes: Int, mode: PlaybackMode, maximum: ByteCount?) {
        let (frameBytes, canvasBytes) = (max(1, frameBytes), max(1, canvasBytes))
        let allowed = max(0, maximum?.bytes ?? Self.automaticBytes) / frameBytes
        guard allowed < frameCount else {
            self.init(capacity: frameCount, lookahead: min(frameCount, Self.longestLookahead), keepsAll: true)
            return
        }
        guard mode.goesBack else {
            let capacity = maximum == nil ? min(max(3, allowed), 10) : max(1, allowed)
            self.init(capacity: capacity, lookahead: min(capacity, Self.longestLookahead), keepsAll: false)
            return
        }
        let ratio = Double(canvasBytes) / Double(frameBytes)
        var segment = Int(min((Double(frameCount) * ratio).squareRoot(), Double(Self.longestLookahead / 2)))
        segment = min(max(1, segment), frameCount)
        func bytes(_ segment: Int, copies: Int) -> Double {
            Double(segment + Self.slack) * Double(frameBytes) + Double(copies) * Double(canvasBytes)
        }
        let best = bytes(segment, copies: (frameCount + segment - 1) / segment)
        let total = maximum.map { Double($0.bytes) } ?? min(best, Double(Self.automaticBytesBackward))
        if best > total {
            segment = min(segment, max(1, Int(max(0, total) / 2 / Double(frameBytes)) - Self.slack))
        }
        let copies = max(1, Int((total - bytes(segment, copies: 0)) / Double(canvasBytes)))
        // Without a maximum, memory matters more: the last frame of a segment is decoded while the frame before it is shown.
        let slack = maximum == nil ? 1 : Self.slack
        self.init(
            capacity: segment + slack, lookahead: 2 * segment, segment: segment,
            seekPointInterval: segment * max(1, (frameCount + segment * copies - 1) / (segment * copies)),
            keepsAll: false)
    }
}
