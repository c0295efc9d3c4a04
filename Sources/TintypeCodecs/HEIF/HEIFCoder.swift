#if HEIF
public import FoundationEssentials
public import TintypeImages

/// Reads HEIF and HEIC, still images and sequences, and writes HEIC still images. Requires the package trait `HEIF`.
///
/// - Still images are read with libde265, and written with libheif. AV1 images need the package trait `AVIF`. The primary image is the
///   first page; other images are further pages (``DecodeOptions/page``). Sizes include cropping, rotation and mirroring. An EXIF
///   orientation is ignored, as the format specifies.
/// - Derived images are supported: grids, overlays, and images that add properties to another image. Overlays, and grids whose tiles are
///   coded in several ways, are converted to sRGB; they have 8 bits if only some of their images are in PQ or HLG. An image with a gain map
///   is read in standard range, unless ``DecodeOptions/decodeToHDR`` applies the map.
/// - Grids are decoded one row of tiles at a time, so that a thumbnail never takes the memory of the whole image. Tiles are decoded on
///   several processors.
/// - An embedded thumbnail is used if it has the proportions of the image, is at least as large as the requested size, and states the same
///   colors as the image, or no colors. libheif's thumbnails of high dynamic range state different colors, and aren't used.
/// - PQ and HLG are tone-mapped to sRGB unless the options keep the source's color space or high dynamic range. With
///   ``DecodeOptions/decodeToHDR``, 10 and 12 bits of still images are preserved; sequences always have 8.
/// - A sequence of HEVC pictures (the tracks of a `moov` box; files named `.heics`) is read with libde265, including transparency. If a
///   file contains both a still image and a sequence of at least two frames, the sequence is read. It repeats forever, unless an edit list
///   specifies otherwise. Frames become available while the file arrives.
/// - Fragmented sequences, and sequences with another coding, aren't supported.
/// - An image or tile is decoded in a single call. So cancellation takes effect between tiles, and while rows are converted.
/// - A truncated still image has no partial image.
/// - A damaged image is an error if part of it was never decoded.
public struct HEIFCoder: AnimatedImageCoder, ProgressiveImageCoder {
    /// Creates a coder.
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.heic, .heif] }
    public var encodableFormats: Set<ImageFormat> { [.heic] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        if let sequence = try HEIFSequence(fileOf: data, limits: context.limits) { return sequence.info }
        var info = try data.withBytes { bytes throws(ImageError) in
            try HEIFStill(bytes, format: Self.format(data), limits: context.limits).info
        }
        info.gainMap = HEIFGainMap(of: data, as: .heic)?.info
        return info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        if let sequence = try HEIFSequence(fileOf: data, limits: context.limits) {
            return try HEIFFrameDecoder(
                data, sequence: sequence, for: .first, options: options, context: context
            ).image(data, self, options: options, context: context)
        }
        let image = try data.withBytes { bytes throws(ImageError) in
            let still = try HEIFStill(
                bytes, format: Self.format(data), page: options.page, limits: context.limits)
            return try HEIFStillDecoder(still: still, options: options, context: context).run()
        }
        return options.page == 0 ? try HEIFGainMap.brightened(image, data, as: .heic, options, context) : image
    }

    public func progressiveDecoder(
        options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ProgressiveDecoder {
        ProgressiveFramesDecoder(self, options: options, context: context) { data, options throws(ImageError) in
            guard let sequence = try HEIFSequence(fileOf: data, limits: context.limits) else {
                throw .truncated("no frame of the sequence has arrived yet")
            }
            return try HEIFFrameDecoder(
                data, sequence: sequence, for: .first, options: options, context: context)
        }
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
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

    /// Encodes a HEIC file with the first frame of an animation, and with a thumbnail if the options request it.
    ///
    /// Pixels of 16 bits are written with 10 bits, or with 12 if their source had more than 10. High dynamic range is written
    /// as PQ with ``EncodeOptions/HDREncoding/isoHDR``, and otherwise tone-mapped. An HEVC encoder that supports only 8 bits
    /// receives 8.
    ///
    /// ``EncodeOptions/lossless`` selects the best quality of the encoder, with color in full resolution. Only the conversion
    /// to luma and chroma causes rounding errors. Otherwise color has half the resolution.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    ///   - context: the resources of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/formatNotEncodable`` if libheif has no HEVC encoder, and ``ImageError/Code/encodeFailed`` for a side
    ///   over 16,384 pixels, if the limit of bytes is too small, and if the HEVC encoder refuses the size, as x265 does for some images
    ///   with one side over 4,096 pixels and the other under 64.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
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

extension HEIFCoder: ArrivingAnimationCoder {
    package func arrivedInfo(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        guard let sequence = try HEIFSequence(fileOf: data, limits: context.limits) else {
            return try info(of: data, context: context)
        }
        return sequence.info.keepingFrames(
            (0..<sequence.info.frameCount).prefix { sequence.hasFrame($0, within: data.count) }.count)
    }

    package func arrivingFrameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ArrivingFrameDecoder {
        guard let sequence = try HEIFSequence(fileOf: data, limits: context.limits) else {
            throw .truncated("no frame of the sequence has arrived yet")
        }
        return try HEIFFrameDecoder(data, sequence: sequence, for: .arriving, options: options, context: context)
    }
}
#endif
