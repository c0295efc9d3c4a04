#if SVG
internal import FoundationEssentials
internal import TintypeImages

/// Refuses documents that are small and draw much: elements that draw each other many times, and large images inside. The time and the
/// memory of everything else are limited by the process that draws.
struct SVGLimits {
    /// The most elements that may be drawn, as a multiple of those that the document has. librsvg draws up to 500,000 by reference alone,
    /// which takes seconds.
    private static let maximumRepetition = 20
    /// So many may be drawn in any case.
    private static let freeElements = 50_000
    /// The deepest nesting of SVG images in SVG images.
    private static let maximumDepth = 3

    /// The bytes that the images inside take when they are decoded.
    let imageBytes: Int
    /// The elements that are drawn.
    private let drawn: Int

    init(_ data: Data, _ context: ProcessingContext, depth: Int = 0) throws(ImageError) {
        let contents = try data.withBytes { bytes throws(ImageError) in try SVGContents(bytes) }
        let limit = max(Self.freeElements, Self.maximumRepetition * contents.elements.count)
        var drawn = try SVGExpansion.count(contents, limit: limit)
        var bytes = 0
        for image in contents.images {
            let content = try Self.content(of: image, context, depth: depth)
            guard content.bytes <= context.limits.maximumBytes.bytes - bytes else {
                throw SVGContents.refusal(
                    "embeds images that take more than the limit of \(context.limits.maximumBytes)")
            }
            bytes += content.bytes
            drawn += content.elements
        }
        imageBytes = bytes
        self.drawn = drawn
        guard drawn <= limit else {
            throw SVGContents.refusal(
                "draws its \(contents.elements.count) elements \(drawn) times or more, over the limit of \(limit)"
            )
        }
    }

    /// The text of a document, which may be compressed. libxml2 wouldn't know all of the encodings, and would believe a declaration that
    /// names another one.
    static func markup(of data: Data) throws(ImageError) -> Data {
        var text = data
        if GzipFile.isOne(data) {
            text = try GzipFile.unpack(data, maximumBytes: SVGCoder.maximumBytes)
            // Everything that is compressed is taken for SVG until here.
            let format = ImageFormat(sniffing: text)
            guard format == .svg else {
                let found = format.map { "it is \($0)" } ?? ImageFormat.guess(text)
                throw ImageError(.unknownFormat, stage: .decode, reason: "the compressed file isn't SVG: \(found)")
            }
        }
        return XMLEncoding(text).map { Data($0.utf8(text)) } ?? text
    }

    /// The memory that an image inside the document takes when it is decoded, and the elements that it draws.
    private static func content(
        of image: [UInt8], _ context: ProcessingContext, depth: Int
    ) throws(ImageError) -> (bytes: Int, elements: Int) {
        // A URL without data shows nothing.
        guard let comma = image.firstIndex(of: UInt8(ascii: ",")), comma < image.count - 1 else { return (0, 0) }
        let content: DataURL
        do throws(ImageError) { content = try DataURL(image, limit: SVGCoder.maximumBytes) } catch {
            throw .corrupt("the SVG embeds an image that can't be read: \(error.reason)")
        }
        let coder: any ImageCoder
        switch ImageFormat(sniffing: content.data) {
        case .jpeg: coder = JPEGCoder()
        case .png: coder = PNGCoder()
        case .gif: coder = GIFCoder()
        case .webp: coder = WebPCoder()
        case .svg:
            guard depth < maximumDepth else {
                throw SVGContents.refusal("nests SVGs more than \(maximumDepth) deep")
            }
            let drawing = try SVGLimits(markup(of: content.data), context, depth: depth + 1)
            return (drawing.imageBytes, drawing.drawn)
        case let format:
            // The document itself is SVG.
            let name = format?.rawValue ?? content.mimeType
            throw .corrupt("the SVG embeds an image whose format isn't supported in SVG: \(name)")
        }
        let info = try coder.info(of: content.data, context: context)
        try context.limits.check(size: info.size, output: info.size, frameCount: info.frameCount)
        // The decoded pictures, and cairo's drawing of any of them.
        let (bytes, overflow) = (info.size.pixelCount * 4).multipliedReportingOverflow(by: info.frameCount + 1)
        return (overflow ? .max : bytes, 0)
    }
}
#endif
