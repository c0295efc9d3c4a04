#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// A track of HEVC pictures: of an image sequence, or of its transparency.
struct HEVCTrack {
    let samples: SampleTable
    let configuration: HEVCConfiguration
    let entry: VisualSampleEntry
    /// The size and depth of the pictures; the decoder checks each parameter set against them.
    let pictures: HEVCPictureParameters
    /// The part of the pictures that is shown.
    let aperture: PixelRect

    /// - Parameter file: all that is there of the file.
    /// - Throws: ``ImageError/Code/formatNotEnabled`` if the track is coded in another way.
    init(_ track: MediaTrack, file: UnsafeRawBufferPointer, limits: DecodeLimits) throws(ImageError) {
        guard let box = track.sampleEntry else {
            throw ImageError(
                .formatNotEnabled, stage: .decode,
                reason: "the frames of the HEIF file are coded in several ways, which isn't supported")
        }
        guard Self.types.contains(box.type) else {
            throw ImageError(
                .formatNotEnabled, stage: .decode,
                reason: "the frames of the HEIF file are coded as '\(box.type)'; only HEVC is supported for sequences")
        }
        entry = try VisualSampleEntry(box)
        guard let box = entry.first("hvcC") else {
            throw .corrupt("the frames of the HEIF file have no configuration ('hvcC')")
        }
        configuration = try HEVCConfiguration(box)
        samples = try SampleTable(track.sampleTable, maximumCount: limits.mostFrames)
        if let stated = try configuration.pictures() {
            pictures = stated
        } else {
            pictures = try Self.pictures(of: samples, configuration, file)
        }
        aperture = try entry.aperture(of: pictures.size)
        guard pictures.codedSize.pixelCount <= limits.maximumPixels else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the image claims \(pictures.codedSize) pixels, over the limit of \(limits.maximumPixels)")
        }
        guard pictures.byteCount <= Self.maximumBytes / Self.maximumPictures else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "decoding frames of \(pictures.codedSize) could take more than \(ByteCount(Self.maximumBytes))"
            )
        }
    }

    /// The contents of a parameter set in the first sample, if the track keeps them there.
    private static func pictures(
        of samples: SampleTable, _ configuration: HEVCConfiguration, _ file: UnsafeRawBufferPointer
    ) throws(ImageError) -> HEVCPictureParameters {
        guard let first = samples.samples.first else {
            throw .corrupt("the HEIF file doesn't state the size of its frames")
        }
        guard first.bytes.upperBound <= file.count else {
            throw .truncated("the HEIF file ends in the first frame of its sequence")
        }
        return try configuration.pictures(within: UnsafeRawBufferPointer(rebasing: file[first.bytes]))
    }

    /// A picture may be made of 16 others, which the decoder keeps (ITU-T H.265, section A.4.2).
    private static let maximumPictures = 17
    /// Enough for the largest pictures of any level, 8192x4352 in 8 bits, and for smaller pictures in 12 bits.
    private static let maximumBytes = 1 << 30

    private static let types: Set<String> = ["hvc1", "hev1"]
}
#endif
