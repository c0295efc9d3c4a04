/// A frame of an animation, with its duration.
public struct ImageFrame: Sendable, Equatable {
    /// The pixels of the whole picture.
    public let pixels: PixelBuffer
    /// The duration of the frame, from zero to a day; zero for a still image. An animation shows a frame without a
    /// duration for 100 ms.
    public let duration: Duration

    /// Creates a frame. Each parameter sets the property of the same name. A duration is limited to its range.
    public init(pixels: PixelBuffer, duration: Duration = .zero) {
        self.pixels = pixels
        self.duration = FrameTiming.limited(duration)
    }

    /// Creates a frame from the pixels of an image, or of its first frame.
    /// - Parameters:
    ///   - image: the picture.
    ///   - duration: the time on the screen.
    package init(_ image: Image, duration: Duration) { self.init(pixels: image.pixels, duration: duration) }
}
