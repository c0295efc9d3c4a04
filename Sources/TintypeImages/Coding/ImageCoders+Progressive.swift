internal import FoundationEssentials

extension ImageCoders: ProgressiveImageCoder {
    /// Returns a decoder that chooses a coder once the first bytes reveal the format. If that coder isn't progressive,
    /// previews are unavailable, but the image is still decoded.
    /// - Parameters:
    ///   - options: the options for decoding.
    ///   - context: the limits and the memory of the call, and its cancellation.
    /// - Throws: the errors of the coder.
    public func progressiveDecoder(
        options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ProgressiveDecoder {
        ChoosingDecoder(coders: self, options: options, context: context)
    }
}

/// Waits for the first bytes, and then delegates to the coder of their format.
///
/// If a coder fails on the way, only the previews are lost, not the image: at the end, all coders are tried again.
private final class ChoosingDecoder: ProgressiveDecoder {
    private let coders: ImageCoders
    private let options: DecodeOptions
    private let context: ProcessingContext
    private var data = Data()
    private var decoder: (any ProgressiveDecoder)?
    private var hasChosen = false

    /// The number of bytes that suffice to recognize every known format: see ``ImageFormat``.
    private static let longestBeginning = 4_096

    init(coders: ImageCoders, options: DecodeOptions, context: ProcessingContext) {
        self.coders = coders
        self.options = options
        self.context = context
    }

    func append(_ chunk: Data) throws(ImageError) {
        data.append(chunk)
        try take { decoder throws(ImageError) in try decoder.append(chunk) }
    }

    func append(_ chunk: Data, of data: Data) throws(ImageError) {
        self.data = data
        try take { decoder throws(ImageError) in try decoder.append(chunk, of: data) }
    }

    /// Chooses the coder, or appends the next bytes to its decoder.
    private func take(_ append: (any ProgressiveDecoder) throws(ImageError) -> Void) throws(ImageError) {
        if hasChosen { return try attempt(append) }
        // Formats that the core doesn't know are recognized by their coders.
        let format = options.formatHint ?? ImageFormat(sniffing: data)
        let coder = coders.coders.last { $0.canDecode(data, format: format) }
        hasChosen = coder != nil || data.count > Self.longestBeginning
        guard let coder = coder as? any ProgressiveImageCoder else { return }
        decoder = try coder.progressiveDecoder(options: options, context: context)
        try attempt { decoder throws(ImageError) in try decoder.append(data, of: data) }
    }

    func preview() throws(ImageError) -> Image? {
        var preview: Image?
        try attempt { decoder throws(ImageError) in preview = try decoder.preview() }
        return preview
    }

    func finish() throws(ImageError) -> Image {
        var image: Image?
        try attempt { decoder throws(ImageError) in image = try decoder.finish() }
        if let image { return image }
        return try coders.decode(data, options: options, context: context)
    }

    /// Runs a step, and discards the decoder if it fails.
    private func attempt(_ work: (any ProgressiveDecoder) throws(ImageError) -> Void) throws(ImageError) {
        guard let decoder else { return }
        do throws(ImageError) { try work(decoder) } catch {
            self.decoder = nil
            if error.isCancellation { throw error }
        }
    }
}
