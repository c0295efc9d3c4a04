#if JXL
public import FoundationEssentials
public import TintypeImages

/// Reads and writes JPEG XL, still images and animations, with libjxl. Requires the package trait `JXL`.
///
/// - The orientation in the image header is applied. An EXIF orientation is ignored, as the format specifies.
/// - PQ and HLG are tone-mapped to sRGB unless the options keep the source's color space or high dynamic range. With
///   ``DecodeOptions/decodeToHDR``, more than 8 bits become 16, and floating-point numbers become ``PixelFormat/rgbaFloat16``.
/// - CMYK is converted to sRGB with its profile.
/// - While a file arrives, libjxl's own previews are shown: first at an eighth of the resolution, then with the parts that have arrived.
///   Animations grow by whole frames.
/// - libjxl decodes a frame in a single call. So cancellation takes effect between frames, and while rows are converted.
/// - If the options allow it, a truncated file has a partial image with everything that libjxl can show of the frame.
public struct JXLCoder: AnimatedImageCoder, ProgressiveImageCoder {
    /// Creates a coder.
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.jxl] }
    public var encodableFormats: Set<ImageFormat> { [.jxl] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try JXLReader(data, limits: context.limits).info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        try JXLFrameDecoder(data, for: .first, options: options, context: context)
            .image(data, self, options: options, context: context)
    }

    public func progressiveDecoder(
        options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ProgressiveDecoder {
        ProgressiveFramesDecoder(self, options: options, context: context) { data, options throws(ImageError) in
            try JXLFrameDecoder(data, for: .first, options: options, context: context)
        }
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        try JXLFrameDecoder(data, for: .streaming, options: options, context: context)
    }

    /// Encodes a JPEG XL file, animated if the image is, and exact with ``EncodeOptions/lossless``. ``JXLEncodeOptions`` has
    /// more settings.
    ///
    /// Pixels are written with their own precision: 8 bits, 16 bits, or half-precision numbers for pixels of standard range. High dynamic
    /// range is written as PQ of 16 bits with ``EncodeOptions/HDREncoding/isoHDR``, and otherwise tone-mapped.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    ///   - context: the resources of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/encodeFailed`` if the limit of bytes is too small.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        // libjxl refuses profiles with imaginary primaries; those pixels become sRGB of 8 bits.
        let storesProfile = image.colorSpace.profile.map(JXLEncoder.accepts) ?? true
        let target = EncodeTarget(
            format: .jxl, maximumSide: JXLEncoder.maximumSide, storesProfile: storesProfile,
            formats: storesProfile ? [.rgba16, .rgbaFloat16] : [])
        return try JXLEncoder(job: EncodeJob(image, for: target, options, context)).encode()
    }
}

extension JXLCoder: ArrivingAnimationCoder {
    package func arrivedInfo(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        // Only the header of the next frame tells that all of a frame is there.
        let info = try info(of: data, context: context)
        return info.keepingFrames(info.frameCount - 1)
    }

    package func arrivingFrameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ArrivingFrameDecoder {
        try JXLFrameDecoder(data, for: .arriving, options: options, context: context)
    }
}
#endif
