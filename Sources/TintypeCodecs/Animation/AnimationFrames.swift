internal import FoundationEssentials
internal import TintypeImages

/// A frame decoder that can also make an image of its first frame.
protocol AnimationFrames: FrameDecoder {
    /// The properties of the image that are known before its pixels are.
    var properties: Image.Properties { get }
    /// True once it turned out that frames, or rows of the last frame, are missing.
    var isPartial: Bool { get }
    /// True if the bytes end before the last frame does.
    var isTruncated: Bool { get }
}

/// Frames of a file that is still arriving.
protocol ArrivingFrames: AnimationFrames, ArrivingFrameDecoder {
    /// True if the end of the file has arrived.
    var isWhole: Bool { get }
    /// The next frame, if all of it is there.
    func arrivedFrame() throws(ImageError) -> ImageFrame?
    /// True if there may be another frame after the first, as far as the header tells.
    var mayMove: Bool { get }
    /// Returns the part of an incomplete first frame that has arrived; `nil` if there is none, or nothing has come since the last call.
    func arrivingPicture() throws(ImageError) -> ArrivingPicture?
}

/// A part of a picture.
struct ArrivingPicture {
    var pixels: PixelBuffer
    /// True if rows are unknown, and so transparent.
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
    var mayMove: Bool { true }

    func arrivingPicture() throws(ImageError) -> ArrivingPicture? { nil }
}

extension AnimationFrames {
    var isTruncated: Bool { info.isAnimated && !info.isComplete }

    /// The first frame as an image, with the animation unless the options ask for the first frame alone.
    /// - Parameter coder: the coder that reads the other frames.
    func image(
        _ data: Data, _ coder: any AnimatedImageCoder, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Image {
        guard let frame = try nextFrame() else { throw .corrupt("no frame of the image can be decoded") }
        var (info, properties) = (info, properties)
        let isCut = isTruncated && !options.firstFrameOnly
        guard !isCut || options.allowsPartialImage else {
            throw .truncated("the data ends before the animation is complete")
        }
        properties.isPartial = isPartial || isCut
        // Rows that are missing are transparent.
        if isPartial { properties.hasAlpha = true }
        // Frames whose bytes are missing aren't played.
        if isCut, let arriving = coder as? any ArrivingAnimationCoder {
            info = try arriving.arrivedInfo(of: data, context: context)
        }
        return Image(pixels: frame.pixels, properties: properties)
            .animated(by: coder, data, info, options: options, context)
    }
}
