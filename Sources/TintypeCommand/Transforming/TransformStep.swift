internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// A change of an image, as the command line names it.
enum TransformStep: Sendable {
    struct Border: Sendable, Equatable {
        var width: Double
        var color: PixelColor
    }

    case transformer(ImageTransformers)
    /// A resize that preserves the proportions, which the decoder does if it's the first step.
    case fit(PixelSize)
    case rounded(radius: Double, border: Border?)
    case circle(border: Border?)
    case border(Border)
    case overlay(file: String, anchor: ImageAnchor, opacity: Double)

    /// The step with a border along its shape; `nil` if it has none, or has a border already.
    func with(_ border: Border) -> TransformStep? {
        switch self {
        case .rounded(let radius, nil): .rounded(radius: radius, border: border)
        case .circle(nil): .circle(border: border)
        default: nil
        }
    }

    /// Returns the transformer for the step.
    /// - Parameter coders: the coders for the file of an overlay.
    /// - Throws: an error that names the file of an overlay that can't be read.
    func transformer(coders: ImageCoders) throws(ImageError) -> ImageTransformers {
        switch self {
        case .transformer(let transformer): return transformer
        case .fit(let box):
            func side(_ length: Int) -> Int? { length == SizeArgument.openSide ? nil : length }
            return .resize(width: side(box.width), height: side(box.height))
        case .rounded(let radius, let border):
            return .rounded(
                radius: radius, borderWidth: border?.width ?? 0, borderColor: border?.color ?? .black)
        case .circle(let border): return .circle(borderWidth: border?.width ?? 0, borderColor: border?.color ?? .black)
        case .border(let border): return .rounded(radius: 0, borderWidth: border.width, borderColor: border.color)
        case .overlay(let file, let anchor, let opacity):
            do throws(ImageError) {
                let data = try InputFile.contents(of: file)
                let options = DecodeOptions(firstFrameOnly: true, formatHint: ImageFormat.hint(fileName: file))
                let context = ProcessingContext(isCancelled: { Task.isCancelled })
                let image = try coders.decode(data, options: options, context: context)
                return .overlay(image, anchor: anchor, opacity: opacity)
            } catch {
                throw error.withSource(file)
            }
        }
    }
}

extension [TransformStep] {
    /// The options for decoding an image, and the transformer for the remaining steps; `nil` if that is nothing.
    ///
    /// The decoder resizes if that is the first step, and otherwise decodes no more than the first step needs.
    func applied(to options: inout DecodeOptions, coders: ImageCoders) throws(ImageError) -> ImageTransformers? {
        var steps = self[...]
        if case .fit(let box) = steps.first {
            steps.removeFirst()
            options.thumbnailSize = box
            options.allowsUpscaling = true
        }
        guard let transformer = try steps.transformer(coders: coders) else { return nil }
        if options.thumbnailSize == nil, let size = transformer.suggestedDecodeSize {
            options.thumbnailSize = size
            options.coversThumbnailSize = true
        }
        return transformer
    }
}

extension Collection<TransformStep> {
    /// Returns the transformer for all steps; `nil` without any.
    /// - Parameter coders: the coders for files of overlays.
    func transformer(coders: ImageCoders) throws(ImageError) -> ImageTransformers? {
        var transformers: [any ImageTransformer] = []
        for step in self { transformers.append(try step.transformer(coders: coders)) }
        return transformers.isEmpty ? nil : ImageTransformers(transformers)
    }
}
