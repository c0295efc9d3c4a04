internal import TintypeImages

/// The purpose of decoding frames, which determines the required memory.
enum FramePurpose {
    /// The first frame becomes an image.
    case first
    /// They are given in order on request, and belong to the caller.
    case streaming
    /// The same, of a file whose end may be missing.
    case arriving

    /// True if the end of the file may be missing.
    func allowsPart(_ options: DecodeOptions) -> Bool { self == .arriving || options.allowsPartialImage }
}

/// The settings that the frame decoders of all formats make before the first frame: the size, the limits and the memory.
struct FrameSetup {
    let options: DecodeOptions
    let context: ProcessingContext
    /// The size of the frames, upright.
    let outputSize: PixelSize
    /// The format that frames are decoded to.
    private let format: PixelFormat
    /// Held as long as the decoder.
    private let reservation: DecodeReservation?

    /// Compares the header with the limits and reserves the memory.
    /// - Parameters:
    ///   - format: the format of the decoded frames.
    ///   - stored: the size that is decoded, if only a part of that is shown.
    ///   - bitmaps: the number of pictures of the source's size, with four bytes per pixel, that decoding needs at once.
    ///   - working: the number of bytes that decoding needs besides.
    init(
        _ info: ImageInfo, for purpose: FramePurpose, options: DecodeOptions, context: ProcessingContext,
        format: PixelFormat = .rgba8, stored: PixelSize? = nil, bitmaps: Int, working: Int = 0
    ) throws(ImageError) {
        self.format = format
        self.options = options
        self.context = context
        outputSize = info.outputSize(options, format: format)
        try info.check(context.limits, output: outputSize, keptFrames: 1, format: format)
        try Self.checkCanvas(info, stored: stored ?? info.size, bitmaps: bitmaps, context.limits)
        guard working <= context.limits.maximumBytes.bytes else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "decoding a frame takes \(ByteCount(working)), over the limit of \(context.limits.maximumBytes)"
            )
        }
        guard purpose == .first else {
            reservation = nil
            return
        }
        // A frame is turned, or brought to its size, in a buffer beside the buffer that is kept.
        reservation = try context.reserve(
            output: outputSize, format: format, isCopied: true, source: stored ?? info.size,
            bitmaps: bitmaps, working: working > 0 ? [working] : [])
    }

    /// Refuses an animation whose canvas takes too much, however small its frames are, or the part that is shown: each of them costs the
    /// whole canvas.
    private static func checkCanvas(
        _ info: ImageInfo, stored: PixelSize, bitmaps: Int, _ limits: DecodeLimits
    ) throws(ImageError) {
        guard info.isAnimated else { return }
        // Frames that are shown whole are decoded when they are due.
        let (pixels, isTooMuch) = stored.pixelCount.multipliedReportingOverflow(by: info.frameCount)
        guard stored.pixelCount <= 4 * info.size.pixelCount || !isTooMuch && pixels <= limits.maximumAnimationPixels
        else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason:
                    "the animation has \(info.frameCount) frames of \(stored) pixels, of which it shows \(info.size), "
                    + "over the limit of \(limits.maximumAnimationPixels) pixels in total")
        }
        let (bytes, overflow) = stored.pixelCount.multipliedReportingOverflow(by: 4 * bitmaps)
        guard !overflow, bytes <= limits.maximumBytes.bytes else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "decoding the animation's canvas of \(stored) pixels takes more than the limit of "
                    + "\(limits.maximumBytes)")
        }
    }

    /// Compares the facts about a file with the limits again, now that more of it is there.
    func check(_ info: ImageInfo) throws(ImageError) {
        try info.check(context.limits, output: outputSize, keptFrames: 1, format: format)
    }
}
