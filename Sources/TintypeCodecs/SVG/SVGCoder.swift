#if SVG
public import FoundationEssentials
public import TintypeImages

/// Draws SVG with librsvg and cairo, at the requested size. Requires the package trait `SVG`.
///
/// - The thumbnail box is filled exactly in width or height, even if it is larger than the picture, because vectors scale without loss.
/// - The size of a picture without explicit size comes from its `viewBox`, or from the area that it covers.
/// - Nothing outside the bytes is read: librsvg gets no base URL to resolve references, so that files, the network and external entities
///   are inaccessible. `data:` URLs work. Documents larger than 32 MiB are rejected.
/// - Elements that draw each other repeatedly are counted before anything is drawn. A document is rejected if drawing it involves more than
///   20 times its number of elements (and more than 50,000). Embedded images must be JPEG, PNG, GIF, WebP or SVG, and together must not
///   exceed the limits of the context.
/// - The size of a drawing is unlimited; the size of the result is limited as for other images. The time and the memory for shapes, text,
///   filters, and layers are limited only if drawing is isolated, as it is by default. librsvg may crash the drawing process, for example
///   if an `feTile` repeats an empty part of a picture.
/// - Drawing can't be canceled once it has started.
public struct SVGCoder: ImageCoder {
    /// The largest document, in bytes.
    package static let maximumBytes = 32 << 20

    /// Creates a coder.
    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.svg] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try SVGDocument(data, context: context).info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let document = try SVGDocument(data, context: context)
        let size = options.vectorSize(width: document.width, height: document.height)
        // A drawing has no pixels but those that are drawn.
        try context.limits.check(size: size, output: size)
        let reservation = try context.reserve(
            output: size, isCopied: false, source: size, bitmaps: 0, working: [document.imageBytes])
        defer { reservation.release() }
        try context.checkCancellation()
        let pixels = try document.draw(size, context: context)
        var properties = document.info.properties(options)
        properties.isVector = true
        return Image(pixels: pixels, properties: properties)
    }
}
#endif
