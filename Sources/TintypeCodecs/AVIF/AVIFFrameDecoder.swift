#if AVIF
internal import CAVIF
internal import FoundationEssentials
internal import TintypeImages

/// The frames of an AVIF file, upright and at the requested size.
final class AVIFFrameDecoder: AnimationFrames {
    let properties: Image.Properties
    let info: ImageInfo
    private(set) var isPartial: Bool

    private let reader: AVIFReader
    private let setup: FrameSetup
    private let color: CodedColor
    private let context: ProcessingContext
    private var next = 0
    /// The last frame that was decoded.
    private var shown: PixelBuffer?

    var outputSize: PixelSize { setup.outputSize }

    init(
        _ data: Data, for purpose: FramePurpose, decoder: AVIFCoder.Decoder, options: DecodeOptions,
        context: ProcessingContext
    ) throws(ImageError) {
        reader = try AVIFReader(data, limits: context.limits, decoder: decoder)
        // Frames that are cut off don't play.
        let info = options.allowsPartialImage ? reader.partialInfo : reader.info
        (self.info, isPartial) = (info, info.frameCount < reader.info.frameCount)
        let format = info.pixelFormat(options)
        // The planes of up to two bytes a number, and those that the next frame of a sequence refers to.
        setup = try FrameSetup(
            info, for: purpose, options: options, context: context, format: format, stored: reader.storedSize,
            bitmaps: (info.bitsPerComponent > 8 ? 2 : 1) * (info.isAnimated ? 2 : 1))
        color = CodedColor(
            profile: reader.profile, codePoints: reader.coding.codePoints, isGray: reader.isGray,
            keepsColorSpace: options.keepsColorSpace, format: format, bitsPerComponent: info.bitsPerComponent)
        var properties = info.properties(options)
        properties.colorSpace = color.colorSpace
        self.properties = properties
        self.context = context
    }

    func rewind() throws(ImageError) { try seek(to: 0) }

    /// Moves to a frame. libavif starts at the nearest earlier keyframe.
    func seek(to index: Int) throws(ImageError) {
        next = min(max(0, index), info.frameCount)
        isPartial = info.frameCount < reader.info.frameCount
        shown = nil
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard next < info.frameCount else { return nil }
        try context.checkCancellation()
        let image: UnsafeMutablePointer<avifImage>?
        do throws(ImageError) { image = try reader.image(at: next, context) } catch {
            guard error.isDamage, next > 0, properties.decodeOptions.allowsPartialImage else { throw error }
            isPartial = true
            guard let shown, !reader.endsAtDamage else { return nil }
            // The frame before a damaged frame stays. Those behind it can be decoded again from the next keyframe on.
            defer { next += 1 }
            return ImageFrame(pixels: shown, duration: info.frameDurations[next])
        }
        guard let image else { return nil }
        let pixels = try AVIFPixels(
            image: image, crop: reader.crop, hasAlpha: info.hasAlpha, coding: reader.coding, color: color,
            context: context
        ).convert(to: outputSize, orientation: info.orientation)
        shown = pixels
        defer { next += 1 }
        return ImageFrame(pixels: pixels, duration: info.isAnimated ? info.frameDurations[next] : .zero)
    }
}
#endif
