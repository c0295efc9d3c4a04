/// The images of loaders that have no bytes.
extension LoadEnvironment {
    /// Returns an image as the options would have it decoded: in their size, with as many frames.
    func image(_ image: Image, options: DecodeOptions, priority: WorkPriority) async throws(ImageError) -> Image {
        let frames = options.firstFrameOnly ? image.firstFrame : image
        let whole = options.scale > frames.scale ? frames.with { $0.scale = options.scale } : frames
        let (limits, pool) = (configuration.limits, configuration.pool)
        let count = whole.animation?.frameCount ?? 1
        let pixelBytes = whole.pixels.format.bytesPerPixel
        let size = options.outputSize(for: whole.size, frameCount: count, bytesPerPixel: pixelBytes)
        guard size != whole.size else { return whole }
        try limits.check(size: whole.size, output: size, bytesPerPixel: pixelBytes)
        return try await configuration.processing.perform(priority: priority) { _ throws(ImageError) in
            try whole.resized(to: size, pool: pool).with { properties in
                properties.sourceSize = properties.sourceSize ?? whole.size
                properties.decodeOptions = options
            }
        }
    }
}
