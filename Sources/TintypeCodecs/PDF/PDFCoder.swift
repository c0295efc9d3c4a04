#if PDF
public import FoundationEssentials
public import TintypeImages

/// Draws a page of a PDF (ISO 32000-1) with Poppler and cairo, at the requested size. Requires the package trait `PDF`.
///
/// - The first page is drawn, unless ``DecodeOptions/page`` names another.
/// - A point is a pixel. The image shows the page as viewers do: its crop box, which is the media box by default, with the
///   page's rotation.
/// - The thumbnail box is filled exactly in width or height, even if it is larger than the page, because vectors scale without loss.
/// - A page is drawn on white paper, so the image is opaque.
/// - Nothing outside the bytes is read, except system fonts if a document does not embed its fonts. Scripts and actions are not
///   run.
/// - A document that needs a password throws ``ImageError/Code/corruptImage`` with an appropriate reason. A truncated document throws
///   ``ImageError/Code/truncatedImage``, and a page with fonts that refer to themselves throws ``ImageError/Code/corruptImage``. With
///   ``DecodeOptions/allowsPartialImage``, such pages are drawn as far as possible.
/// - A document whose end is missing or damaged is drawn if its trailer comes after all of its objects.
/// - Poppler decodes images on the page completely, even for a small result. The limits on pixels and the decode budget don't apply to
///   these images; Poppler's own limit is 2 GiB per image. Draw documents from untrusted sources in a process with limited memory.
/// - Documents larger than 256 MiB are rejected. Drawing can't be canceled once it has started.
public struct PDFCoder: ImageCoder {
    /// The largest document, in bytes.
    package static let maximumBytes = 256 << 20

    /// Creates a coder.
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.pdf] }

    /// Returns the information in the header.
    /// - Parameters:
    ///   - data: the whole document.
    ///   - context: the limits and the memory of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/truncatedImage`` for the start of a document, because its table of contents is at the
    ///   end.
    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try PDFPage(data, options: DecodeOptions()).info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let page = try PDFPage(data, options: options)
        let size = options.vectorSize(width: page.width, height: page.height)
        // A page has no pixels but those that are drawn.
        try context.limits.check(size: size, output: size)
        let reservation = try context.reserve(output: size, isCopied: false, source: size, bitmaps: 0)
        defer { reservation.release() }
        try context.checkCancellation()
        let (pixels, isPartial) = try page.draw(size, allowsPartial: options.allowsPartialImage, context: context)
        try context.checkCancellation()
        var properties = page.info.properties(options)
        properties.isVector = true
        properties.isPartial = page.isCut || isPartial
        return Image(pixels: pixels, properties: properties)
    }
}
#endif
