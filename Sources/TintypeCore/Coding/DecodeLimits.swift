/// What an image from outside may cost. Coders compare the header with it before they take memory.
public struct DecodeLimits: Sendable, Hashable {
    /// The most pixels that one frame of the source may have. The default is 2²⁸, which is 16,384 × 16,384.
    public var maximumPixels = 1 << 28
    /// The most bytes that the pixels of the result, all frames together, may take. The default is 1 GiB.
    public var maximumBytes = ByteCount(1 << 30)
    /// The most frames of an animation.
    public var maximumFrames = 10_000

    public init(maximumPixels: Int = 1 << 28, maximumBytes: ByteCount = ByteCount(1 << 30), maximumFrames: Int = 10_000)
    {
        self.maximumPixels = maximumPixels
        self.maximumBytes = maximumBytes
        self.maximumFrames = maximumFrames
    }

    /// Refuses an image by what its header says.
    /// - Parameters:
    ///   - size: the size in the source.
    ///   - output: the size that it is decoded at.
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
