#if HEIF
public import FoundationEssentials
public import TintypeCore

/// Reads HEIF and HEIC, stills and sequences, and writes HEIC stills. With the package trait `HEIF`.
///
/// - Stills are read with libheif and libde265, and written with libheif: of several, the primary image is read. Sizes are those after
///   cropping, rotation and mirroring, and an EXIF orientation is ignored, as the format has it.
/// - An embedded thumbnail is used where it is of the image's shape and not smaller than what is asked for.
/// - PQ and HLG are tone-mapped to sRGB unless the options keep the source's color space or high dynamic range. With
///   ``DecodeOptions/decodeToHDR``, 10 and 12 bits of stills stay so; sequences become 8. Gain maps are not read.
/// - A sequence of HEVC pictures (the tracks of a `moov` box; files named `.heics`) is read with libde265, transparency
///   included. A file that holds one of two frames or more and a still image, too, is read as the sequence. It is played for
///   ever, unless an edit list says how often. Frames come while the file arrives.
/// - Sequences in fragments, and those coded otherwise, are not read.
/// - An image or tile is decoded in one call: cancellation takes hold between tiles, and while rows are converted.
/// - Of a still whose end is missing there is no partial image: libheif refuses it.
public struct HEIFCoder: AnimatedImageCoder, ProgressiveImageCoder {
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.heic, .heif] }
    public var encodableFormats: Set<ImageFormat> { [.heic] }

    public func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        if let sequence = try HEIFSequence(fileOf: data, limits: context.limits) { return sequence.info }
        return try data.withBytes { bytes throws(ImageError) in
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
        if let sequence = try HEIFSequence(fileOf: data, limits: context.limits) {
            return try HEIFFrameDecoder(
                data, sequence: sequence, for: FramePurpose(options), options: options, context: context
            ).image(firstFrameOnly: options.firstFrameOnly)
        }
        return try data.withBytes { bytes throws(ImageError) in
            let boxes = TopLevelBoxes(bytes)
            let file = try HEIFFile(bytes, boxes: boxes, format: Self.format(data), limits: context.limits)
            let items = try? boxes.first("meta").map { meta throws(ImageError) in
                try ItemTable(UnsafeRawBufferPointer(rebasing: bytes[meta.payload]), of: bytes)
            }
            return try HEIFStillDecoder(file: file, items: items, options: options, context: context).run()
        }
    }

    public func progressiveDecoder(
        options: DecodeOptions, context: DecodeContext
    ) throws(ImageError) -> any ProgressiveDecoder {
        ProgressiveFramesDecoder(self, options: options, context: context) { data, options throws(ImageError) in
            guard let sequence = try HEIFSequence(fileOf: data, limits: context.limits) else {
                throw .truncated("no frame of the sequence is there yet")
            }
            return try HEIFFrameDecoder(
                data, sequence: sequence, for: FramePurpose(options), options: options, context: context)
        }
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: DecodeContext
    ) throws(ImageError) -> any FrameDecoder {
        if let sequence = try HEIFSequence(fileOf: data, limits: context.limits) {
            return try HEIFFrameDecoder(
                data, sequence: sequence, for: .streaming, options: options, context: context)
        }
        let info = try info(of: data, context: context)
        return StillFrames(info: info, outputSize: info.outputSize(options, format: info.pixelFormat(options))) {
            () throws(ImageError) in try decode(data, options: options, context: context)
        }
    }

    /// Writes a HEIC file, the first frame of an animation, on request with a thumbnail.
    ///
    /// Pixels of 16 bits are written with 10 bits, or 12 if their source had more than 10; high dynamic range is PQ with
    /// ``EncodeOptions/HDREncoding/isoHDR``, and else tone-mapped. An HEVC encoder that has 8 bits only gets 8.
    ///
    /// ``EncodeOptions/lossless`` gives the best quality that the encoder has, with color in full resolution; rounding in the
    /// conversion to luma and chroma remains. ``HEICEncodeOptions`` has the finer settings.
    /// - Throws: ``ImageError/Code/formatNotEncodable`` where libheif has no HEVC encoder, and
    ///   ``ImageError/Code/encodeFailed`` for a side over 16,384 pixels and where the limit of bytes cannot be kept.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: EncodeContext
    ) throws(ImageError) -> Data {
        let target = EncodeTarget(
            format: .heic, maximumSide: HEIFEncoder.maximumSide, isStill: true,
            formats: DepthReduction.codedFormats(image))
        return try HEIFEncoder(job: EncodeJob(image, for: target, options, context)).encode()
    }

    private static func format(_ data: Data) -> ImageFormat {
        ImageFormat(sniffing: data) == .heif ? .heif : .heic
    }
}
#endif
