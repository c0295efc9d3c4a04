#if HEIF
internal import FoundationEssentials
internal import TintypeCore

/// A track of HEVC pictures: of an image sequence, or of its transparency.
struct HEVCTrack {
    let samples: SampleTable
    let configuration: HEVCConfiguration
    let entry: VisualSampleEntry
    /// The size and depth of the pictures; the decoder checks each parameter set against them.
    let pictures: HEVCPictureParameters
    /// The part of the pictures that is shown.
    let aperture: PixelRect

    /// - Throws: ``ImageError/Code/formatNotEnabled`` if the track is coded in another way.
    init(_ track: MediaTrack, limits: DecodeLimits) throws(ImageError) {
        guard let box = track.sampleEntry else {
            throw ImageError(
                .formatNotEnabled, stage: .decode,
                reason: "the frames of the HEIF file are coded in several ways, which is not read")
        }
        guard Self.types.contains(box.type) else {
            throw ImageError(
                .formatNotEnabled, stage: .decode,
                reason: "the frames of the HEIF file are coded as '\(box.type)'; sequences are read in HEVC")
        }
        entry = try VisualSampleEntry(box)
        guard let box = entry.first("hvcC") else { throw .corrupt("the frames of the HEIF file have no configuration") }
        configuration = try HEVCConfiguration(box)
        guard let pictures = try configuration.pictures() else {
            throw .corrupt("the HEIF file does not say how large its frames are")
        }
        self.pictures = pictures
        aperture = try entry.aperture(of: pictures.size)
        guard pictures.codedSize.pixelCount <= limits.maximumPixels else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the image claims \(pictures.codedSize) pixels, over the limit of \(limits.maximumPixels)")
        }
        samples = try SampleTable(track.sampleTable, maximumCount: limits.maximumFrames)
    }

    static let types: Set<String> = ["hvc1", "hev1"]
}
#endif
