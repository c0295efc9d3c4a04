#if AVIF
internal import CAVIF
internal import FoundationEssentials
internal import TintypeImages

/// A libavif decoder and the bytes that it reads.
final class AVIFReader {
    let info: ImageInfo
    let profile: Data?
    /// The meaning of the numbers in the planes.
    let coding: ColorCoding
    /// True if the file has no chroma.
    let isGray: Bool
    /// The part of each frame that is shown, before rotation and mirroring.
    let crop: avifCropRect
    private let decoder: UnsafeMutablePointer<avifDecoder>
    /// The frame that libavif has, if any.
    private var lastDecoded: Int?
    /// False once decoding from the first frame on has failed, too: then a wrong list of keyframes isn't the reason.
    private var mayStartAgain = true
    /// The size of a frame before it is cropped.
    let storedSize: PixelSize
    private let description: AVIFDescription
    /// `nil` until the first picture is decoded.
    private var samples: AVIFSamples?
    private let limits: DecodeLimits
    /// libavif keeps referring to the bytes, so they are copied: compressed, they are small.
    private let bytes: UnsafeMutableRawBufferPointer
    /// True if bytes that the header refers to are missing.
    private let isTruncated: Bool
    /// The frames of a sequence that is cut whose bytes are all there; at least one. `nil` if that can't be told, or isn't asked.
    private let wholeFrames: Int?

    /// The most that a file which is cut may make libavif reserve for the bytes that are missing.
    private static let maximumReservation = 256 << 20
    /// The most pixels that a picture may have whatever size the file states.
    private static let freePixels = 1 << 22

