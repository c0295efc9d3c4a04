internal import CWebP
internal import FoundationEssentials
internal import TintypeImages

/// The chunks of a WebP file: everything but the pixels, which stay where they are in the bytes.
///
/// Source: "WebP Container Specification"; the chunks are read by libwebpdemux.
struct WebPContainer: Sendable {
    struct Frame: Sendable, Equatable {
        var rect: PixelRect
        /// The bytes of the frame's own image.
        var payload: Range<Int>
        var duration: Duration
        var hasAlpha: Bool
        /// True if the pixels may have alpha all the same. In lossless WebP the header's word is a hint ("WebP Lossless Bitstream
        /// Specification", alpha_is_used), which is taken for true, as browsers do.
        var hidesAlpha: Bool
        /// True if the frame is blended over the canvas, false if it replaces its part.
        var blends: Bool
        /// True if the frame's area becomes transparent before the next frame is drawn.
        var clearsAfterwards: Bool
        /// False if the bytes end before the pixels do.
        var isComplete: Bool
    }

    private(set) var canvas: PixelSize
    private(set) var frames: [Frame] = []
    private(set) var isAnimated = false
    private(set) var loopCount = 0
    private(set) var hasAlpha: Bool
    /// The ICC profile as it stands in the file.
    private(set) var profile: Data?
    private(set) var metadata = ImageMetadata()
    private(set) var orientation = Orientation.up
    /// True if the header announces Exif or XMP, which follow the pixels.
    let announcesMetadata: Bool
    /// True if the header announces a profile that hasn't come. It should precede the pixels, but may follow them.
    var awaitsProfile: Bool { announcesProfile && profile == nil && !isComplete }
    private let announcesProfile: Bool
    /// False if the bytes end before the file does.
    private(set) var isComplete: Bool

    init(_ data: Data, limits: DecodeLimits) throws(ImageError) {
        self = try data.withBytes { bytes throws(ImageError) in try Self(bytes, limits: limits) }
    }

