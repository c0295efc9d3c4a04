#if PDF
public import FoundationEssentials
public import TintypeCore

/// Draws the first page of a PDF (ISO 32000-1) with Poppler and cairo, at the size that is asked for. With the package trait `PDF`.
///
/// - A point is a pixel. The page is what viewers show: its crop box, which is the media box unless the page says otherwise,
///   turned as the page says.
/// - A box of the options is filled exactly in one direction, also where it is larger than the page: vectors have no pixels to
///   enlarge.
/// - A page is printed on white paper, so the image is opaque.
/// - Nothing outside the bytes is read but system fonts, for those that a document does not embed. Scripts and actions are not run.
/// - A document that needs a password is ``ImageError/Code/corruptImage``, with a reason that says so. One whose end is missing
///   is ``ImageError/Code/truncatedImage``; with ``DecodeOptions/allowsPartialImage`` its page is drawn as far as it goes.
/// - Images on the page are decoded by Poppler, whole, whatever size the page is drawn at; the limits of pixels and the decode budget
///   do not see them. Poppler's own limit is 2 GiB for one. Draw documents of strangers in a process with a limit of memory.
/// - Documents larger than ``maximumBytes`` are refused. Drawing cannot be cancelled once it has begun.
public struct PDFCoder: ImageCoder {
    /// The most bytes of a document.
    public static let maximumBytes = 256 << 20

    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.pdf] }

    /// - Throws: ``ImageError/Code/truncatedImage`` for the beginning of a document: its table of contents is at the end.
    public func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        try PDFPage(data, allowsCut: false).info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        let page = try PDFPage(data, allowsCut: options.allowsPartialImage)
        let size = options.vectorSize(width: page.width, height: page.height)
        // A page has no pixels but those that are drawn.
        try context.limits.check(size: size, output: size)
        let reservation = try context.reserve(output: size, isCopied: false, source: size, bitmaps: 0)
        defer { reservation.release() }
        try context.checkCancellation()
        let pixels = try page.draw(size, context: context)
        try context.checkCancellation()
        var properties = page.info.properties(options)
        properties.isVector = true
        properties.isPartial = page.isCut
        return Image(pixels: pixels, properties: properties)
    }
}
#endif
