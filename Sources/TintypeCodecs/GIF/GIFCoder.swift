public import FoundationEssentials
public import TintypeCore

/// Reads GIF, still and animated.
///
/// Frames are drawn as browsers draw them: an area that is cleared becomes transparent, and what lies beyond the logical
/// screen is cut off. An animation without a loop extension plays once; a delay under 11 ms counts as 100 ms.
public struct GIFCoder: AnimatedImageCoder {
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.gif] }

    public func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        try data.withBytes { bytes throws(ImageError) in try GIFBlocks(bytes).info }
    }

    public func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        let keepsFrames = !options.firstFrameOnly
        return try GIFFrameDecoder(data, options: options, context: context, keepsFrames: keepsFrames)
            .image(firstFrameOnly: options.firstFrameOnly)
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: DecodeContext
    ) throws(ImageError) -> any FrameDecoder {
        try GIFFrameDecoder(data, options: options, context: context, keepsFrames: false)
    }
}
