internal import TintypeImages

extension ImageInfo {
    /// Returns the format that the image is decoded to under the options.
    func pixelFormat(_ options: DecodeOptions) -> PixelFormat {
        options.pixelFormat(bitsPerComponent: bitsPerComponent, isHighDynamicRange: isHighDynamicRange)
    }

    /// The upright size that the image is decoded at under the options.
    func outputSize(_ options: DecodeOptions, format: PixelFormat) -> PixelSize {
        options.outputSize(for: displaySize, frameCount: frameCount, bytesPerPixel: format.bytesPerPixel)
    }

    /// Refuses, before memory is taken, an image that would cost more than the limits allow.
    /// - Parameters:
    ///   - keptFrames: the number of frames in memory at once.
    ///   - format: the decoded format.
    func check(
        _ limits: DecodeLimits, output: PixelSize, keptFrames: Int, format: PixelFormat = .rgba8
    ) throws(ImageError) {
        try limits.check(
            size: size, output: output, frameCount: keptFrames, bytesPerPixel: format.bytesPerPixel)
        try limits.check(frameCount: frameCount)
    }
}
