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

/// Something that happened while an animation was played.
public enum PlaybackEvent: Sendable {
    /// A frame appeared.
    case frame(index: Int)
    /// A pass through the frames is complete; the number of those that are.
    case loop(count: Int)
    /// A frame can't be decoded, and the frame before it stays in its place. Reported once for each frame of an animation and player.
    case damagedFrame(index: Int, ImageError)
    /// The rest of an animation that was arriving won't come; the frames that are there go on. Reported once.
    case interrupted(ImageError)
    /// The last pass is complete, and the last frame remains.
    case end
}
