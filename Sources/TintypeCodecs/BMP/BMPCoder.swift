public import FoundationEssentials
public import TintypeImages

/// Reads and writes Windows and OS/2 bitmaps.
///
/// Reads 1 to 32 bits per pixel, palettes, bit fields with alpha, both row orders, run lengths of 4 and 8 bits, and whole JPEG and PNG
/// files instead of pixels. Pixels of 32 bits without bit fields are opaque, as in Windows, and so are 16-bit pixels whose alpha is 0
/// everywhere.
public struct BMPCoder: ImageCoder {
    /// Creates a coder.
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.bmp] }
    public var encodableFormats: Set<ImageFormat> { [.bmp] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let header = try header(of: data)
        guard header.compression == .file else {
            var info = header.info
            // While pixels are missing, they may show it.
            if header.compression == .none, (data.count - header.pixels) / header.bytesPerRow >= header.size.height {
                info.hasAlpha = try data.withBytes { bytes throws(ImageError) in header.showsAlpha(bytes) }
            }
            return info
        }
        var info = try Self.embedded.info(of: data.dropFirst(header.pixels), context: context)
        info.format = .bmp
        return info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let header = try header(of: data)
        if header.compression == .file {
            var inner = options
            inner.firstFrameOnly = true
            inner.formatHint = nil
            return try Self.embedded.decode(data.dropFirst(header.pixels), options: inner, context: context).with {
                $0.format = .bmp
                $0.decodeOptions = options
            }
        }
        return try data.withBytes { bytes throws(ImageError) in
            let info = header.info
            let output = options.outputSize(for: info.displaySize)
            try info.check(context.limits, output: output, keptFrames: 1)
            let reservation = try context.reserve(
                output: output, isCopied: false, source: info.size, bitmaps: header.compression == .none ? 0 : 1)
            defer { reservation.release() }
            let decoder = BMPDecoder(bytes: bytes, header: header, options: options, context: context)
            let (pixels, isPartial, hasAlpha) = try decoder.decode(to: output)
            var properties = info.properties(options)
            properties.isPartial = isPartial
            properties.hasAlpha = hasAlpha
            return Image(pixels: pixels, properties: properties)
        }
    }

    /// The coders for the files that a bitmap can contain instead of pixels.
    private static let embedded = ImageCoders([JPEGCoder(), PNGCoder()])

    private func header(of data: Data) throws(ImageError) -> BMPHeader {
        try data.withBytes { bytes throws(ImageError) in try BMPHeader(bytes) }
    }

    /// Writes 24 bits per pixel, or 32 with alpha and bit fields (BITMAPV4HEADER) if the image may have transparent pixels.
    ///
    /// Colors are converted to sRGB, because the file cannot contain a profile.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    ///   - context: the resources of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a file of 4 GB or more, or over the limit of bytes.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        let target = EncodeTarget(
            format: .bmp, maximumSide: Int(Int32.max), isStill: true, storesProfile: false)
        return try BMPEncoder(job: EncodeJob(image, for: target, options, context)).encode()
    }
}
