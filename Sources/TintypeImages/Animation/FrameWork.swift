/// The way of each frame from its decoder to a player or an encoder: it is compared with the first frame, and transformed.
struct FrameWork: Sendable {
    let contents: AnimationContents
    /// Changes each frame; `nil` for none.
    let transformer: (any ImageTransformer)?
    /// The first frame, transformed. All transformed frames have its size and format, which players and encoders rely on.
    let poster: PixelBuffer

    func apply(to frame: ImageFrame, isCancelled: @escaping @Sendable () -> Bool) throws(ImageError) -> ImageFrame {
        // Before the transformer, which isn't to blame for it.
        let size = contents.frameSize
        guard frame.pixels.size == size, frame.pixels.format == contents.frameFormat else {
            throw ImageError(
                .corruptImage, stage: .decode,
                reason: "a frame of the animation has \(frame.pixels.size) pixels, but the first has \(size)")
        }
        guard let transformer else { return frame }
        let coder = contents.coder
        let context = ProcessingContext(limits: coder.limits, pool: coder.pool, isCancelled: isCancelled)
        let image = try Image(pixels: frame.pixels, properties: contents.frameProperties)
            .transformed(transformer, in: context)
        guard image.size == poster.size, image.pixels.format == poster.format else {
            throw ImageError(
                .transformFailed, stage: .transform,
                reason: "the transformer \(transformer.key) gave the frames of an animation different sizes or formats")
        }
        return ImageFrame(pixels: image.pixels, duration: frame.duration)
    }
}
