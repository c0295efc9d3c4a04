#if AVIF
public import FoundationEssentials
public import TintypeCore

/// Reads and writes AVIF, stills and sequences, with libavif. With the package trait `AVIF`.
///
/// - The file's own rotation and mirroring are applied; an EXIF orientation is ignored, as the format has it (MIAF,
///   ISO/IEC 23000-22, section 7.3.6.7). Before those, what lies outside a clean aperture is cut off.
/// - PQ and HLG are tone-mapped to sRGB unless the options keep the source's colour space or high dynamic range. With
///   ``DecodeOptions/decodeToHDR``, 10 and 12 bits stay so. Gain maps are not read.
/// - libavif decodes an image in one call: cancellation takes hold before and after it, between the frames of a sequence, and while
///   its rows are converted.
/// - Of a still image whose end is missing there is no partial image, because AV1 decoders give whole frames only; of a sequence,
///   the frames before that are given where the options allow a partial image.
/// - The installed libavif does not say how often a sequence is played: for ever.
public struct AVIFCoder: AnimatedImageCoder {
    /// The decoders that libavif may have been built with. One that it was not is the error
    /// ``ImageError/Code/formatNotEnabled`` when an image is read.
    public enum Decoder: String, Sendable, Hashable, CaseIterable {
        /// The first that libavif has, which is dav1d in Debian's.
        case automatic
        case dav1d, libgav1, aom
    }

    /// What reads the AV1 data.
    public let decoder: Decoder

    public init(decoder: Decoder = .automatic) { self.decoder = decoder }

    public var decodableFormats: Set<ImageFormat> { [.avif] }
    public var encodableFormats: Set<ImageFormat> { [.avif] }

    public func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        try AVIFReader(data, limits: context.limits, readsMetadata: false, decoder: decoder).info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        try AVIFFrameDecoder(data, for: FramePurpose(options), decoder: decoder, options: options, context: context)
            .image(firstFrameOnly: options.firstFrameOnly)
    }

    public func frameDecoder(
        for data: Data, options: DecodeOptions, context: DecodeContext
    ) throws(ImageError) -> any FrameDecoder {
        try AVIFFrameDecoder(data, for: .streaming, decoder: decoder, options: options, context: context)
    }

    /// Writes an AVIF file, a sequence if the image is animated: colour at half the resolution unless
    /// ``AVIFEncodeOptions`` say otherwise, or with ``EncodeOptions/lossless`` in full and exactly.
    ///
    /// Pixels of 16 bits are written with 10 bits, or 12 if their source had more than 10, which is the most that AVIF has; high
    /// dynamic range is PQ with ``EncodeOptions/HDREncoding/isoHDR``, and else tone-mapped.
    ///
    /// The installed libavif cannot say how often a sequence is played.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a side over 32,768 pixels, and where the limit of bytes cannot be kept.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: EncodeContext
    ) throws(ImageError) -> Data {
        let target = EncodeTarget(
            format: .avif, maximumSide: AVIFEncoder.maximumSide, formats: DepthReduction.codedFormats(image))
        return try AVIFEncoder(job: EncodeJob(image, for: target, options, context)).encode()
    }
}
#endif
