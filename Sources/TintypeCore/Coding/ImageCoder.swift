public import FoundationEssentials

/// Reads, and perhaps writes, one or more formats.
///
/// A coder is a value without state; its methods are called on the threads of a pool, several at once. Bytes come from
/// outside and may be anything: a coder compares the header with the limits before it takes memory, and answers with a
/// typed error, never with half an image that is not marked ``Image/isPartial``.
public protocol ImageCoder: Sendable {
    /// A stable name of the coder and its settings, under which images of requests with a coder of their own are cached
    /// (``ImageRequest/coder``). Equal identifiers promise equal images. The default is `nil`: such images are cached in memory only.
    var identifier: String? { get }
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
    public var identifier: String? { nil }

    public var encodableFormats: Set<ImageFormat> { [] }

    public func canDecode(_ data: Data, format: ImageFormat?) -> Bool {
        format.map(decodableFormats.contains) ?? false
    }

    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: EncodeContext
    ) throws(ImageError) -> Data {
        throw ImageError(.formatNotEncodable, stage: .encode, reason: "\(Self.self) does not write \(format)")
    }

    /// Returns the information in the header, read under the default limits.
    public func info(of data: Data) throws(ImageError) -> ImageInfo { try info(of: data, context: DecodeContext()) }

    /// Decodes an image under the default limits, without support for cancellation.
    public func decode(_ data: Data, options: DecodeOptions = DecodeOptions()) throws(ImageError) -> Image {
        try decode(data, options: options, context: DecodeContext())
    }

    /// Encodes an image without support for cancellation.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions = EncodeOptions()
    ) throws(ImageError) -> Data {
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

extension AnimatedImageCoder {
    /// Returns a decoder for the frames of one file, under the default limits.
    public func frameDecoder(
        for data: Data, options: DecodeOptions = DecodeOptions()
    ) throws(ImageError) -> any FrameDecoder {
        try frameDecoder(for: data, options: options, context: DecodeContext())
    }
}

/// The frames of one animation, in any order. Used by one thread at a time.
///
/// In their order each frame is decoded once. To go elsewhere costs less than decoding from the first frame on where a frame in
/// between stands for itself, or once frames have been decoded before: see ``seek(to:)``.
public protocol FrameDecoder: AnyObject {
    var info: ImageInfo { get }
    /// The size of the frames that ``nextFrame()`` gives, upright.
    var outputSize: PixelSize { get }

    /// The next frame, composed with what is under it; `nil` behind the last one.
    func nextFrame() throws(ImageError) -> ImageFrame?

    /// Goes back to the first frame.
    func rewind() throws(ImageError)

    /// Makes a frame, counted from 0, the next one; behind the last frame there is none.
    ///
    /// The coders of this package begin at the nearest frame before it that does not show what was before. GIF, PNG and WebP also keep
    /// up to eight copies of the canvas, 64 MB at most, from the first seek on: among frames that have been decoded
    /// before, a ninth of the animation at most is then decoded on the way.
    func seek(to index: Int) throws(ImageError)
}

extension FrameDecoder {
    /// Decodes all frames up to the one that is wanted.
    public func seek(to index: Int) throws(ImageError) {
        try rewind()
        var passed = 0
        while passed < index, try nextFrame() != nil { passed += 1 }
    }

    /// A frame, counted from 0; `nil` if there is none.
    public func frame(at index: Int) throws(ImageError) -> ImageFrame? {
        guard index >= 0 else { return nil }
        try seek(to: index)
        return try nextFrame()
    }
}
