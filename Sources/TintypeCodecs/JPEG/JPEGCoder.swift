public import FoundationEssentials
public import TintypeImages

/// Reads and writes JPEG (ITU-T T.81), mostly with libjpeg-turbo: baseline and progressive; gray, color, CMYK and YCCK.
///
/// With ``DecodeOptions/decodeToHDR``, a gain map is applied in full: the image then has high dynamic range, in half precision. Previews
/// don't have it.
///
/// A small thumbnail of a photograph is made from the low frequencies of its blocks, without libjpeg. For other thumbnails, libjpeg decodes
/// at a fraction of the size, and the rows are resampled as they arrive. In both cases, the full bitmap never exists. The Exif orientation
/// is applied, and an embedded ICC profile is converted to sRGB.
public struct JPEGCoder: ProgressiveImageCoder {
    /// Creates a coder.
    public init() {}

    /// Thumbnails of files with shorter scans are left to libjpeg: see `JPEGThumbnail`. A fuzzer has nothing but short scans.
    var shortestScan = JPEGThumbnail.shortestScan

    public var decodableFormats: Set<ImageFormat> { [.jpeg] }
    public var encodableFormats: Set<ImageFormat> { [.jpeg] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let segments = try data.withBytes { bytes throws(ImageError) in try Self.segments(bytes) }
        guard let size = segments.size else {
            throw segments.isTruncated
                ? ImageError(.truncatedImage, stage: .decode, reason: "the JPEG ends within its header")
                : ImageError(.corruptImage, stage: .decode, reason: "the JPEG has no frame header")
        }
        guard !size.isEmpty else {
            throw ImageError(.corruptImage, stage: .decode, reason: "the JPEG has the invalid size \(size)")
        }
        var info = segments.info(size: size)
        if segments.pictureIndex != nil, let map = JPEGGainMap(of: data), [1, 3].contains(map.components) {
            info.gainMap = ImageInfo.GainMap(size: map.size, components: map.components)
        }
        return info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        try Self.brightened(picture(data, options, context), data, options, context)
    }

    /// Decodes a file without its gain map.
    func picture(_ data: Data, _ options: DecodeOptions, _ context: ProcessingContext) throws(ImageError) -> Image {
        try data.withBytes { bytes throws(ImageError) in
            try JPEGDecoder(
                segments: Self.segments(bytes), options: options, context: context, shortestScan: shortestScan
            ).run(bytes)
        }
    }

    /// Applies the gain map of the file, if the options ask for it.
    static func brightened(
        _ image: Image, _ data: Data, _ options: DecodeOptions, _ context: ProcessingContext
    ) throws(ImageError) -> Image {
        guard options.decodeToHDR, !options.keepsColorSpace, let map = JPEGGainMap(of: data) else { return image }
        return try GainMapParameters.applyWherePossible(map.parameters, to: image, context) { () throws(ImageError) in
            try map.pixels(turnedLike: image, context)
        }
    }

    public func progressiveDecoder(
        options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ProgressiveDecoder {
        try JPEGProgressiveDecoder(options: options, context: context)
    }

    private static func segments(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> JPEGSegments {
        guard bytes.bigEndian16(at: 0) == 0xFFD8 else {
            throw ImageError(
                .corruptImage, stage: .decode, reason: "the data doesn't start with the signature of a JPEG")
        }
        return JPEGSegments(bytes)
    }
}

extension JPEGSegments {
    /// - Parameter size: the size of the frame.
    func info(size: PixelSize) -> ImageInfo {
        var info = ImageInfo(
            format: .jpeg, size: size, orientation: orientation, hasAlpha: false, bitsPerComponent: bitsPerComponent,
            colorProfile: profile.flatMap(ColorConversion.name(of:)), isComplete: !isTruncated)
        info.metadata = metadata
        return info
    }
}
