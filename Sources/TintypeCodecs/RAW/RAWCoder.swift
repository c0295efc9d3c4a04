#if RAW
public import FoundationEssentials
public import TintypeImages

/// Develops camera files (DNG, NEF, CR2, CR3, ARW, ORF, RW2, RAF and many more) with libraw. Requires the package trait `RAW`.
///
/// - Most camera files are TIFF files whose first picture is a small preview. They are recognized as camera files only with the
///   hint ``ImageFormat/raw``, which loads derive from the URL's extension or the media type. Without the hint, the TIFF coder
///   shows the preview.
/// - The image is developed with the camera's white balance, upright, in sRGB with 8 bits. Its brightness is libraw's: 1
///   percent of the pixels are white.
/// - All pixels of the sensor's active area are shown, including the margins that a DNG crops with `DefaultCropOrigin` and
///   `DefaultCropSize`.
/// - A thumbnail is made from the camera's embedded preview, as in file managers, if it is a JPEG with the proportions of the image, and at
///   least as large as the thumbnail. Otherwise the image is developed, at half its size if that is enough.
/// - Exif, XMP, and IPTC-IIM are read from camera files that are TIFF files, such as DNG, NEF, CR2, and ARW. Maker notes aren't read.
/// - A truncated file has a partial image only if its compression lets libraw continue.
/// - All bytes are needed, even for ``info(of:context:)``. libraw uses all cores for some of its steps.
/// - Cancellation takes effect at libraw's next step. The longest step, which interpolates the colors between the sensor's
///   pixels, takes most of the time.
public struct RAWCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.raw] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try data.withBytes { bytes throws(ImageError) in try RAWFile(bytes, context: context).info }
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        try data.withBytes { bytes throws(ImageError) in
            let info = try RAWFile(bytes, context: context).info
            let output = options.outputSize(for: info.displaySize)
            try info.check(context.limits, output: output, keptFrames: 1)
            try context.checkCancellation()
            // Files are opened anew for each step: measuring a file, or looking for its preview, leaves libraw in a state that can't
            // develop the image.
            if output != info.displaySize {
                let file = try RAWFile(bytes, context: context)
                let preview = RAWPreview(file: file, info: info, output: output, options: options, context: context)
                if let pixels = try preview.pixels() {
                    return Image(pixels: pixels, properties: info.properties(options))
                }
            }
            let file = try RAWFile(bytes, context: context)
            return try RAWDecoder(file: file, info: info, output: output, options: options, context: context).run()
        }
    }
}
#endif
