#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// The image sequence of a HEIF file (ISO/IEC 23008-12, section 7): its track of pictures, and the track of their transparency.
struct HEIFSequence {
    let image: HEVCTrack
    let alpha: HEVCTrack?
    /// True if colors are premultiplied in the file.
    let isPremultiplied: Bool
    /// The description that the header gives. The size is the size of the pictures before they are turned.
    private(set) var info: ImageInfo
    /// The offset of the first byte behind all frames.
    let end: Int

    /// No file has more tracks.
    private static let maximumTracks = 64

    /// - Parameters:
    ///   - moov: the contents of the box of this name.
    ///   - file: all that is there of the file.
    /// - Throws: ``ImageError/Code/formatNotEnabled`` without a readable sequence.
    init(
        _ moov: UnsafeRawBufferPointer, of file: UnsafeRawBufferPointer, format: ImageFormat, isComplete: Bool,
        limits: DecodeLimits
    ) throws(ImageError) {
        let movie = MediaBox(type: "moov", contents: moov)
        let boxes = try movie.boxes().filter { $0.type == "trak" }
        guard boxes.count <= Self.maximumTracks else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the HEIF file has \(boxes.count) tracks, over the limit of \(Self.maximumTracks)")
        }
        var tracks: [MediaTrack] = []
        for box in boxes { tracks.append(try MediaTrack(box)) }
        guard let main = tracks.first(where: { $0.isMain && $0.isEnabled }) ?? tracks.first(where: \.isMain) else {
            throw ImageError(.formatNotEnabled, stage: .decode, reason: "the HEIF file has no image sequence")
        }
        let image = try HEVCTrack(main, file: file, limits: limits)
        guard image.samples.count > 0 else {
            let reason =
                try movie.first("mvex") == nil
                ? "the image sequence of the HEIF file is empty" : "fragmented HEIF files aren't supported"
            throw ImageError(.formatNotEnabled, stage: .decode, reason: reason)
        }
        var alpha: (id: Int, track: HEVCTrack)?
        for track in tracks where track.handler == "auxv" && track.references["auxl", default: []].contains(main.id) {
            guard let type = track.auxiliaryType, MediaTrack.alphaTypes.contains(type) else { continue }
            alpha = (track.id, try HEVCTrack(track, file: file, limits: limits))
            break
        }
        if let alpha = alpha?.track {
            guard alpha.samples.count == image.samples.count, alpha.aperture.size == image.aperture.size else {
                throw .corrupt(
                    "the alpha sequence of the HEIF file differs from the image sequence in size or number of frames")
            }
        }
        self.image = image
        self.alpha = alpha?.track
        isPremultiplied = alpha.map { main.references["prem", default: []].contains($0.id) } ?? false
        end = max(image.samples.end, alpha?.track.samples.end ?? 0)
        let isAnimated = image.samples.count > 1
        info = ImageInfo(
            format: format, size: image.aperture.size, orientation: main.orientation, frameCount: image.samples.count,
            loopCount: isAnimated ? main.loopCount : nil,
            frameDurations: isAnimated ? Self.durations(image.samples.durations, timescale: main.timescale) : [],
            hasAlpha: alpha != nil, bitsPerComponent: image.pictures.bits,
            colorProfile: CodedColor.name(
                profile: image.entry.profile, codePoints: image.entry.coding?.codePoints ?? .sRGB),
            isComplete: isComplete && end <= file.count,
            isHighDynamicRange: image.entry.profile == nil
                && image.entry.coding?.codePoints.isHighDynamicRange == true)
    }

    /// The sequence of a file; `nil` for a file without a sequence, with a still image beside a sequence of a single frame, or
    /// with an unreadable sequence.
    init?(fileOf data: Data, limits: DecodeLimits) throws(ImageError) {
        let sequence = try data.withBytes { bytes throws(ImageError) -> HEIFSequence? in
            let boxes = TopLevelBoxes(bytes)
            guard let moov = boxes.first("moov") else { return nil }
            let hasStill = boxes.first("meta") != nil
            guard moov.isComplete else { throw .truncated("the HEIF file ends in the header of its sequence") }
            do throws(ImageError) {
                let sequence = try HEIFSequence(
                    UnsafeRawBufferPointer(rebasing: bytes[moov.payload]), of: bytes,
                    format: ImageFormat(sniffing: data) == .heif ? .heif : .heic,
                    isComplete: !boxes.isTruncated(bytes), limits: limits)
                return hasStill && !sequence.info.isAnimated ? nil : sequence
            } catch {
                guard hasStill, [.formatNotEnabled, .corruptImage].contains(error.code) else { throw error }
                return nil
            }
        }
        guard let sequence else { return nil }
        self = sequence
        info.metadata = HEIFStill.metadata(of: data)
    }

    /// True if all bytes of a frame are within the start of the file that has arrived.
    func hasFrame(_ index: Int, within count: Int) -> Bool {
        [image, alpha].allSatisfy { track in
            // Pictures decoded for a frame may lie behind it.
            track.map { $0.samples.samples[$0.samples.order[index]].bytes.upperBound <= count } ?? true
        }
    }

    private static func durations(_ units: [Int], timescale: Int) -> [Duration] {
        units.map { units in
            guard timescale > 0 else { return FrameTiming.standard }
            // An hour for a frame is more than any plausible sequence has.
            let seconds = min(Double(units) / Double(timescale), 3_600)
            return FrameTiming.played(.microseconds(Int((seconds * 1_000_000).rounded())))
        }
    }
}

extension MediaTrack {
    /// True if the track is an image sequence of its own, not a thumbnail or auxiliary track of another.
    fileprivate var isMain: Bool { handler == "pict" && references["thmb"] == nil && references["auxl"] == nil }
}
#endif
