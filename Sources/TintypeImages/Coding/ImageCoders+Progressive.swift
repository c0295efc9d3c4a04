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

/// Delegates to the coder of the format that the first bytes have, as ``ImageCoders`` would choose it for all bytes.
///
/// Until the signature is there, a hint or a coder of any bytes decides. The signature then chooses again.
/// If a coder fails on the way, only the previews are lost, not the image: at the end, all coders are tried again.
private final class ChoosingDecoder: ProgressiveDecoder {
    private let coders: ImageCoders
    private let options: DecodeOptions
    private let context: ProcessingContext
    private var data = Data()
    private var decoder: (any ProgressiveDecoder)?
    private var hasChosen = false
    /// The format that the coder was chosen for.
    private var format: ImageFormat?
    /// The number of bytes that the format was recognized from.
    private var examined = 0
    private var isFinished = false

    init(coders: ImageCoders, options: DecodeOptions, context: ProcessingContext) {
        self.coders = coders
        self.options = options
        self.context = context
    }

    func append(_ chunk: Data) throws(ImageError) {
        guard !isFinished else { return }
        data.append(chunk)
        try take { decoder throws(ImageError) in try decoder.append(chunk) }
    }

    func append(_ chunk: Data, of data: Data) throws(ImageError) {
        guard !isFinished else { return }
        self.data = data
        try take { decoder throws(ImageError) in try decoder.append(chunk, of: data) }
    }

    /// Chooses the coder, or appends the next bytes to its decoder.
    private func take(_ append: (any ProgressiveDecoder) throws(ImageError) -> Void) throws(ImageError) {
        guard examined < ImageFormat.sniffedBytes else { return try attempt(append) }
        examined = data.count
        let formats = ImageCoders.formats(of: data, hint: options.formatHint)
        let likeliest =
            formats.first { format in coders.coders.contains { $0.canDecode(data, format: format) } } ?? formats[0]
        if hasChosen, format == likeliest { return try attempt(append) }
        // Formats that the core doesn't know are recognized by their coders.
        let coder = coders.coders.last { $0.canDecode(data, format: likeliest) }
        (hasChosen, format, decoder) = (coder != nil, likeliest, nil)
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
        isFinished = true
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
