/// One picture of an animation and how long it is shown.
public struct ImageFrame: Sendable, Equatable {
    public let pixels: PixelBuffer
    /// How long the frame is shown; zero for an image that does not move.
    public let duration: Duration

    public init(pixels: PixelBuffer, duration: Duration = .zero) {
        self.pixels = pixels
        self.duration = duration
    }

    /// The picture of an image, or its first frame, shown for some time.
    public init(_ image: Image, duration: Duration) { self.init(pixels: image.pixels, duration: duration) }
}
