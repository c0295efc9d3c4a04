public import FoundationEssentials

extension Image {
    /// Decodes bytes of any format, by default upright and in sRGB.
    ///
    /// This initializer works on the calling thread. Use an ``ImageManager`` or a ``WorkQueue`` to keep that off an actor.
    ///
    /// ```swift
    /// let picture = try Image(data: data, options: DecodeOptions(thumbnailSize: PixelSize(width: 400, height: 300)))
    /// ```
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
        self = try coders.decode(data, options: options, context: ProcessingContext(limits: limits))
    }

    /// Decodes a local file of any format, upright and in sRGB unless the options say otherwise.
    ///
    /// Reads and decodes on the calling thread; use an ``ImageManager`` to keep this off an actor. The file name supplies options that
    /// aren't set: the format of a camera file, and the scale of `@2x`.
    /// - Parameters:
    ///   - url: the `file:` URL of the image.
    ///   - options: the options to decode with.
    ///   - limits: the limits on the image.
    ///   - coders: the coders to decode with.
    /// - Throws: ``ImageError/Code/fileUnreadable`` if the URL doesn't lead to a readable file, ``ImageError/Code/bodyTooLarge`` for a file
    ///   of over 200 MB, ``ImageError/Code/invalidURL`` for a URL that isn't a `file:` URL, and errors of the stage
    ///   ``ImageError/Stage/decode``.
    public init(
        contentsOf url: URL, options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        coders: ImageCoders = .default
    ) throws(ImageError) {
        self = try FileLoader.withContents(of: url) { data throws(ImageError) in
            let options = options.completed(fileName: url.lastPathComponent)
            return try coders.decode(data, options: options, context: ProcessingContext(limits: limits))
        }
    }

    /// Decodes a GIF, still or animated, and no other format.
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
            let found = ImageFormat(sniffing: data).map { "it is \($0)" } ?? "its format is unknown"
            throw ImageError(.unknownFormat, stage: .decode, reason: "the data isn't a GIF: \(found)")
        }
        self = try ImageCoders([GIFCoder()]).decode(data, options: options, context: ProcessingContext(limits: limits))
    }

    /// Encodes the image, with all frames if the format supports animations.
    ///
    /// An image that already has the format is encoded again with the options, for example without its metadata. ``AnimatedImage/data`` has
    /// the original bytes of an animation. This function works on the calling thread.
    ///
    /// ```swift
    /// let webp = try image.encoded(as: .webp, options: EncodeOptions(quality: 0.8))
    /// ```
    /// - Parameters:
    ///   - format: The format of the file.
    ///   - options: The quality, size, metadata and other properties of the file.
    ///   - context: The context that can cancel encoding.
    ///   - coders: The coders that may encode the image.
    /// - Returns: The bytes of the file.
    /// - Throws: An ``ImageError`` of the encode stage.
    public func encoded(
        as format: ImageFormat, options: EncodeOptions = EncodeOptions(),
        context: ProcessingContext = ProcessingContext(),
        coders: ImageCoders = .default
    ) throws(ImageError) -> Data {
        try coders.encode(self, as: format, options: options, context: context)
    }

    /// Encodes the image in its own format, with all frames if the format supports animations.
    ///
    /// If the image has no format, or its format can't be written or can't hold the image any longer, the format is chosen as for a cache:
    /// WebP for an animation, PNG for alpha or more than 8 bits, and JPEG otherwise. This function works on the calling thread.
    /// - Parameters:
    ///   - options: The quality, size, metadata and other properties of the file.
    ///   - context: The context that can cancel encoding.
    ///   - coders: The coders that may encode the image.
    /// - Returns: The bytes of the file, and their format.
    /// - Throws: An ``ImageError`` of the encode stage.
    public func encoded(
        options: EncodeOptions = EncodeOptions(), context: ProcessingContext = ProcessingContext(),
        coders: ImageCoders = .default
    ) throws(ImageError) -> (data: Data, format: ImageFormat) {
        let format = EntryCoder.storageFormat(for: self, encodable: coders.encodableFormats)
        return (try coders.encode(self, as: format, options: options, context: context), format)
    }
}

extension ImageInfo {
    /// Reads the header of an image without decoding its pixels.
    ///
    /// ```swift
    /// let info = try ImageInfo(data: data)  // the first kilobytes of a file suffice
    /// print(info.format, info.displaySize, info.frameCount)
    /// ```
    /// - Parameters:
    ///   - data: The encoded image, or the start of it.
    ///   - limits: The limits that the image must not exceed.
    ///   - coders: The coders that may read the header.
    /// - Throws: An ``ImageError`` with the code `truncatedImage` if more bytes are needed, or another error of the decode stage.
    public init(data: Data, limits: DecodeLimits = DecodeLimits(), coders: ImageCoders = .default) throws(ImageError) {
        self = try coders.info(of: data, context: ProcessingContext(limits: limits))
    }

    /// Reads the header of a local file without decoding its pixels.
    ///
    /// Reads the whole file on the calling thread, because metadata, gain maps, and the frames of an animation may be at its end. The file
    /// name identifies the format of a camera file.
    ///
    /// ```swift
    /// let header = try ImageInfo(contentsOf: fileURL)
    /// ```
    /// - Parameters:
    ///   - url: The `file:` URL of the image.
    ///   - limits: The limits that the image must not exceed.
    ///   - coders: The coders that may read the header.
    /// - Throws: ``ImageError/Code/fileUnreadable`` if the URL doesn't lead to a readable file, ``ImageError/Code/bodyTooLarge`` for a file
    ///   of over 200 MB, ``ImageError/Code/invalidURL`` for a URL that isn't a `file:` URL, and errors of the stage
    ///   ``ImageError/Stage/decode``.
    public init(
        contentsOf url: URL, limits: DecodeLimits = DecodeLimits(), coders: ImageCoders = .default
    ) throws(ImageError) {
        self = try FileLoader.withContents(of: url) { data throws(ImageError) in
            let hint = ImageFormat.hint(fileName: url.lastPathComponent)
            return try coders.info(of: data, hint: hint, context: ProcessingContext(limits: limits))
        }
    }
}
