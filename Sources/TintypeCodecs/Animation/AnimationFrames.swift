internal import FoundationEssentials
internal import TintypeImages

/// A frame decoder that can also put all its frames into one image.
protocol AnimationFrames: FrameDecoder {
    /// The properties of the image that are known before its pixels are.
    var properties: Image.Properties { get }
    /// True once it turned out that frames, or rows of the one that was given last, are missing.
    var isPartial: Bool { get }
}

/// Frames of a file that is still arriving.
protocol ArrivingFrames: AnimationFrames, ArrivingFrameDecoder {
    /// True if the end of the file has arrived.
    var isWhole: Bool { get }
    /// The next frame, if all of it is there.
    func arrivedFrame() throws(ImageError) -> ImageFrame?
    /// Returns the part of an incomplete first frame that has arrived; `nil` if there is none, or nothing has come since the last call.
    func arrivingPicture() throws(ImageError) -> ArrivingPicture?
}

/// A part of a picture.
struct ArrivingPicture {
    var pixels: PixelBuffer
    /// True if there are rows of which nothing is known, which are transparent.
    var isMissingRows: Bool
}

extension ImageInfo {
    /// The information with only the first frames.
    func keepingFrames(_ count: Int) -> ImageInfo {
        var info = self
        info.frameCount = max(1, count)
        info.frameDurations = Array(frameDurations.prefix(count))
        if info.frameCount == 1 { (info.loopCount, info.frameDurations) = (nil, []) }
        return info
    }
}

extension ArrivingFrames {
    func arrivingPicture() throws(ImageError) -> ArrivingPicture? { nil }
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
