internal import FoundationEssentials
internal import TintypeCore

/// A frame decoder that can also put all its frames into one image.
protocol AnimationFrames: FrameDecoder {
    /// What is known of the image before its pixels are.
    var properties: Image.Properties { get }
    /// True once it turned out that frames, or rows of the one that was given last, are missing.
    var isPartial: Bool { get }
}

/// Frames of a file that is still arriving.
protocol ArrivingFrames: AnimationFrames {
    /// Whether the file's end is there.
    var isWhole: Bool { get }
    /// Whether all of the next frame is there.
    var hasWholeFrame: Bool { get }
    /// Takes the bytes again with more of them at the end; the frames that have been given stay what they are.
    func extend(_ data: Data) throws(ImageError)
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
