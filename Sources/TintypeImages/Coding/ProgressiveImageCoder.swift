public import FoundationEssentials

/// A coder that reads images while their bytes are arriving.
public protocol ProgressiveImageCoder: ImageCoder {
    /// Returns a decoder for a file, whose bytes are appended later.
    /// - Parameters:
    ///   - options: the options to decode with.
    ///   - context: the limits, the memory, and the check for cancellation.
    /// - Throws: ``ImageError/Code/limitExceeded`` for options that no image can meet.
    func progressiveDecoder(options: DecodeOptions, context: ProcessingContext) throws(ImageError)
        -> any ProgressiveDecoder
}

/// A decoder for an image whose bytes arrive gradually. It is used by a single thread at a time.
///
/// It keeps its intermediate results: no byte is decoded twice for a preview. Previews have the same orientation, colors and
/// size as the image that ``finish()`` returns.
///
/// The decoders of this package hold their reservation in the ``DecodeBudget`` for their whole lifetime: release them if no more bytes will
/// arrive. The memory of a custom decoder counts only during ``ProcessingContext/withReservedMemory(_:_:)``.
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
    /// Appends the next bytes, and decodes as much as they allow.
    /// - Parameter chunk: the next bytes of the file.
    /// - Throws: ``ImageError`` for bytes that can't become an image. Don't append more bytes then.
    func append(_ chunk: Data) throws(ImageError)

    /// Appends the next bytes, and decodes as much as they allow.
    ///
    /// Loads call this method. A decoder that needs earlier bytes can keep `data` instead of a copy, because it shares the memory of the
    /// load. By default, calls ``append(_:)``.
    /// - Parameters:
    ///   - chunk: the next bytes of the file.
    ///   - data: all bytes of the file so far; `chunk` is their end. They must not be changed in place.
    /// - Throws: ``ImageError`` for bytes that can't become an image. Don't append more bytes then.
    func append(_ chunk: Data, of data: Data) throws(ImageError)

    /// Returns the picture of the bytes so far, marked as ``Image/isPartial``; `nil` if there is none yet, or if it has not
    /// changed since the last call.
    /// - Throws: ``ImageError/Code/outOfMemory``, and the errors of the decoder.
    func preview() throws(ImageError) -> Image?

    /// Returns the image after all bytes have been appended. It is equal to the result of
    /// ``ImageCoder/decode(_:options:context:)``. Bytes that are appended later are ignored.
    /// - Throws: the errors of ``ImageCoder/decode(_:options:context:)``.
    func finish() throws(ImageError) -> Image
}

extension ProgressiveDecoder {
    public func append(_ chunk: Data, of data: Data) throws(ImageError) { try append(chunk) }
}
