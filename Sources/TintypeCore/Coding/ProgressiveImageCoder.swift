public import FoundationEssentials

/// Reads images whose bytes are still on their way.
public protocol ProgressiveImageCoder: ImageCoder {
    /// A decoder for the bytes of one file, which come later.
    func progressiveDecoder(options: DecodeOptions, context: DecodeContext) throws(ImageError) -> any ProgressiveDecoder
}

/// One image whose bytes come bit by bit. Used by one thread at a time.
///
/// Keeps what it has decoded: no byte is decoded twice for a preview. Previews have the orientation, the colours and the
/// size of the image that ``finish()`` gives.
///
/// Holds what it reserves in the ``DecodeBudget`` as long as it lives: let go of one that no more bytes come for.
///
/// ```swift
/// let decoder = try coder.progressiveDecoder(options: options, context: context)
/// for await chunk in chunks {
///     try decoder.append(chunk)
///     if let preview = try decoder.preview() { show(preview) }
/// }
/// show(try decoder.finish())
/// ```
public protocol ProgressiveDecoder: AnyObject {
    /// Takes the next bytes, and decodes what they allow.
    /// - Throws: ``ImageError`` for bytes that cannot become an image; more bytes are then of no use.
    func append(_ chunk: Data) throws(ImageError)

    /// The picture of the bytes so far, marked ``Image/isPartial``; `nil` as long as there is none, or if nothing has come
    /// that would change the last one.
    func preview() throws(ImageError) -> Image?

    /// The image, when all bytes have been appended: the same that ``ImageCoder/decode(_:options:context:)`` makes of them.
    func finish() throws(ImageError) -> Image
}
