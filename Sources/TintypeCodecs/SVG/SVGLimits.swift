#if SVG
internal import FoundationEssentials
internal import Glibc
internal import TintypeImages

/// Refuses documents that are small and cost much: elements that draw each other many times, dashes, layers, filters, and large images
/// inside.
struct SVGLimits {
    /// The most elements that may be drawn, as a multiple of those that the document has. librsvg draws up to 500,000 by reference alone, which
    /// takes seconds.
    static let maximumRepetition = 20
    /// So many may be drawn in any case.
    static let freeElements = 50_000
    /// So many points of lines, and characters, may be drawn in any case.
    static let freeStrokes = 1_000_000.0
    /// The most dashes of all lines together.
    private static let maximumDashes = 2_000_000.0
    /// The operations that a layer takes for each pixel: it is cleared, drawn on, and laid over the canvas.
    private static let layerWork = 3.0
    /// The deepest nesting of SVG images in SVG images.
    private static let maximumDepth = 3

    /// The bytes that the images inside take when they are decoded.
    let imageBytes: Int
    /// True if the document, or one inside, may make librsvg end the process.
    let mayEndProcess: Bool
    private let contents: SVGContents
    private let drawn: SVGExpansion.Total
    /// The length of the longest chain of references.
    private let deepest: Int
    /// The largest factor of all transformations, through all references.
    private let largestScale: Double

    init(_ data: Data, _ context: DecodeContext, depth: Int = 0) throws(ImageError) {
        guard !data.starts(with: [0x1F, 0x8B]) else {
            throw ImageError(
                .unknownFormat, stage: .decode, reason: "the SVG is compressed with gzip, which is not read")
        }
        var contents = try data.withBytes { bytes throws(ImageError) in try SVGContents(bytes) }
        var bytes = 0
        var mayEndProcess = contents.mayEndProcess
        var count = contents.elements.count
        var own = contents.elements.reduce(into: SVGCost()) { $0 += $1.cost }
        for image in contents.images {
            let content = try Self.content(of: image.address, context, depth: depth)
            guard content.bytes <= context.limits.maximumBytes.bytes - bytes else {
                throw ImageError(
                    .limitExceeded, stage: .decode,
                    reason: "the images in the SVG take more than the limit of "
                        + "\(context.limits.maximumBytes)")
            }
            bytes += content.bytes
            guard let drawing = content.drawing else { continue }
            mayEndProcess = mayEndProcess || drawing.mayEndProcess
            contents.add(drawing.drawn, shownBy: image.element)
            contents.include(dashDensity: drawing.contents.dashDensity)
            count += drawing.contents.elements.count
            own += drawing.drawn.cost
        }
        imageBytes = bytes
        self.mayEndProcess = mayEndProcess
        var expansion = SVGExpansion(contents)
        drawn = try expansion.total()
        // Each reference may lead from the innermost element into the next one.
        deepest = expansion.deepest
        largestScale = min(pow(contents.largestScale * contents.sheetScale, Double(1 + deepest)), 1e15)
        self.contents = contents
        guard drawn.cost.elements <= Double(max(Self.freeElements, Self.maximumRepetition * count)) else {
            throw SVGContents.refusal(
                "draws its \(count) elements over and over, \(Self.number(drawn.cost.elements)) times or more")
        }
        let strokes = drawn.cost.vertices + drawn.cost.characters
        guard strokes <= max(Self.freeStrokes, Double(Self.maximumRepetition) * (own.vertices + own.characters)) else {
            throw SVGContents.refusal(
                "draws \(Self.number(strokes)) points and characters, most of them over and over")
        }
        let dashes = drawn.cost.length * contents.dashDensity
        guard dashes <= Self.maximumDashes else {
            throw SVGContents.refusal(
                "may have \(Self.number(dashes)) dashes, over the limit of \(Self.number(Self.maximumDashes))")
        }
    }

    /// True if the document could not be read to its end.
    var isIncomplete: Bool { contents.isIncomplete }

