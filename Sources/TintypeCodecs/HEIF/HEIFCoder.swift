#if HEIF
public import FoundationEssentials
public import TintypeCore

/// Reads HEIF and HEIC, and writes HEIC, with libheif. With the package trait `HEIF`.
///
/// - The primary image is read. Its cropping, rotation and mirroring are libheif's work; sizes are those after it, and an EXIF
///   orientation is ignored, as the format has it.
/// - An embedded thumbnail is used where it is of the image's shape and not smaller than what is asked for.
/// - PQ and HLG are tone-mapped to sRGB unless the options keep the source's colour space or high dynamic range. With
///   ``DecodeOptions/decodeToHDR``, 10 and 12 bits stay so. Gain maps are not read.
/// - The installed libheif (before 1.19) reads no image sequences: of a file that holds one, the still image is read; one that
///   holds nothing else is ``ImageError/Code/formatNotEnabled``.
public struct HEIFCoder: ImageCoder {
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.heic, .heif] }
    public var encodableFormats: Set<ImageFormat> { [.heic] }

    public func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        try data.withBytes { bytes throws(ImageError) in
            let boxes = TopLevelBoxes(bytes)
            guard boxes.isTruncated else {
                return try HEIFFile(bytes, boxes: boxes, format: Self.format(data), limits: context.limits).info
            }
            guard boxes.first("meta")?.isComplete == true else { throw .truncated("the HEIF file ends in its header") }
            return try HEIFFile.withMissingBytes(bytes, length: boxes.length) { padded throws(ImageError) in
                try HEIFFile(padded, boxes: boxes, format: Self.format(data), limits: context.limits).info
            }
        }
    }

    public func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        try data.withBytes { bytes throws(ImageError) in
            let boxes = TopLevelBoxes(bytes)
            let file = try HEIFFile(bytes, boxes: boxes, format: Self.format(data), limits: context.limits)
            return try HEIFDecode(file: file, options: options, context: context).run()
        }
    }

    /// Writes a HEIC file, the first frame of an animation.
    ///
    /// Pixels of 16 bits are written with 10 bits, or 12 if their source had more than 10; high dynamic range is PQ with
    /// ``EncodeOptions/HDREncoding/isoHDR``, and else tone-mapped. An HEVC encoder that has 8 bits only gets 8.
    ///
    /// A colour profile of the image is written, its metadata is not. ``EncodeOptions/lossless`` gives the best quality that
    /// the encoder has, with colour in full resolution; rounding in the conversion to luma and chroma remains.
    /// - Throws: ``ImageError/Code/formatNotEncodable`` where libheif has no HEVC encoder, and
    ///   ``ImageError/Code/encodeFailed`` where the limit of bytes cannot be kept.
    public func encode(_ image: Image, as format: ImageFormat, options: EncodeOptions) throws(ImageError) -> Data {
        let source = try EncodePreparation.prepare(
            image, as: .heic, options, maximumSide: HEIFEncoder.maximumSide, isStill: true,
            formats: DepthReduction.codedFormats(image))
        return try HEIFEncoder(source: source, options: options, profile: image.colorSpace.profile).encode()
    }

    private static func format(_ data: Data) -> ImageFormat {
        ImageFormat(sniffing: data) == .heif ? .heif : .heic
    }
}
#endif