    /// Reads the header, and the metadata of a file that is whole, since it may be at the end.
    init(_ data: Data, limits: DecodeLimits, decoder choice: AVIFCoder.Decoder) throws(ImageError) {
        guard avifCodecName(choice.codec, AVIF_CODEC_FLAG_CAN_DECODE.rawValue) != nil else {
            throw ImageError(
                .formatNotEnabled, stage: .decode, reason: "the installed libavif has no decoder “\(choice.rawValue)”")
        }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, data.count), alignment: 16)
        copy.copyBytes(from: data)
        let file = UnsafeRawBufferPointer(rebasing: copy[..<data.count])
        let boxes = TopLevelBoxes(file)
        let isTruncated = boxes.isTruncated(file)
        Self.shortenTimes(copy, boxes)
        guard let decoder = avifDecoderCreate() else {
            copy.deallocate()
            throw ImageError(.outOfMemory, stage: .decode, reason: "libavif couldn't allocate memory for a decoder")
        }
        decoder.pointee.codecChoice = choice.codec
        do throws(ImageError) {
            let length = max(file.count, isTruncated ? min(boxes.length, Self.maximumReservation) : 0)
            description = try AVIFDescription(file, boxes, length: length)
            try Self.parse(file, decoder, limits, length: length, isTruncated: isTruncated)
            guard let image = decoder.pointee.image else { throw .corrupt("the AVIF file has no image") }
            profile = Self.bytes(image.pointee.icc)
            coding = ColorCoding(
                codePoints: CodePoints(
                    primaries: Int(image.pointee.colorPrimaries), transfer: Int(image.pointee.transferCharacteristics)),
                matrix: Int(image.pointee.matrixCoefficients), isFullRange: image.pointee.yuvRange == AVIF_RANGE_FULL)
            isGray = image.pointee.yuvFormat == AVIF_PIXEL_FORMAT_YUV400
            crop = Self.crop(image)
            storedSize = Self.size(image)
            // libavif lets a picture be without a size.
            guard !storedSize.isEmpty else { throw .corrupt("the AVIF has the invalid size \(storedSize)") }
            // The memory of a far larger picture isn't reserved. Tracks state the size at which they are shown, and tiles may be cropped.
            let most = max(storedSize.pixelCount * 4, Self.freePixels)
            // Of a grid, the limit holds for each tile, which may reach beyond the picture; transparency has tiles of its own.
            let tiles = decoder.pointee.imageCount > 1 ? 1 : max(1, description.tileCount)
            let mostOfTile = max(storedSize.pixelCount * 8, Self.freePixels) / tiles
            decoder.pointee.imageSizeLimit = min(
                decoder.pointee.imageSizeLimit, UInt32(clamping: max(1, min(most, mostOfTile))))
            let (crop, profile, codePoints) = (crop, profile, coding.codePoints)
            var (info, wholeFrames) = try data.withBytes { bytes throws(ImageError) in
                let played = Self.playedTracks(Self.tracks(bytes, boxes))
                return (
                    Self.info(
                        decoder, image, crop, profile: profile, codePoints: codePoints, played: played,
                        isComplete: !isTruncated),
                    isTruncated ? Self.wholeFrames(played, bytes.count, maximumCount: limits.mostFrames) : nil
                )
            }
            info.metadata.exif = Self.exif(image.pointee.exif)
            info.metadata.xmp = Self.bytes(image.pointee.xmp, maximum: ImageMetadata.maximumBlockBytes)
            self.info = info
            self.wholeFrames = wholeFrames
        } catch {
            avifDecoderDestroy(decoder)
            copy.deallocate()
            throw error
        }
        self.decoder = decoder
        self.limits = limits
        self.bytes = copy
        self.isTruncated = isTruncated
    }

    deinit {
        avifDecoderDestroy(decoder)
        bytes.deallocate()
    }

    /// The header without the frames of a sequence that are cut off.
    var partialInfo: ImageInfo {
        guard let wholeFrames, wholeFrames < info.frameCount else { return info }
        var info = info
        info.frameCount = wholeFrames
        info.frameDurations = wholeFrames > 1 ? Array(info.frameDurations.prefix(wholeFrames)) : []
        if wholeFrames == 1 { info.loopCount = nil }
        return info
    }

    /// True if the frames after one that can't be decoded are missing, too: the file is cut, and doesn't tell which are there.
    var endsAtDamage: Bool { isTruncated && wholeFrames == nil }

    private typealias PlayedTracks = (color: MediaTrack?, alpha: MediaTrack?)

    /// The track that libavif plays, and the first auxiliary track for it, which libavif 0.11 takes for transparency, whatever its declared
    /// purpose.
    private static func playedTracks(_ tracks: [MediaTrack]) -> PlayedTracks {
        guard let color = tracks.first(where: { $0.handler == "pict" && $0.references["auxl"] == nil }) else {
            return (nil, nil)
        }
        return (color, tracks.first { $0.references["auxl", default: []].contains(color.id) })
    }

    /// The frames whose samples all lie within the bytes.
    private static func wholeFrames(_ played: PlayedTracks, _ length: Int, maximumCount: Int) -> Int? {
        let counts = [played.color, played.alpha].compactMap { track in
            track.flatMap { try? SampleTable.places($0.sampleTable, maximumCount: maximumCount) }?
                .prefix { $0.upperBound <= length }.count
        }
        return counts.min().map { max(1, $0) }
    }

    private static func parse(
        _ file: UnsafeRawBufferPointer, _ decoder: UnsafeMutablePointer<avifDecoder>, _ limits: DecodeLimits,
        length: Int, isTruncated: Bool
    ) throws(ImageError) {
        // Parallel work comes from the pool that decodes several images at once.
        decoder.pointee.maxThreads = 1
        decoder.pointee.ignoreExif = isTruncated ? AVIF_TRUE : AVIF_FALSE
        decoder.pointee.ignoreXMP = isTruncated ? AVIF_TRUE : AVIF_FALSE
        // What old encoders left out is no reason to refuse their images.
        decoder.pointee.strictFlags = avifStrictFlags(AVIF_STRICT_DISABLED.rawValue)
        decoder.pointee.imageSizeLimit = UInt32(max(1, min(limits.maximumPixels, 16_384 * 16_384)))
        decoder.pointee.imageCountLimit = UInt32(clamping: max(1, limits.mostFrames))
        let start = file.baseAddress?.assumingMemoryBound(to: UInt8.self)
        try check(avifDecoderSetIOMemory(decoder, start, file.count), decoder, isTruncated: isTruncated)
        // Lets the header of a file be read whose end has not come yet.
        decoder.pointee.io.pointee.sizeHint = UInt64(length)
        try check(avifDecoderParse(decoder), decoder, isTruncated: isTruncated)
    }

    private static func info(
        _ decoder: UnsafeMutablePointer<avifDecoder>, _ image: UnsafeMutablePointer<avifImage>, _ crop: avifCropRect,
        profile: Data?, codePoints: CodePoints, played: PlayedTracks, isComplete: Bool
    ) -> ImageInfo {
        let count = max(1, Int(decoder.pointee.imageCount))
        let (track, auxiliary) = (played.color, count > 1 ? played.alpha : nil)
        let isAlpha = auxiliary?.auxiliaryType.map(MediaTrack.alphaTypes.contains) ?? true
        return ImageInfo(
            format: .avif, size: PixelSize(width: Int(crop.width), height: Int(crop.height)),
            orientation: orientation(image.pointee), frameCount: count,
            loopCount: count > 1 ? track?.loopCount ?? 0 : nil,
            frameDurations: count > 1 ? durations(track, count: count) : [],
            hasAlpha: decoder.pointee.alphaPresent == AVIF_TRUE && isAlpha,
            bitsPerComponent: Int(image.pointee.depth),
            colorProfile: CodedColor.name(profile: profile, codePoints: codePoints), isComplete: isComplete,
            isHighDynamicRange: profile == nil && codePoints.isHighDynamicRange)
    }

    /// The tracks that are understood.
    ///
    /// libavif does not report the number of times that a sequence is played, and it adds up the durations of all frames before a frame to
    /// tell its time.
    private static func tracks(_ file: UnsafeRawBufferPointer, _ boxes: TopLevelBoxes) -> [MediaTrack] {
        guard let moov = boxes.first("moov"), moov.isComplete else { return [] }
        let movie = MediaBox(type: "moov", contents: UnsafeRawBufferPointer(rebasing: file[moov.payload]))
        let tracks = ((try? movie.boxes()) ?? []).filter { $0.type == "trak" }
        return tracks.prefix(maximumTracks).compactMap { try? MediaTrack($0) }
    }

    /// No file has more tracks.
    private static let maximumTracks = 64

    /// Leaves a single run in each table of times. libavif goes through all runs for each frame before a frame that it decodes, and the
    /// times are read from the original.
    private static func shortenTimes(_ copy: UnsafeMutableRawBufferPointer, _ boxes: TopLevelBoxes) {
        guard let moov = boxes.first("moov"), moov.isComplete, let base = copy.baseAddress else { return }
        let movie = MediaBox(type: "moov", contents: UnsafeRawBufferPointer(rebasing: copy[moov.payload]))
        for track in (try? movie.boxes()) ?? [] where track.type == "trak" {
            guard let times = try? track.box("mdia", "minf", "stbl", "stts"), times.contents.count >= 16,
                let start = times.contents.baseAddress, times.contents.bigEndian32(at: 4) ?? 0 > 1
            else { continue }
            // Behind the version and the flags: the number of runs.
            copy[start - UnsafeRawPointer(base) + 7] = 1
            for place in 4..<7 { copy[start - UnsafeRawPointer(base) + place] = 0 }
        }
    }

    private static func durations(_ track: MediaTrack?, count: Int) -> [Duration] {
        guard let track, track.timescale > 0, let units = try? SampleDurations.read(track.sampleTable, count: count),
            units.count == count
        else { return Array(repeating: FrameTiming.standard, count: count) }
        return units.map { units in
            guard units > 0 else { return FrameTiming.standard }
            // A day for a frame is more than any plausible sequence has.
            let seconds = min(Double(units) / Double(track.timescale), 86_400)
            return FrameTiming.played(.microseconds(Int((seconds * 1_000_000).rounded())))
        }
    }

    /// The clean aperture (ISO/IEC 14496-12, section 12.1.4), which comes before rotation and mirroring (MIAF, ISO/IEC 23000-22,
    /// section 7.3.6.7); the whole frame if there is none, or if it does not lie within the frame on whole pixels.
    private static func crop(_ image: UnsafeMutablePointer<avifImage>) -> avifCropRect {
        let (width, height) = (image.pointee.width, image.pointee.height)
        let whole = avifCropRect(x: 0, y: 0, width: width, height: height)
        guard image.pointee.transformFlags & AVIF_TRANSFORM_CLAP.rawValue != 0 else { return whole }
        var rect = avifCropRect()
        var diagnostics = avifDiagnostics()
        let isValid = avifCropRectConvertCleanApertureBox(
            &rect, &image.pointee.clap, width, height, image.pointee.yuvFormat, &diagnostics)
        return isValid == AVIF_TRUE ? rect : whole
    }

    private static func size(_ image: UnsafeMutablePointer<avifImage>) -> PixelSize {
        PixelSize(width: Int(image.pointee.width), height: Int(image.pointee.height))
    }

    /// The rotation, and then the mirroring, that the file asks for (ISO/IEC 23008-12, sections 6.5.10 and 6.5.12).
    private static func orientation(_ image: avifImage) -> Orientation {
        let turns = image.transformFlags & AVIF_TRANSFORM_IROT.rawValue != 0 ? Int(image.irot.angle & 3) : 0
        let mirrors = image.transformFlags & AVIF_TRANSFORM_IMIR.rawValue != 0
        return Orientation(
            counterclockwiseQuarters: turns, mirror: !mirrors ? .none : image.imir.mode == 0 ? .topBottom : .leftRight)
    }

    private static func bytes(_ data: avifRWData, maximum: Int = .max) -> Data? {
        guard let start = data.data, (1...maximum).contains(data.size) else { return nil }
        return Data(bytes: start, count: data.size)
    }

    /// The Exif block. libavif takes the first four bytes for the offset of the TIFF header; where a writer stated none, the header was lost.
    /// Then the place of the first directory comes first, which is 8 as a rule, and shows the byte order.
    private static func exif(_ data: avifRWData) -> Data? {
        guard let item = Self.bytes(data, maximum: ImageMetadata.maximumBlockBytes) else { return nil }
        if item.starts(with: [8, 0, 0, 0]) { return Data("II*\0".utf8) + item }
        if item.starts(with: [0, 0, 0, 8]) { return Data("MM\0*".utf8) + item }
        return item.exifBlock
    }

    // MARK: Pixels

    /// Decodes a frame, and gives its planes; `nil` after the last frame.
    func image(at index: Int, _ context: ProcessingContext) throws(ImageError) -> UnsafeMutablePointer<avifImage>? {
        guard index < info.frameCount else { return nil }
        let result = try decode(index, context)
        if result == AVIF_RESULT_NO_IMAGES_REMAINING { return nil }
        try Self.check(result, decoder, isTruncated: isTruncated)
        guard let image = decoder.pointee.image else { return nil }
        guard Self.size(image) == storedSize else {
            throw .corrupt("the AVIF file states a size of \(storedSize), but its image has a different size")
        }
        return image
    }

    /// Decodes a frame: the next directly, another from the nearest earlier keyframe. A keyframe may be listed that needs others: if
    /// decoding fails that starts with one, it starts again with the first frame, until that fails too.
    private func decode(_ index: Int, _ context: ProcessingContext) throws(ImageError) -> avifResult {
        let next = Int(decoder.pointee.imageIndex) + 1
        let keyframe = Int(avifDecoderNearestKeyframe(decoder, UInt32(index)))
        let jumps = keyframe > next || index < next
        let start = index == lastDecoded ? index : jumps ? keyframe : next
        let result = try decode(start...index, context)
        let isDamaged = result == AVIF_RESULT_DECODE_COLOR_FAILED || result == AVIF_RESULT_DECODE_ALPHA_FAILED
        guard isDamaged, mayStartAgain, keyframe > 0, jumps else { return result }
        mayStartAgain = false
        let again = try decode(0...index, context)
        mayStartAgain = again == AVIF_RESULT_OK
        return again
    }

    /// Decodes frames one after the other. To the next frame, libavif never jumps; to a later one, it goes in a call that can't be canceled.
    private func decode(_ indices: ClosedRange<Int>, _ context: ProcessingContext) throws(ImageError) -> avifResult {
        if samples == nil { samples = try AVIFSamples(UnsafeRawBufferPointer(bytes), description, limits: limits) }
        for index in indices {
            try context.checkCancellation()
            try samples?.checkFrames(of: index)
            lastDecoded = nil
            let result = avifDecoderNthImage(decoder, UInt32(index))
            guard result == AVIF_RESULT_OK else { return result }
            lastDecoded = index
        }
        return AVIF_RESULT_OK
    }

    /// Returns the number of frames that are decoded to reach a frame from elsewhere in the sequence.
    func cost(of index: Int) -> Int {
        index - Int(avifDecoderNearestKeyframe(decoder, UInt32(clamping: max(0, index)))) + 1
    }

    // MARK: Errors

    private static func check(
        _ result: avifResult, _ decoder: UnsafeMutablePointer<avifDecoder>, isTruncated: Bool
    ) throws(ImageError) {
        guard result != AVIF_RESULT_OK else { return }
        let detail = withUnsafeBytes(of: decoder.pointee.diag.error) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        let reason = "libavif: \(String(cString: avifResultToString(result)))\(detail.isEmpty ? "" : ", \(detail)")"
        if detail.contains("imageCountLimit") || detail.contains("dimensions are too large") {
            throw ImageError(.limitExceeded, stage: .decode, reason: "the AVIF file is over a limit (\(reason))")
        }
        switch result {
        case AVIF_RESULT_OUT_OF_MEMORY:
            throw ImageError(.outOfMemory, stage: .decode, reason: "libavif couldn't allocate memory for the image")
        case AVIF_RESULT_TRUNCATED_DATA, AVIF_RESULT_WAITING_ON_IO, AVIF_RESULT_IO_ERROR:
            throw .truncated("the AVIF file ends too early (\(reason))")
        default:
            throw isTruncated
                ? .truncated("the AVIF file ends too early (\(reason))")
                : .corrupt("the AVIF file is damaged (\(reason))")
        }
    }
}

extension AVIFCoder.Decoder {
    fileprivate var codec: avifCodecChoice {
        switch self {
        case .automatic: AVIF_CODEC_CHOICE_AUTO
        case .dav1d: AVIF_CODEC_CHOICE_DAV1D
        case .libgav1: AVIF_CODEC_CHOICE_LIBGAV1
        case .aom: AVIF_CODEC_CHOICE_AOM
        }
    }
}
#endif
