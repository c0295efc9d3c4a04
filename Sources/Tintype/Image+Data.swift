extension Image {
    /// Decodes bytes of any format, by default upright and in sRGB.
    ///
    /// This initializer works on the calling thread. Use an ``ImageManager`` or a ``WorkQueue`` to keep that off an actor.
    /// - Parameters:
    ///   - data: The encoded image.
    ///   - options: The size, color space and other properties of the decoded image.
    ///   - limits: The limits that the image must not exceed.
    ///   - coders: The coders that may decode the image.
    /// - Throws: An ``ImageError`` of the decode stage.
    public init(
        data: Data, options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        coders: ImageCoders = .default
    ) throws(ImageError) {
        self = try coders.decode(data, options: options, context: DecodeContext(limits: limits))
    }

    /// Decodes a still or animated GIF, and no other format.
    ///
    /// This initializer works on the calling thread.
    /// - Parameters:
    ///   - data: The encoded GIF.
    ///   - options: The size, color space and other properties of the decoded image.
    ///   - limits: The limits that the image must not exceed.
    /// - Throws: An ``ImageError`` with the code `unknownFormat` if the bytes aren't a GIF, or the error of decoding them.
    public init(
        gif data: Data, options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
    ) throws(ImageError) {
        guard data.isEmpty || ImageFormat(sniffing: data) == .gif else {
            let found = ImageFormat(sniffing: data).map { "they are \($0)" } ?? "they are of no known format"
            throw ImageError(.unknownFormat, stage: .decode, reason: "the bytes are no GIF: \(found)")
        }
        self = try ImageCoders([GIFCoder()]).decode(data, options: options, context: DecodeContext(limits: limits))
    }

    /// Encodes the image, with all frames if the format supports animations.
    ///
    /// This function works on the calling thread.
    /// - Parameters:
    ///   - format: The format of the file.
    ///   - options: The quality, size, metadata and other properties of the file.
    ///   - context: The context that can cancel encoding.
    ///   - coders: The coders that may encode the image.
    /// - Returns: The bytes of the file.
    /// - Throws: An ``ImageError`` of the encode stage.
    public func encoded(
        as format: ImageFormat, options: EncodeOptions = EncodeOptions(), context: EncodeContext = EncodeContext(),
        coders: ImageCoders = .default
    ) throws(ImageError) -> Data {
        try coders.encode(self, as: format, options: options, context: context)
    }
}

extension ImageInfo {
    /// Reads the header of an image without decoding its pixels.
    /// - Parameters:
    ///   - data: The encoded image, or the beginning of it.
    ///   - limits: The limits that the image must not exceed.
    ///   - coders: The coders that may read the header.
    /// - Throws: An ``ImageError`` with the code `truncatedImage` if more bytes are needed, or another error of the decode stage.
    public init(data: Data, limits: DecodeLimits = DecodeLimits(), coders: ImageCoders = .default) throws(ImageError) {
        self = try coders.info(of: data, context: DecodeContext(limits: limits))
    }
}
