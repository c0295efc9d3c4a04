public import FoundationEssentials
public import TintypeCore

/// Reads and writes WebP, still and animated, with libwebp.
///
/// An EXIF orientation is applied, an embedded ICC profile is converted to sRGB. The background of an animation is transparent, whatever color the file names, and a loop
/// count of 0 plays for ever.
public struct WebPCoder: AnimatedImageCoder, ProgressiveImageCoder {
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.webp] }
    public var encodableFormats: Set<ImageFormat> { [.webp] }

    public func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        try container(data).info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        let decoder = try WebPFrameDecoder(
            data, container: container(data), for: FramePurpose(options), options: options, context: context)
        return try decoder.image(firstFrameOnly: options.firstFrameOnly)
    }

    public func progressiveDecoder(
        options: DecodeOptions, context: DecodeContext
    ) throws(ImageError) -> any ProgressiveDecoder {
        WebPProgressiveDecoder(options: options, context: context)
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: DecodeContext
    ) throws(ImageError) -> any FrameDecoder {
        try WebPFrameDecoder(
            data, container: container(data), for: .streaming, options: options, context: context)
    }

    /// Writes a WebP file, animated if the image is. ``WebPEncodeOptions`` has the finer settings.
    ///
    /// Frames that are equal become one that is shown longer.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a side over 16,383 pixels, for a setting out of its range, and where the
    ///   limit of bytes cannot be kept.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: EncodeContext
    ) throws(ImageError) -> Data {
        let target = EncodeTarget(format: .webp, maximumSide: WebPEncoder.maximumSide)
        return try WebPEncoder(job: EncodeJob(image, for: target, options, context)).encode()
    }

    private func container(_ data: Data) throws(ImageError) -> WebPContainer {
        try data.withBytes { bytes throws(ImageError) in try WebPContainer(bytes) }
    }
}
