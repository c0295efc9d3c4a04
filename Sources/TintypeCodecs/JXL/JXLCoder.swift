#if JXL
public import FoundationEssentials
public import TintypeCore

/// Reads and writes JPEG XL, stills and animations, with libjxl. With the package trait `JXL`.
///
/// - The orientation of the image header is applied; one in EXIF is ignored, as the format has it.
/// - PQ and HLG are tone-mapped to sRGB unless the options keep the source's color space or high dynamic range. With
///   ``DecodeOptions/decodeToHDR``, more than 8 bits stay 16, and floating-point numbers become ``PixelFormat/rgbaFloat16``.
/// - Inks (CMYK) become sRGB by their profile.
/// - While a file arrives, libjxl's own previews are shown: first an eighth of the resolution, then what has come of the rest.
///   Animations grow by whole frames.
/// - libjxl decodes a frame in one call: cancellation takes hold between frames and while rows are converted.
/// - Of a file whose end is missing, what libjxl can show of the frame is given where the options allow a partial image.
public struct JXLCoder: AnimatedImageCoder, ProgressiveImageCoder {
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.jxl] }
    public var encodableFormats: Set<ImageFormat> { [.jxl] }

    public func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        try JXLReader(data, limits: context.limits).info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        try JXLFrameDecoder(data, for: FramePurpose(options), options: options, context: context)
            .image(firstFrameOnly: options.firstFrameOnly)
    }

    public func progressiveDecoder(
        options: DecodeOptions, context: DecodeContext
    ) throws(ImageError) -> any ProgressiveDecoder {
        ProgressiveFramesDecoder(self, options: options, context: context) { data, options throws(ImageError) in
            try JXLFrameDecoder(data, for: FramePurpose(options), options: options, context: context)
        }
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: DecodeContext
    ) throws(ImageError) -> any FrameDecoder {
        try JXLFrameDecoder(data, for: .streaming, options: options, context: context)
    }

    /// Writes a JPEG XL file, animated if the image is; exactly with ``EncodeOptions/lossless``. ``JXLEncodeOptions`` has the
    /// finer settings.
    ///
    /// Pixels are written with the bits that they have: 8, 16, or half-precision numbers for those of standard range. High
    /// dynamic range is PQ of 16 bits with ``EncodeOptions/HDREncoding/isoHDR``, and else tone-mapped.
    /// - Throws: ``ImageError/Code/encodeFailed`` where the limit of bytes cannot be kept.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: EncodeContext
    ) throws(ImageError) -> Data {
        // libjxl refuses profiles whose primaries are no colors; those pixels become sRGB of 8 bits.
        let storesProfile = image.colorSpace.profile.map(JXLEncoder.accepts) ?? true
        let target = EncodeTarget(
            format: .jxl, maximumSide: JXLEncoder.maximumSide, storesProfile: storesProfile,
            formats: storesProfile ? [.rgba16, .rgbaFloat16] : [])
        return try JXLEncoder(job: EncodeJob(image, for: target, options, context)).encode()
    }
}
#endif