    /// Reads the chunks of a file, or of its start.
    /// - Throws: ``ImageError/Code/truncatedImage`` if not even the size can be known,
    ///   ``ImageError/Code/corruptImage``, and ``ImageError/Code/limitExceeded``.
    init(_ bytes: UnsafeRawBufferPointer, limits: DecodeLimits) throws(ImageError) {
        try WebPFrameWalk.checkCounts(bytes, limits)
        var data = WebPData(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
        var state = WEBP_DEMUX_PARSING_HEADER
        guard let demuxer = WebPDemuxPartial(&data, &state) else {
            // libwebp gives nothing for a header that is not complete; only the bytes tell the error.
            if state == WEBP_DEMUX_PARSING_HEADER { throw .truncated("the WebP file ends in its header") }
            throw .corrupt("the chunks of the WebP file are damaged")
        }
        defer { WebPDemuxDelete(demuxer) }
        let flags = WebPDemuxGetI(demuxer, WEBP_FF_FORMAT_FLAGS)
        canvas = PixelSize(
            width: Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH)),
            height: Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT)))
        isComplete = state == WEBP_DEMUX_DONE
        announcesMetadata = flags & (EXIF_FLAG.rawValue | XMP_FLAG.rawValue) != 0
        announcesProfile = flags & ICCP_FLAG.rawValue != 0
        hasAlpha = flags & ALPHA_FLAG.rawValue != 0
        isAnimated = flags & ANIMATION_FLAG.rawValue != 0
        loopCount = isAnimated ? Int(WebPDemuxGetI(demuxer, WEBP_FF_LOOP_COUNT)) : 0
        // The size is -1, as an unsigned number, until the image's own header is there.
        guard !canvas.isEmpty, max(canvas.width, canvas.height) <= 1 << 24 else {
            throw .truncated("the WebP file ends in its header")
        }
        if isAnimated {
            frames = try WebPFrameWalk.frames(bytes, count: Int(WebPDemuxGetI(demuxer, WEBP_FF_FRAME_COUNT)))
        } else if let base = bytes.baseAddress {
            readImage(demuxer, base)
        }
        if frames.contains(where: \.hasAlpha) { hasAlpha = true }
        if frames.isEmpty, isComplete { throw .corrupt("the WebP file has no image") }
        profile = Self.chunk("ICCP", demuxer)
        metadata.xmp = Self.chunk("XMP ", demuxer, maximumBytes: ImageMetadata.maximumBlockBytes)
        metadata.exif = Self.chunk("EXIF", demuxer, maximumBytes: ImageMetadata.maximumBlockBytes)?.exifBlock
        orientation = Orientation(exif: metadata.exif, xmp: metadata.xmp)
    }

    /// Reads the only image of a file without animation.
    private mutating func readImage(_ demuxer: OpaquePointer, _ base: UnsafeRawPointer) {
        var iterator = WebPIterator()
        guard WebPDemuxGetFrame(demuxer, 1, &iterator) != 0 else { return }
        defer { WebPDemuxReleaseIterator(&iterator) }
        guard let payload = iterator.fragment.bytes else { return }
        let start = UnsafeRawPointer(payload) - base
        let size = PixelSize(width: Int(iterator.width), height: Int(iterator.height))
        frames.append(
            Frame(
                rect: PixelRect(x: Int(iterator.x_offset), y: Int(iterator.y_offset), size: size),
                payload: start..<start + iterator.fragment.size, duration: .milliseconds(Int(iterator.duration)),
                hasAlpha: iterator.has_alpha != 0,
                hidesAlpha: iterator.has_alpha == 0 && !Self.isLossy(payload, iterator.fragment.size),
                blends: iterator.blend_method == WEBP_MUX_BLEND,
                clearsAfterwards: iterator.dispose_method == WEBP_MUX_DISPOSE_BACKGROUND,
                isComplete: iterator.complete != 0))
    }

    private static func isLossy(_ payload: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        var features = WebPBitstreamFeatures()
        return WebPGetFeatures(payload, count, &features) == VP8_STATUS_OK && features.format == lossy
    }

    /// `WebPBitstreamFeatures.format` of VP8.
    static let lossy: Int32 = 1

    private static func chunk(_ name: String, _ demuxer: OpaquePointer, maximumBytes: Int = .max) -> Data? {
        var iterator = WebPChunkIterator()
        guard WebPDemuxGetChunk(demuxer, name, 1, &iterator) != 0 else { return nil }
        defer { WebPDemuxReleaseChunkIterator(&iterator) }
        guard let bytes = iterator.chunk.bytes, (1...maximumBytes).contains(iterator.chunk.size)
        else { return nil }
        return Data(bytes: bytes, count: iterator.chunk.size)
    }
}

extension WebPContainer {
    /// True if the end of the file, or of a frame, is missing.
    var isTruncated: Bool { !isComplete || frames.contains { !$0.isComplete } }

    /// True if nothing that was drawn before a frame shows in it or in later frames.
    func isKeyframe(_ index: Int) -> Bool {
        guard index > 0 else { return true }
        let before = frames[index - 1]
        if before.clearsAfterwards, before.rect.covers(canvas) { return true }
        let frame = frames[index]
        return frame.rect.covers(canvas) && !(frame.blends && frame.hasAlpha)
    }

    /// True if parts of the canvas can be transparent even if no frame's pixels are.
    private var showsGaps: Bool {
        var gaps = CanvasGaps(canvas: canvas)
        for frame in frames {
            gaps.add(frame.rect, isOpaque: true, disposal: frame.clearsAfterwards ? .clear : .keep)
        }
        return gaps.isSeen
    }

    func properties(_ options: DecodeOptions, colorSpace: ColorSpace) -> Image.Properties {
        var properties = info.properties(options)
        properties.colorSpace = colorSpace
        return properties
    }

    var info: ImageInfo {
        let isAnimated = frames.count > 1
        var info = ImageInfo(
            format: .webp, size: canvas, orientation: orientation, frameCount: max(1, frames.count),
            loopCount: isAnimated ? loopCount : nil,
            frameDurations: isAnimated ? frames.map { FrameTiming.played($0.duration) } : [],
            hasAlpha: hasAlpha || showsGaps,
            colorProfile: profile.flatMap(ColorConversion.name(of:)), isComplete: isComplete)
        info.metadata = metadata
        return info
    }
}
