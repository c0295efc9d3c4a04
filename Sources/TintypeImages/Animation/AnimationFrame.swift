/// A frame that a player shows.
public struct AnimationFrame: Sendable {
    /// The number of the frame, counted from 0.
    public var index: Int
    /// The number of passes that were complete when it appeared.
    public var completedLoops: Int
    /// The pixels. A damaged frame has the pixels of the frame before it.
    public var pixels: PixelBuffer
    /// True if the frame is damaged.
    public var isDamaged: Bool
}

/// An event during playback.
public enum PlaybackEvent: Sendable {
    /// A frame appeared.
    case frame(index: Int)
    /// A pass through the frames is complete; `count` is the number of completed passes.
    case loop(count: Int)
    /// A frame can't be decoded, and the frame before it remains in its place. Reported once per frame and player.
    case damagedFrame(index: Int, ImageError)
    /// The rest of an arriving animation won't arrive; the frames so far continue to play. Reported once.
    case interrupted(ImageError)
    /// The last pass is complete, and the last frame remains.
    case end
}
