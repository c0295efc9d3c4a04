internal import TintypeCore

/// A frame decoder that can also put all its frames into one image.
protocol AnimationFrames: FrameDecoder {
    /// What is known of the image before its pixels are.
    var properties: Image.Properties { get }
    /// True once it turned out that frames, or rows of the one that was given last, are missing.
    var isPartial: Bool { get }
}

extension AnimationFrames {
    /// All frames, or the first one, as an image.
    func image(firstFrameOnly: Bool) throws(ImageError) -> Image {
        var frames: [ImageFrame] = []
        while let frame = try nextFrame() {
            frames.append(frame)
            if firstFrameOnly { break }
        }
        var properties = properties
        properties.isPartial = isPartial
        // Rows that are missing are transparent.
        if isPartial { properties.hasAlpha = true }
        if firstFrameOnly || frames.count == 1 {
            properties.loopCount = 0
            frames = frames.map { ImageFrame(pixels: $0.pixels) }
        }
        guard let image = Image(frames: frames, properties: properties) else {
            throw .corrupt("the image has no frame that could be decoded")
        }
        return image
    }
}

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
