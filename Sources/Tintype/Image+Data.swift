public import FoundationEssentials

extension Image {
    /// Decodes bytes of any format, upright and in sRGB unless the options say otherwise. No network is touched.
    ///
    /// Decodes on the calling thread; use an ``ImageManager`` or a ``WorkQueue`` to keep it off an actor.
    /// - Throws: ``ImageError`` of the stage ``ImageError/Stage/decode``.
    public init(
        data: Data, options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        coders: ImageCoders = .default
    ) throws(ImageError) {
        self = try coders.decode(data, options: options, context: DecodeContext(limits: limits))
    }

    /// Decodes a local file of any format, upright and in sRGB unless the options say otherwise.
    ///
    /// Reads and decodes on the calling thread; use an ``ImageManager`` to keep it off an actor. The file's name tells what the bytes
    /// leave open: a camera file's format, and the scale of `@2x`.
    /// - Parameters:
    ///   - url: the `file:` URL of the image.
    ///   - options: the options to decode with.
    ///   - limits: the limits on the image.
    ///   - coders: the coders to decode with.
    /// - Throws: ``ImageError/Code/fileUnreadable`` for a file that cannot be read, ``ImageError/Code/invalidURL`` for a URL that is not a
    ///   file's, and ``ImageError`` of the stage ``ImageError/Stage/decode``.
    public init(
        contentsOf url: URL, options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        coders: ImageCoders = .default
    ) throws(ImageError) {
        guard url.isFileURL else {
            throw ImageError(
                .invalidURL, stage: .load, source: url.absoluteString,
                reason: "not the URL of a local file; load it with an ImageManager")
        }
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw ImageError(
                .fileUnreadable, stage: .load, source: url.path, reason: "the file cannot be read: \(error)",
                underlying: error)
        }
        do throws(ImageError) {
            let options = options.completed(fileName: url.lastPathComponent)
            self = try coders.decode(data, options: options, context: DecodeContext(limits: limits))
        } catch {
            throw error.concerning(url.path)
        }
    }

    /// Decodes a GIF, still or moving, and nothing else.
    ///
    /// Decodes on the calling thread.
    /// - Throws: ``ImageError/Code/unknownFormat`` for bytes that are no GIF, whatever else they are, and what is wrong with
    ///   those that are.
    public init(
        gif data: Data, options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
    ) throws(ImageError) {
        guard data.isEmpty || ImageFormat(sniffing: data) == .gif else {
            let found = ImageFormat(sniffing: data).map { "they are \($0)" } ?? "they are of no known format"
            throw ImageError(.unknownFormat, stage: .decode, reason: "the bytes are no GIF: \(found)")
        }
        self = try ImageCoders([GIFCoder()]).decode(data, options: options, context: DecodeContext(limits: limits))
    }

    /// The image in another format; all frames where the format has them.
    ///
    /// Encodes on the calling thread.
    /// - Parameter context: says when nobody wants the file any more.
    /// - Throws: ``ImageError`` of the stage ``ImageError/Stage/encode``.
    public func encoded(
        as format: ImageFormat, options: EncodeOptions = EncodeOptions(), context: EncodeContext = EncodeContext(),
        coders: ImageCoders = .default
    ) throws(ImageError) -> Data {
        try coders.encode(self, as: format, options: options, context: context)
    }
}

extension ImageInfo {
    /// What the header of an image says. Nothing is decoded; the bytes may be the beginning of a file.
    /// - Throws: ``ImageError/Code/truncatedImage`` if more bytes are needed, and what else is wrong with them.
    public init(data: Data, limits: DecodeLimits = DecodeLimits(), coders: ImageCoders = .default) throws(ImageError) {
        self = try coders.info(of: data, context: DecodeContext(limits: limits))
    }
}
