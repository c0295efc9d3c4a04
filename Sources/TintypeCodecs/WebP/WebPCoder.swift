public import FoundationEssentials
public import TintypeImages

/// Reads and writes WebP, still and animated, with libwebp.
///
/// An EXIF orientation is applied, and an embedded ICC profile is converted to sRGB. The background of an animation is always
/// transparent, regardless of its color in the file. A loop count of 0 repeats forever.
public struct WebPCoder: AnimatedImageCoder, ProgressiveImageCoder {
    /// Creates a coder.
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.webp] }
    public var encodableFormats: Set<ImageFormat> { [.webp] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try WebPContainer(data, limits: context.limits).info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let decoder = try WebPFrameDecoder(
            data, container: WebPContainer(data, limits: context.limits), for: .first, options: options,
            context: context)
        return try decoder.image(data, self, options: options, context: context)
    }

    public func progressiveDecoder(
        options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ProgressiveDecoder {
        WebPProgressiveDecoder(options: options, context: context)
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        try WebPFrameDecoder(
            data, container: WebPContainer(data, limits: context.limits), for: .streaming, options: options,
            context: context)
    }

    /// Encodes a WebP file, animated if the image is. ``WebPEncodeOptions`` has more settings.
    ///
    /// Consecutive equal frames become a single frame with a longer duration.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    ///   - context: the resources of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a side over 16,383 pixels, for a setting out of its range, and if the
    ///   limit of bytes is too small.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        let target = EncodeTarget(format: .webp, maximumSide: WebPEncoder.maximumSide)
        return try WebPEncoder(job: EncodeJob(image, for: target, options, context)).encode()
    }
}

extension WebPCoder: ArrivingAnimationCoder {
    package func arrivedInfo(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let container = try WebPContainer(data, limits: context.limits)
        return container.info.keepingFrames(container.frames.prefix(while: \.isComplete).count)
    }

    package func arrivingFrameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ArrivingFrameDecoder {
        try WebPFrameDecoder(
            data, container: WebPContainer(data, limits: context.limits), for: .arriving, options: options,
            context: context)
    }
}
