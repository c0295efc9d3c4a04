public import FoundationEssentials
public import TintypeImages

/// Reads and writes PNG (third edition) with libpng: all depths and color types, interlaced, and animations.
///
/// Pixels become RGBA with 8 bits. 16 bits are rounded to the nearest, or preserved in a still image with ``DecodeOptions/decodeToHDR``.
/// Colors described by code points (`cICP`) or an ICC profile are converted to sRGB. PQ and HLG are tone-mapped, unless the options keep
/// the range or the color space; such images have no previews. In animations, PQ and HLG are ignored; `gAMA` and `cHRM` are always ignored.
/// The Exif orientation is applied. Invalid ancillary chunks are skipped. The limit on chunks is 2¹⁸.
public struct PNGCoder: AnimatedImageCoder, ProgressiveImageCoder {
    /// Creates a coder.
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.png] }
    public var encodableFormats: Set<ImageFormat> { [.png] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let chunks = try PNGChunks(data)
        try context.limits.check(frameCount: chunks.info.frameCount)
        return chunks.info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let chunks = try PNGChunks(data)
        if chunks.animation != nil {
            return try PNGFrameDecoder(data, chunks, for: .first, options: options, context: context)
                .image(data, self, options: options, context: context)
        }
        return try data.withBytes { bytes throws(ImageError) in
            try PNGDecoder(chunks: chunks, options: options, context: context).run(bytes)
        }
    }

    public func progressiveDecoder(
        options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ProgressiveDecoder {
        try PNGProgressiveDecoder(options: options, context: context)
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        let chunks = try PNGChunks(data)
        return try PNGFrameDecoder(data, chunks, for: .streaming, options: options, context: context)
    }
}

extension PNGChunks {
    var info: ImageInfo {
        var info = ImageInfo(
            format: .png, size: header.size, orientation: orientation, hasAlpha: hasAlpha,
            bitsPerComponent: bitsPerComponent, colorProfile: profileName, isComplete: isComplete)
        info.metadata = metadata
        if let animation {
            info.frameCount = animation.frames.count
            info.loopCount = animation.loopCount
            info.frameDurations = animation.frames.map { FrameTiming.played($0.delay) }
            info.hasAlpha = hasAlpha || animation.leavesGaps(in: header.size)
        }
        info.isHighDynamicRange = isHighDynamicRange
        return info
    }
}

extension PNGCoder: ArrivingAnimationCoder {
    package func arrivedInfo(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let chunks = try PNGChunks(data)
        try context.limits.check(frameCount: chunks.info.frameCount)
        return chunks.info.keepingFrames(chunks.animation?.wholeFrames ?? 1)
    }

    package func arrivingFrameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ArrivingFrameDecoder {
        let chunks = try PNGChunks(data)
        return try PNGFrameDecoder(data, chunks, for: .arriving, options: options, context: context)
    }
}
