internal import TintypeCore

extension ImageInfo {
    /// The properties of an image that is decoded from what this says.
    func properties(_ options: DecodeOptions) -> Image.Properties {
        var properties = Image.Properties()
        properties.format = format
        properties.scale = max(1, options.scale)
        properties.loopCount = isAnimated ? loopCount ?? 0 : 0
        properties.bitsPerComponent = bitsPerComponent
        properties.hasAlpha = hasAlpha
        properties.sourceSize = displaySize
        properties.sourceOrientation = orientation
        properties.decodeOptions = options
        return properties
    }

    /// Refuses, before memory is taken, an image that would cost more than the limits allow.
    /// - Parameter keptFrames: how many frames will be in memory at once.
    func check(_ limits: DecodeLimits, output: PixelSize, keptFrames: Int) throws(ImageError) {
        try limits.check(size: size, output: output, frameCount: keptFrames)
        guard frameCount <= limits.maximumFrames else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the animation has \(frameCount) frames, over the limit of \(limits.maximumFrames)")
        }
    }
}
