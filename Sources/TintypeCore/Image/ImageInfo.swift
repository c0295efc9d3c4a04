/// What the header of an image says: nothing is decoded to know it.
public struct ImageInfo: Sendable, Equatable {
    public var format: ImageFormat
    /// The size of the pixels as they are stored, before ``orientation``.
    public var size: PixelSize
    public var orientation: Orientation
    /// The number of frames: 1 for an image that does not move.
    public var frameCount: Int
    /// How often an animation is played, 0 for ever; `nil` for an image that does not move.
    public var loopCount: Int?
    /// The time each frame of an animation is shown, as it is played. Empty if nothing moves.
    public var frameDurations: [Duration]
    /// True unless every pixel is opaque by what the header says; where it leaves that open, the decoded image tells.
    public var hasAlpha: Bool
    /// The bits of one component of a pixel; for a palette the bits of its colours, which are 8.
    public var bitsPerComponent: Int
    /// True for colours in PQ or HLG (ITU-R BT.2100).
    public var isHighDynamicRange: Bool
    /// The name of the embedded colour profile, or `nil` if there is none.
    public var colorProfile: String?
    /// False if the bytes end before the last frame does, so that there may be more frames than were counted.
    public var isComplete: Bool

    public init(
        format: ImageFormat, size: PixelSize, orientation: Orientation = .up, frameCount: Int = 1,
        loopCount: Int? = nil,
        frameDurations: [Duration] = [], hasAlpha: Bool, bitsPerComponent: Int = 8, colorProfile: String? = nil,
        isComplete: Bool = true, isHighDynamicRange: Bool = false
    ) {
        self.format = format
        self.size = size
        self.orientation = orientation
        self.frameCount = frameCount
        self.loopCount = loopCount
        self.frameDurations = frameDurations
        self.hasAlpha = hasAlpha
        self.bitsPerComponent = bitsPerComponent
        self.colorProfile = colorProfile
        self.isComplete = isComplete
        self.isHighDynamicRange = isHighDynamicRange
    }

    /// The size at which the image is shown, after ``orientation``.
    public var displaySize: PixelSize { orientation.display(size) }
    public var isAnimated: Bool { frameCount > 1 }
}
