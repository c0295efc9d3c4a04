#if HEIF
internal import FoundationEssentials
internal import TintypeCore

/// Decodes a HEIF file whose bytes come bit by bit: of a sequence, the frames that are whole.
final class HEIFProgressiveDecoder: ProgressiveDecoder {
    private let options: DecodeOptions
    private let context: DecodeContext
    private var data = Data()
    private var frames: ProgressiveFrames

    init(options: DecodeOptions, context: DecodeContext) {
        self.options = options
        self.context = context
        frames = ProgressiveFrames(options: options) { data, options throws(ImageError) in
            guard let sequence = try HEIFSequence(fileOf: data, limits: context.limits) else {
                throw .truncated("no frame of the sequence is there yet")
            }
            return try HEIFFrameDecoder(
                data, sequence: sequence, options: options, context: context, keepsFrames: !options.firstFrameOnly)
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
        return try HEIFCoder().decode(data, options: options, context: context)
    }
}
#endif
