#if SVG
public import FoundationEssentials
public import TintypeCore

/// Draws SVG with librsvg and cairo, at the size that is asked for. With the package trait `SVG`.
///
/// - A box of the options is filled exactly in one direction, also where it is larger than the picture: vectors have no pixels
///   to enlarge.
/// - The size of a picture that states none is that of its `viewBox`, or what its drawing covers.
/// - Nothing outside the bytes is read: librsvg has no base address to resolve a reference against, so files, network and
///   external entities are out of reach; `data:` URLs work. Documents larger than ``maximumBytes`` are refused.
/// - Elements that draw each other over and over are counted before anything is drawn, and refused where the drawing would have
///   more than 20 times the elements of the document (and more than 50,000). Images inside must be JPEG, PNG, GIF, WebP or SVG, and
///   keep the limits of the context, together too.
/// - Drawing cannot be cancelled once it has begun.
public struct SVGCoder: ImageCoder {
    /// The most bytes of a document.
    public static let maximumBytes = 32 << 20

    public init() {}

    public var decodableFormats: Set<ImageFormat> { [.svg] }

    public func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        try SVGDocument(data, context: context).info
    }

    public func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        let document = try SVGDocument(data, context: context)
        let size = options.vectorSize(for: document.info.size)
        try document.info.check(context.limits, output: size, keptFrames: 1)
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
