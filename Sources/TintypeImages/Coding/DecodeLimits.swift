/// Limits on the cost of images from untrusted sources. Coders check the header against them before they allocate memory.
///
/// ```swift
/// let limits = DecodeLimits(maximumPixels: 50_000_000, maximumFrames: 1_000)
/// let stranger = try Image(data: data, limits: limits)
/// ```
public struct DecodeLimits: Sendable, Hashable, Codable {
    /// The largest number of pixels in a frame of the source. The default is 2²⁸, which is 16,384 × 16,384.
    public var maximumPixels = 1 << 28
    /// The largest number of bytes for the pixels of all frames of the result, without the padding of rows. The default is 1 GiB.
    public var maximumBytes = ByteCount(1 << 30)
    /// The largest number of frames in an animation. The default is 10,000; above 2²⁰, the limit is 2²⁰.
    public var maximumFrames = 10_000
    /// The longest side of a frame of the source, in pixels. The tables for resizing grow with it. The default is
    /// 2²⁰.
    public var maximumSide = 1 << 20
    /// The largest number of pixels to draw when all frames of an animation are decoded into a single image: the number of frames times the
    /// size of the canvas. The default is 2³¹, which is 1,000 frames of 1,920 × 1,080.
    ///
    /// It doesn't limit animations whose frames are decoded when they are due, as in ``AnimatedImage``, unless less than a quarter of each
    /// frame is shown.
    public var maximumAnimationPixels = 1 << 31

    /// Creates limits. Omitted parameters have their defaults.
    /// - Parameters:
    ///   - maximumPixels: see ``maximumPixels``.
    ///   - maximumBytes: see ``maximumBytes``.
    ///   - maximumFrames: see ``maximumFrames``.
    public init(maximumPixels: Int = 1 << 28, maximumBytes: ByteCount = ByteCount(1 << 30), maximumFrames: Int = 10_000)
    {
        self.maximumPixels = maximumPixels
        self.maximumBytes = maximumBytes
        self.maximumFrames = maximumFrames
    }

    /// Checks the contents of a header against the limits.
    /// - Parameters:
    ///   - size: the size in the source.
    ///   - output: the size to decode at.
    ///   - frameCount: the number of frames.
    ///   - bytesPerPixel: the bytes of a pixel of the result.
    /// - Throws: ``ImageError/Code/limitExceeded``, and ``ImageError/Code/corruptImage`` for an empty size.
    public func check(size: PixelSize, output: PixelSize, frameCount: Int = 1, bytesPerPixel: Int = 4)
        throws(ImageError)
    {
        guard !size.isEmpty else {
            throw ImageError(.corruptImage, stage: .decode, reason: "the image has the invalid size \(size)")
        }
        guard size.pixelCount <= maximumPixels else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the image claims \(size) pixels, over the limit of \(maximumPixels)")
        }
        guard max(size.width, size.height) <= maximumSide else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the image claims \(size) pixels, over the limit of \(maximumSide) pixels per side")
        }
        try check(frameCount: frameCount)
        if frameCount > 1 {
            let (pixels, overflow) = size.pixelCount.multipliedReportingOverflow(by: frameCount)
            guard !overflow, pixels <= maximumAnimationPixels else {
                throw ImageError(
                    .limitExceeded, stage: .decode,
                    reason: "the animation has \(frameCount) frames of \(size) pixels, over the limit of "
                        + "\(maximumAnimationPixels) pixels in total")
            }
        }
        let frame = output.pixelCount.multipliedReportingOverflow(by: bytesPerPixel)
        let total = frame.partialValue.multipliedReportingOverflow(by: max(1, frameCount))
        guard !frame.overflow, !total.overflow, total.partialValue <= maximumBytes.bytes else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "\(frameCount) × \(output) pixels of \(bytesPerPixel) bytes take more than the limit of "
                    + "\(maximumBytes)")
        }
    }

    /// The largest number of frames that are read. A frame of 10 bytes takes 200 before any is decoded.
    package var mostFrames: Int { min(maximumFrames, 1 << 20) }

    /// Checks a number of frames against ``mostFrames``.
    /// - Parameter frameCount: the number of frames.
    /// - Throws: ``ImageError/Code/limitExceeded``
    package func check(frameCount: Int) throws(ImageError) {
        guard frameCount <= mostFrames else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the animation has \(frameCount) frames, over the limit of \(mostFrames)")
        }
    }
}
