#if TIFF
public import FoundationEssentials
public import TintypeImages

/// Reads and writes TIFF and BigTIFF with libtiff. Requires the package trait `TIFF`.
///
/// - The first page is read, or the page that ``DecodeOptions/page`` names, with any compression that libtiff supports: 1 to 16 bits, gray,
///   palette, RGB, YCbCr, CMYK and Lab, and gray of 32 bits or in floating point, whose values from 0 to 255 are shown.
/// - With ``DecodeOptions/decodeToHDR``, pages of more than 8 bits are decoded to 16 bits.
/// - All eight orientations are applied.
public struct TIFFCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.tiff] }
    public var encodableFormats: Set<ImageFormat> { [.tiff] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try data.withBytes { bytes throws(ImageError) in try TIFFFile(bytes, page: 0, limits: context.limits).info }
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        try data.withBytes { bytes throws(ImageError) in
            let file = try TIFFFile(bytes, page: options.page, limits: context.limits)
            return try TIFFDecoder(file: file, options: options, context: context).run()
        }
    }

    /// Encodes the image, or the first frame of an animation, as TIFF without loss. Pixels are written with 8 bits, or with 16 if the image
    /// has 16. The compression is Deflate with horizontal differencing.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    ///   - context: the resources of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a file of 4 GB or more, or over the limit of bytes.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        let target = EncodeTarget(format: .tiff, maximumSide: 1 << 24, isStill: true, formats: [.rgba16])
        return try TIFFEncoder(job: EncodeJob(image, for: target, options, context)).encode()
    }
}
#endif
