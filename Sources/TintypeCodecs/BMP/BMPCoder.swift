public import FoundationEssentials
public import TintypeCore

/// Reads and writes Windows and OS/2 bitmaps.
///
/// Reads 1 to 32 bits a pixel, palettes, bit fields with alpha, both directions, and the run lengths of 4 and 8 bits. Pixels
/// of 32 bits without bit fields are opaque, as Windows shows them.
public struct BMPCoder: ImageCoder {
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.bmp] }
    public var encodableFormats: Set<ImageFormat> { [.bmp] }

    public func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        try data.withBytes { bytes throws(ImageError) in try BMPHeader(bytes).info }
    }

    public func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        try data.withBytes { bytes throws(ImageError) in
            let header = try BMPHeader(bytes)
            let info = header.info
            let output = options.outputSize(for: info.displaySize)
            try info.check(context.limits, output: output, keptFrames: 1)
            let decoder = BMPDecoder(bytes: bytes, header: header, options: options, context: context)
            let (pixels, isPartial) = try decoder.decode(to: output)
            var properties = info.properties(options)
            properties.isPartial = isPartial
            if isPartial { properties.hasAlpha = true }
            return Image(pixels: pixels, properties: properties)
        }
    }

    /// Writes 24 bits a pixel, or 32 with alpha and bit fields (BITMAPV4HEADER) if the image may have transparent pixels.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a file of 4 GB or more, or over the limit of bytes.
    public func encode(_ image: Image, as format: ImageFormat, options: EncodeOptions) throws(ImageError) -> Data {
        let image = try EncodePreparation.prepare(
            image, as: .bmp, options, maximumSide: Int(Int32.max), isStill: true)
        return try BMPEncoder(image: image, maximumBytes: options.maximumBytes).encode()
    }
}