    private static func number(_ value: Double) -> Int { value.isNaN ? 0 : Int(min(value, 1e15)) }

    /// The operations for each pixel with which shapes, images, and text are painted, references followed.
    private func painting(natural: PixelSize) throws(ImageError) -> Double {
        var contents = contents
        contents.measureAreas(natural: natural, depth: deepest)
        var expansion = SVGExpansion(contents)
        return try expansion.total().cost.painting
    }

    /// The memory for the layers on top of each other.
    /// - Throws: ``ImageError/Code/limitExceeded`` if drawing at a size costs more than the limits allow.
    func layerBytes(natural: PixelSize, drawnAt size: PixelSize, _ limits: DecodeLimits) throws(ImageError) -> Int {
        let pixels = Double(size.width) * Double(size.height)
        var scale = max(Double(size.width) / Double(natural.width), Double(size.height) / Double(natural.height))
        if let side = contents.shortestViewBox { scale = max(scale, Double(max(size.width, size.height)) / side) }
        scale *= largestScale
        let kernels = min(drawn.cost.kernels * scale * scale, drawn.cost.kernels > 0 ? pixels * drawn.cost.filters : 0)
        let painting = try painting(natural: natural)
        let work = pixels * (1 + painting + drawn.cost.layers * Self.layerWork + drawn.cost.filters + kernels)
        guard work <= Double(limits.maximumDrawingWork) else {
            throw SVGContents.refusal(
                "takes \(Self.number(work)) operations to draw at \(size), over the limit of "
                    + "\(limits.maximumDrawingWork)")
        }
        let bytes = pixels * 4 * Double(drawn.layerDepth)
        let longest = Double(max(size.width, size.height)) * largestScale
        let tile =
            contents.completePatterns.map {
                $0.bytes(scale: scale, canvas: longest, shape: contents.longestExtent * scale)
            }.max() ?? 0
        guard tile <= Double(limits.maximumBytes.bytes) else {
            throw SVGContents.refusal(
                "has a pattern whose tile may take \(ByteCount(Self.number(tile))), more than the limit of \(limits.maximumBytes)"
            )
        }
        guard bytes <= Double(limits.maximumBytes.bytes) else {
            throw SVGContents.refusal(
                "has \(drawn.layerDepth) layers of \(size) on top of each other, which take more than the limit of "
                    + "\(limits.maximumBytes)")
        }
        return Int(bytes)
    }

    /// The memory that an image inside the document takes when it is decoded, and the image if it is a drawing.
    private static func content(
        of image: [UInt8], _ context: DecodeContext, depth: Int
    ) throws(ImageError) -> (bytes: Int, drawing: SVGLimits?) {
        // A URL without data shows nothing.
        guard let comma = image.firstIndex(of: UInt8(ascii: ",")), comma < image.count - 1 else { return (0, nil) }
        let content = try DataURL(image, limit: SVGCoder.maximumBytes)
        let coder: any ImageCoder
        switch ImageFormat(sniffing: content.data) {
        case .jpeg: coder = JPEGCoder()
        case .png: coder = PNGCoder()
        case .gif: coder = GIFCoder()
        case .webp: coder = WebPCoder()
        case .svg:
            guard depth < maximumDepth else {
                throw ImageError(
                    .limitExceeded, stage: .decode, reason: "the SVG has SVGs in it, more than \(maximumDepth) deep")
            }
            let drawing = try SVGLimits(content.data, context, depth: depth + 1)
            return (drawing.imageBytes, drawing)
        case let format:
            throw ImageError(
                .unknownFormat, stage: .decode,
                reason: "the SVG carries an image that is not read in SVG: \(format?.rawValue ?? content.mimeType)")
        }
        let info = try coder.info(of: content.data, context: context)
        try context.limits.check(size: info.size, output: info.size, frameCount: info.frameCount)
        // The decoded pictures, and what cairo draws of one.
        let (bytes, overflow) = (info.size.pixelCount * 4).multipliedReportingOverflow(by: info.frameCount + 1)
        return (overflow ? .max : bytes, nil)
    }
}
#endif
