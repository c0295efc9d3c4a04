public import FoundationEssentials

/// A type that reads one or more image formats, and may write them.
///
/// A coder is a stateless value. Several threads can call its methods at once. Because the bytes come from untrusted sources, a coder
/// checks the header against the limits before it allocates memory, and throws a typed error. It marks every incomplete image that it
/// returns with ``Image/isPartial``.
public protocol ImageCoder: Sendable {
    /// A stable name for the coder and its settings. If a copy of a manager has its own coders
    /// (``ImageManager/copy(cache:loader:coders:configuration:)``), its images are cached under this name. Coders with equal identifiers
    /// must produce equal images. With `nil`, the default, such images are cached in memory only.
    var identifier: String? { get }
    /// The formats that the coder reads.
    var decodableFormats: Set<ImageFormat> { get }
    /// The formats that the coder writes.
    var encodableFormats: Set<ImageFormat> { get }

    /// Returns true if the coder can read the bytes. By default, returns true if ``decodableFormats`` contains their format.
    /// - Parameters:
    ///   - data: the encoded image.
    ///   - format: the format that was recognized from the bytes, or the caller's hint; `nil` if there is neither.
    func canDecode(_ data: Data, format: ImageFormat?) -> Bool

    /// Returns true if the coder writes a format. By default, returns true if ``encodableFormats`` contains it. A coder that writes every
    /// format, including the program's own, always returns true.
    /// - Parameter format: the format of the file.
    func canEncode(_ format: ImageFormat) -> Bool

    /// Returns the information in the header. The bytes may be only the start of a file.
    /// - Parameters:
    ///   - data: the encoded image, or its start.
    ///   - context: the limits and the check for cancellation.
    /// - Returns: the information in the header.
    /// - Throws: ``ImageError/Code/truncatedImage`` if the header is incomplete, so that more bytes may help.
    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo

    /// Decodes an image at the size that the options request, upright.
    /// - Parameters:
    ///   - data: the encoded image.
    ///   - options: the options to decode with.
    ///   - context: the limits, the memory, and the check for cancellation.
    /// - Returns: the decoded image.
    /// - Throws: ``ImageError`` without a source, which the caller adds.
    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image

    /// Encodes an image, with all frames of an animation if the format supports them.
    /// - Parameters:
    ///   - image: the image to encode.
    ///   - format: the format to write.
    ///   - options: the options to encode with.
    ///   - context: the check for cancellation.
    /// - Returns: the encoded image.
    /// - Throws: ``ImageError`` without a source, which the caller adds.
    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data
}

extension ImageCoder {
    public var identifier: String? { nil }

    public var encodableFormats: Set<ImageFormat> { [] }

    public func canDecode(_ data: Data, format: ImageFormat?) -> Bool {
        (format ?? ImageFormat(sniffing: data)).map(decodableFormats.contains) ?? false
    }

    public func canEncode(_ format: ImageFormat) -> Bool { encodableFormats.contains(format) }

    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        throw ImageError(.formatNotEncodable, stage: .encode, reason: "\(Self.self) can't write \(format)")
    }

    /// Returns the information in the header, read under the default limits.
    /// - Parameter data: the encoded image.
    /// - Throws: ``ImageError/Code/unknownFormat``, ``ImageError/Code/corruptImage``, ``ImageError/Code/truncatedImage``, and
    ///   ``ImageError/Code/limitExceeded``.
    public func info(of data: Data) throws(ImageError) -> ImageInfo { try info(of: data, context: ProcessingContext()) }

    /// Decodes an image under the default limits, without support for cancellation.
    /// - Parameters:
    ///   - data: the encoded image.
    ///   - options: the options for decoding.
    /// - Throws: the errors of ``decode(_:options:context:)``.
    public func decode(_ data: Data, options: DecodeOptions = DecodeOptions()) throws(ImageError) -> Image {
        try decode(data, options: options, context: ProcessingContext())
    }

    /// Encodes an image without support for cancellation.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    /// - Throws: the errors of ``encode(_:as:options:context:)``.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions = EncodeOptions()
    ) throws(ImageError) -> Data {
        try encode(image, as: format, options: options, context: ProcessingContext())
    }
}

