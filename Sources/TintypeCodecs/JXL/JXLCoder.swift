#if JXL
public import FoundationEssentials
public import TintypeCore

/// Reads and writes JPEG XL, stills and animations, with libjxl. With the package trait `JXL`.
///
/// - The orientation of the image header is applied; one in EXIF is ignored, as the format has it.
/// - PQ and HLG are tone-mapped to sRGB unless the options keep the source's colour space.
/// - Of a file whose end is missing, what libjxl can show of the frame is given where the options allow a partial image.
public struct JXLCoder: AnimatedImageCoder {
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.jxl] }
    public var encodableFormats: Set<ImageFormat> { [.jxl] }

    public func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        try JXLReader(data, limits: context.limits).info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        let decoder = try JXLFrameDecoder(
            data, options: options, context: context, keepsFrames: !options.firstFrameOnly)
        return try decoder.image(firstFrameOnly: options.firstFrameOnly)
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: DecodeContext
    ) throws(ImageError) -> any FrameDecoder {
        try JXLFrameDecoder(data, options: options, context: context, keepsFrames: false)
    }

    /// Writes a JPEG XL file, animated if the image is, of 8 bits; exactly with ``EncodeOptions/lossless``.
    /// ``JXLEncodeOptions`` has the finer settings.
    /// - Throws: ``ImageError/Code/encodeFailed`` where the limit of bytes cannot be kept.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: EncodeContext
    ) throws(ImageError) -> Data {
        let target = EncodeTarget(format: .jxl, maximumSide: JXLEncoder.maximumSide)
        return try JXLEncoder(job: EncodeJob(image, for: target, options, context)).encode()
    }
}
#endif
