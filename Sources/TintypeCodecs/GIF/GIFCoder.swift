public import FoundationEssentials
public import TintypeImages

/// Reads and writes GIF, still and animated.
///
/// Frames are drawn as in browsers: a cleared area becomes transparent, and frames are clipped to the logical screen, which
/// the first frame may enlarge. An animation without a loop extension plays once. A delay under 11 ms counts as 100 ms.
public struct GIFCoder: AnimatedImageCoder, ProgressiveImageCoder {
    /// Creates a coder.
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.gif] }
    public var encodableFormats: Set<ImageFormat> { [.gif] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let info = try GIFBlocks(data, limits: context.limits).info
        try context.limits.check(frameCount: info.frameCount)
        guard !info.size.isEmpty else { throw .corrupt("the GIF has the invalid size \(info.size)") }
        return info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        try GIFFrameDecoder(data, for: .first, options: options, context: context)
            .image(data, self, options: options, context: context)
    }

    public func progressiveDecoder(
        options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ProgressiveDecoder {
        ProgressiveFramesDecoder(self, options: options, context: context) { data, options throws(ImageError) in
            try GIFFrameDecoder(data, for: .first, options: options, context: context)
        }
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        try GIFFrameDecoder(data, for: .streaming, options: options, context: context)
    }

    /// Encodes a GIF, animated if the image is.
    ///
    /// Each frame has its own palette of up to 256 colors. A frame with at most that many colors is exact; ``GIFEncodeOptions`` control the
    /// color reduction of other frames. Pixels are either opaque or transparent, with the threshold at half opacity. Delays are rounded to
    /// hundredths of a second so that their sums are exact, and are at least two hundredths. Colors are converted to sRGB. Metadata isn't
    /// written.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    ///   - context: the resources of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a side over 65,535 pixels, and if the limit of bytes is too small even
    ///   for two colors.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        let target = EncodeTarget(format: .gif, maximumSide: GIFEncoder.maximumSide, storesProfile: false)
        return try GIFEncoder(job: EncodeJob(image, for: target, options, context)).encode()
    }
}

extension GIFCoder: ArrivingAnimationCoder {
    package func arrivedInfo(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let blocks = try GIFBlocks(data, limits: context.limits)
        try context.limits.check(frameCount: blocks.frames.count)
        return blocks.info.keepingFrames(blocks.frames.prefix(while: \.isComplete).count)
    }

    package func arrivingFrameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ArrivingFrameDecoder {
        try GIFFrameDecoder(data, for: .arriving, options: options, context: context)
    }
}