/// A coder that reads the frames of an animation individually.
public protocol AnimatedImageCoder: ImageCoder {
    /// Returns a decoder for the frames of a file.
    /// - Parameters:
    ///   - data: the encoded animation.
    ///   - options: the options to decode with.
    ///   - context: the limits, the memory, and the check for cancellation.
    /// - Returns: a decoder that is positioned before the first frame.
    /// - Throws: the errors of ``ImageCoder/decode(_:options:context:)`` for bytes with an unusable header.
    func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder
}

extension AnimatedImageCoder {
    /// Returns a decoder for the frames of a file, under the default limits.
    /// - Parameters:
    ///   - data: the encoded image.
    ///   - options: the options for decoding.
    /// - Throws: the errors of ``AnimatedImageCoder/frameDecoder(for:options:context:)``.
    package func frameDecoder(
        for data: Data, options: DecodeOptions = DecodeOptions()
    ) throws(ImageError) -> any FrameDecoder {
        try frameDecoder(for: data, options: options, context: ProcessingContext())
    }
}

/// A coder whose first image takes longer, unless it was told before.
package protocol PreparingImageCoder: ImageCoder {
    /// Starts preparations that the first image would wait for, and returns at once.
    func prepare()
}

/// A decoder for the frames of an animation, in any order. It is used by a single thread at a time.
///
/// In sequence, each frame is decoded once. Seeking is cheaper than decoding from the first frame if a frame in between doesn't depend on
/// earlier frames, or if frames have been decoded before: see ``seek(to:)``.
public protocol FrameDecoder: AnyObject {
    /// The contents of the animation's header.
    var info: ImageInfo { get }
    /// The upright size of the frames that ``nextFrame()`` returns.
    var outputSize: PixelSize { get }

    /// Decodes the next frame and composes it with the frames below it; `nil` after the last frame.
    /// - Throws: ``ImageError/Code/corruptImage``, ``ImageError/Code/truncatedImage``, ``ImageError/Code/limitExceeded``,
    ///   ``ImageError/Code/outOfMemory``, and, if the context says that the work was canceled, ``ImageError/Code/cancelled``.
    func nextFrame() throws(ImageError) -> ImageFrame?

    /// Returns to the first frame.
    /// - Throws: the errors of opening the data again.
    func rewind() throws(ImageError)

    /// Moves to a frame, which becomes the next.
    ///
    /// The coders of this package start at the nearest earlier frame that doesn't depend on the frames before it. From the first backward
    /// seek on, GIF, PNG and WebP also store up to eight copies of the canvas, at most 64 MB. Seeking among frames that have been decoded
    /// before then decodes at most a ninth of the animation.
    /// - Parameter index: the number of the frame, counted from 0. After the last frame, there is no next frame.
    /// - Throws: the errors of ``nextFrame()``.
    func seek(to index: Int) throws(ImageError)

    /// Keeps a copy of the canvas at each decoded frame whose number is a multiple of an interval, without a limit, so that seeking to such
    /// a frame becomes cheap. The copies are released when memory becomes scarce.
    ///
    /// Only GIF, PNG and WebP have canvases to copy. By default, does nothing.
    /// - Parameter interval: the number of frames between two copies, at least 1.
    func keepSeekPoints(every interval: Int)
}

extension FrameDecoder {
    public func keepSeekPoints(every interval: Int) {}

    /// Decodes all frames up to the requested frame.
    /// - Parameter index: the frame, counted from 0.
    /// - Throws: the errors of ``nextFrame()``.
    public func seek(to index: Int) throws(ImageError) {
        try rewind()
        var passed = 0
        while passed < index, try nextFrame() != nil { passed += 1 }
    }

    /// Returns a frame, counted from 0; `nil` if there is none.
    /// - Parameter index: the frame, counted from 0.
    /// - Throws: the errors of ``nextFrame()``.
    package func frame(at index: Int) throws(ImageError) -> ImageFrame? {
        guard index >= 0 else { return nil }
        try seek(to: index)
        return try nextFrame()
    }
}
