internal import FoundationEssentials
internal import TintypeImages

/// Decodes the first frame of an image while its bytes arrive.
final class ProgressiveFramesDecoder: ProgressiveDecoder {
    private let coder: any AnimatedImageCoder
    private let options: DecodeOptions
    private let context: ProcessingContext
    private var data = Data()
    private var frames: ProgressiveFrames

    /// - Parameters:
    ///   - coder: decodes the whole image if that isn't possible while it arrives.
    ///   - open: makes the decoder of the frames, with options that allow an image to be partial.
    init(
        _ coder: any AnimatedImageCoder, options: DecodeOptions, context: ProcessingContext,
        open: @escaping (Data, DecodeOptions) throws(ImageError) -> any ArrivingFrames
    ) {
        self.coder = coder
        self.options = options
        self.context = context
        frames = ProgressiveFrames(coder, options: options, context: context, open: open)
    }

    func append(_ chunk: Data) { data.append(chunk) }

    func append(_ chunk: Data, of data: Data) { self.data = data }

    func preview() throws(ImageError) -> Image? { try frames.preview(data) }

    func finish() throws(ImageError) -> Image {
        do throws(ImageError) {
            if let image = try frames.finish(data) { return image }
        } catch {
            if error.isCancellation { throw error }
        }
        return try coder.decode(data, options: options, context: context)
    }
}
