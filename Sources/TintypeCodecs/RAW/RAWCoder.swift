#if RAW
public import FoundationEssentials
public import TintypeCore

/// Develops camera files (DNG, NEF, CR2, CR3, ARW, ORF, RW2, RAF and many more) with libraw. With the package trait `RAW`.
///
/// - Most camera files are TIFF files, whose first picture is a small preview. They are camera files only by the hint
///   ``ImageFormat/raw``, which loads take from the URL's ending or the media type; without it the preview is shown, by the
///   coder of TIFF.
/// - The image is developed with the camera's white balance, in sRGB and 8 bits, and upright. Its brightness is libraw's: one
///   pixel in a hundred is white.
/// - A thumbnail is made of the preview that the camera has put into the file, as file managers do, if that is a JPEG of the
///   image's shape and at least as large as the thumbnail. Else the image is developed at half its size where that is enough.
/// - Of a file whose end is missing there is a partial image only where its compression lets libraw carry on.
/// - All bytes are needed, also for ``info(of:context:)``. libraw uses all cores for some of its steps.
/// - Cancellation ends the work at libraw's next step; the longest, which finds the colors between the sensor's, takes most of
///   the time.
public struct RAWCoder: ImageCoder {
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.raw] }

    public func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        try data.withBytes { bytes throws(ImageError) in try RAWFile(bytes, context: context).info }
    }

    public func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        try data.withBytes { bytes throws(ImageError) in
            let info = try RAWFile(bytes, context: context).info
            let output = options.outputSize(for: info.displaySize)
            try info.check(context.limits, output: output, keptFrames: 1)
            try context.checkCancellation()
            // Files are opened anew for each step: measuring a file, or looking for its preview, leaves libraw in a state in which it
            // can't develop the image.
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
