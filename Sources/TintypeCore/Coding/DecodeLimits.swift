/// Limits on the cost of images from untrusted sources. Coders check the header against them before they allocate memory.
public struct DecodeLimits: Sendable, Hashable {
    /// The largest number of pixels in one frame of the source. The default is 2²⁸, which is 16,384 × 16,384.
    public var maximumPixels = 1 << 28
    /// The largest number of bytes for the pixels of all frames of the result. The default is 1 GiB.
    public var maximumBytes = ByteCount(1 << 30)
    /// The largest number of frames in an animation.
    public var maximumFrames = 10_000

    public init(maximumPixels: Int = 1 << 28, maximumBytes: ByteCount = ByteCount(1 << 30), maximumFrames: Int = 10_000)
    {
        self.maximumPixels = maximumPixels
        self.maximumBytes = maximumBytes
        self.maximumFrames = maximumFrames
    }

    /// Checks the contents of a header against the limits.
    /// - Parameters:
    ///   - size: the size in the source.
    ///   - output: the size that it is decoded at.
    ///   - frameCount: the number of frames.
    ///   - bytesPerPixel: the bytes of a pixel of the result.
    /// - Throws: ``ImageError/Code/limitExceeded``, and ``ImageError/Code/corruptImage`` for an empty size.
    public func check(size: PixelSize, output: PixelSize, frameCount: Int = 1, bytesPerPixel: Int = 4)
        throws(ImageError)
    {
        guard !size.isEmpty else {
            throw ImageError(.corruptImage, stage: .decode, reason: "the image has a size of \(size)")
        }
        guard size.pixelCount <= maximumPixels else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the image claims \(size) pixels, over the limit of \(maximumPixels)")
        }
        guard frameCount <= maximumFrames else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the animation has \(frameCount) frames, over the limit of \(maximumFrames)")
        }
        let frame = output.pixelCount.multipliedReportingOverflow(by: bytesPerPixel)
        let total = frame.partialValue.multipliedReportingOverflow(by: max(1, frameCount))
        guard !frame.overflow, !total.overflow, total.partialValue <= maximumBytes.bytes else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "\(frameCount) × \(output) pixels take more than the limit of \(maximumBytes)")
        }
    }
}
