#if AVIF
public import FoundationEssentials
public import TintypeImages

/// Reads and writes AVIF, still images and sequences, with libavif. Requires the package trait `AVIF`.
///
/// - The file's own rotation and mirroring are applied. An EXIF orientation is ignored, as the format specifies (MIAF, ISO/IEC 23000-22,
///   section 7.3.6.7). The image is first cropped to its clean aperture.
/// - PQ and HLG are tone-mapped to sRGB unless the options keep the source's color space or high dynamic range. With
///   ``DecodeOptions/decodeToHDR``, 10 and 12 bits are preserved, and a gain map is applied.
/// - libavif decodes an image in a single call. So cancellation takes effect before and after the call, between the frames of a sequence,
///   and while rows are converted.
/// - A truncated still image has no partial image, because AV1 decoders return only whole frames. A truncated sequence keeps the frames
///   before the missing part, if the options allow a partial image.
/// - If the options allow a partial image, a damaged frame of a sequence is replaced by the frame before it, up to the next keyframe.
/// - The loop count of a sequence comes from the edit list of its track.
public struct AVIFCoder: AnimatedImageCoder {
    /// The AV1 decoders that libavif can be built with. If the selected decoder is missing, reading an image throws
    /// ``ImageError/Code/formatNotEnabled``.
    public enum Decoder: String, Sendable, Hashable, CaseIterable {
        /// The first decoder that libavif has, which is dav1d in Debian.
        case automatic
        /// dav1d, usually the fastest.
        case dav1d
        /// libgav1, made for small devices.
        case libgav1
        /// The reference decoder of AV1.
        case aom
    }

    /// The library that decodes the AV1 data.
    let decoder: Decoder

    /// Creates a coder.
    /// - Parameter decoder: the library that decodes AV1.
    public init(decoder: Decoder = .automatic) { self.decoder = decoder }

    public var decodableFormats: Set<ImageFormat> { [.avif] }
    public var encodableFormats: Set<ImageFormat> { [.avif] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        var info = try AVIFReader(data, limits: context.limits, decoder: decoder).info
        info.gainMap = HEIFGainMap(of: data, as: .avif)?.info
        return info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let image = try AVIFFrameDecoder(data, for: .first, decoder: decoder, options: options, context: context)
            .image(data, self, options: options, context: context)
        return try HEIFGainMap.brightened(image, data, as: .avif, options, context)
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        try AVIFFrameDecoder(data, for: .streaming, decoder: decoder, options: options, context: context)
    }

    /// Encodes an AVIF file, which is a sequence if the image is animated. Color has half the resolution unless
    /// ``AVIFEncodeOptions`` specify otherwise. With ``EncodeOptions/lossless``, it has the full resolution, and is exact.
    ///
    /// Pixels of 16 bits are written with 10 bits, or with 12, the maximum of AVIF, if their source had more than 10. High
    /// dynamic range is written as PQ with ``EncodeOptions/HDREncoding/isoHDR``, and otherwise tone-mapped.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    ///   - context: the resources of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a side over 32,768 pixels, and if the limit of bytes is too small.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        let target = EncodeTarget(
            format: .avif, maximumSide: AVIFEncoder.maximumSide, formats: DepthReduction.codedFormats(image))
        return try AVIFEncoder(job: EncodeJob(image, for: target, options, context)).encode()
    }
}
#endif
