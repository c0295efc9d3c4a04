internal import FoundationEssentials
internal import TintypeCore

/// Decodes a GIF whose bytes come bit by bit: the frames that are whole.
final class GIFProgressiveDecoder: ProgressiveDecoder {
    private let options: DecodeOptions
    private let context: DecodeContext
    private var data = Data()
    private var frames: ProgressiveFrames

    init(options: DecodeOptions, context: DecodeContext) {
        self.options = options
        self.context = context
        frames = ProgressiveFrames(options: options) { data, options throws(ImageError) in
            try GIFFrameDecoder(data, options: options, context: context, keepsFrames: !options.firstFrameOnly)
        }
    }

    func append(_ chunk: Data) { data.append(chunk) }

    func preview() throws(ImageError) -> Image? { try frames.preview(data) }

    func finish() throws(ImageError) -> Image {
        do throws(ImageError) {
            if let image = try frames.finish(data) { return image }
        } catch {
            if error.isCancellation { throw error }
        }
        return try GIFCoder().decode(data, options: options, context: context)
    }
}
