public import FoundationEssentials

/// Reads, and perhaps writes, one or more formats.
///
/// A coder is a value without state; its methods are called on the threads of a pool, several at once. Bytes come from
/// outside and may be anything: a coder compares the header with the limits before it takes memory, and answers with a
/// typed error, never with half an image that is not marked ``Image/isPartial``.
public protocol ImageCoder: Sendable {
    /// The formats that the coder reads.
    var decodableFormats: Set<ImageFormat> { get }
    /// The formats that the coder writes.
    var encodableFormats: Set<ImageFormat> { get }

    /// Whether the coder can read the bytes.
    /// - Parameter format: what the bytes were recognised as, or the caller's hint.
    func canDecode(_ data: Data, format: ImageFormat?) -> Bool

    /// What the header says. The bytes may be the beginning of a file.
    /// - Throws: ``ImageError/Code/truncatedImage`` if the header is not complete: more bytes may help.
    func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo

    /// Decodes an image at the size that the options ask for, upright.
    /// - Throws: ``ImageError``, without a source; the caller adds it.
    func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image

    /// Writes an image, or all frames of an animation where the format has them.
    /// - Throws: ``ImageError``, without a source; the caller adds it.
    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: EncodeContext
    ) throws(ImageError) -> Data
}

extension ImageCoder {
    public var encodableFormats: Set<ImageFormat> { [] }

    public func canDecode(_ data: Data, format: ImageFormat?) -> Bool {
        format.map(decodableFormats.contains) ?? false
    }

    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: EncodeContext
    ) throws(ImageError) -> Data {
        throw ImageError(.formatNotEncodable, stage: .encode, reason: "\(Self.self) does not write \(format)")
    }

    /// Writes an image that nobody will give up waiting for.
    public func encode(_ image: Image, as format: ImageFormat, options: EncodeOptions) throws(ImageError) -> Data {
        try encode(image, as: format, options: options, context: EncodeContext())
    }
}

/// Reads the frames of an animation one by one.
public protocol AnimatedImageCoder: ImageCoder {
    /// A decoder for the frames of one file.
    /// - Throws: what ``ImageCoder/decode(_:options:context:)`` throws for bytes whose header is no good.
    func frameDecoder(
        for data: Data, options: DecodeOptions, context: DecodeContext
    ) throws(ImageError) -> any FrameDecoder
}

/// The frames of one animation, in order. Used by one thread at a time.
public protocol FrameDecoder: AnyObject {
    var info: ImageInfo { get }
    /// The size of the frames that ``nextFrame()`` gives, upright.
    var outputSize: PixelSize { get }

    /// The next frame, composed with what is under it; `nil` behind the last one.
    func nextFrame() throws(ImageError) -> ImageFrame?

    /// Goes back to the first frame.
    func rewind() throws(ImageError)
}
