#if AVIF
internal import CAVIF
internal import FoundationEssentials
internal import TintypeCore

/// The frames of an AVIF file, upright and at the size that is wanted.
final class AVIFFrameDecoder: AnimationFrames {
    let outputSize: PixelSize
    let properties: Image.Properties
    private(set) var isPartial = false

    private let reader: AVIFReader
    private let color: CodedColor
    private let context: DecodeContext
    private var next = 0

    var info: ImageInfo { reader.info }

    /// - Parameter keepsFrames: whether all frames will be in memory at once, which the limits are to count.
    init(_ data: Data, options: DecodeOptions, context: DecodeContext, keepsFrames: Bool) throws(ImageError) {
        reader = try AVIFReader(data, limits: context.limits, readsMetadata: true)
        let info = reader.info
        let format = info.pixelFormat(options)
        outputSize = info.outputSize(options, format: format)
        try info.check(
            context.limits, output: outputSize, keptFrames: keepsFrames ? info.frameCount : 1, format: format)
        color = CodedColor(
            profile: reader.profile, codePoints: reader.codePoints, isGray: false,
            keepsColorSpace: options.keepsColorSpace, format: format)
        var properties = info.properties(options)
        properties.colorSpace = color.colorSpace
        properties.metadata = reader.metadata
        self.properties = properties
        self.context = context
    }

    func rewind() throws(ImageError) {
        try reader.rewind()
        next = 0
        isPartial = false
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard next < info.frameCount else { return nil }
        try context.checkCancellation()
        let image: UnsafeMutablePointer<avifImage>?
        do throws(ImageError) { image = try reader.nextImage() } catch {
            // The frames of a sequence before the one that is cut are whole.
            guard error.code == .truncatedImage, next > 0, properties.decodeOptions.allowsPartialImage else {
                throw error
            }
            isPartial = true
            return nil
        }
        guard let image else { return nil }
        let pixels = try AVIFPixels(image: image, crop: reader.crop, color: color, context: context)
            .convert(to: outputSize, orientation: info.orientation)
        defer { next += 1 }
        return ImageFrame(pixels: pixels, duration: info.isAnimated ? info.frameDurations[next] : .zero)
    }
}
#endif
