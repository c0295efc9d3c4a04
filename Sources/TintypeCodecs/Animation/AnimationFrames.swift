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
