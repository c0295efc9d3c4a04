internal import CJPEGShim
internal import FoundationEssentials
internal import TintypeImages

/// The way that a JPEG file is decoded under given options, settled from its header before the first row.
struct JPEGPlan {
    let segments: JPEGSegments
    let options: DecodeOptions
    let context: ProcessingContext
    /// The size in the file.
    let source: PixelSize
    /// The size of the rows as libjpeg gives them.
    let size: PixelSize
    /// The part of that size that the picture fills: sides are rounded up, and padding lies behind the picture.
    private let extent: ResampledExtent
    /// The requested size, upright.
    let output: PixelSize
    let color: DecodedColor
    let hasMultipleScans: Bool
    /// True if the pixels are inks, which are always inverted: Adobe wrote them so from the start, and where its segment is missing it was
    /// removed.
    let isCMYK: Bool
    /// True if the rows have a byte for each pixel.
    let isGray: Bool
    /// True if colors are converted in the small picture instead of the rows.
    let convertsAfter: Bool
    /// The memory of the decode; held until it ends.
    let reservation: DecodeReservation

    /// libjpeg carries on after damage; pixels that come with more warnings than this are not worth showing.
    static let maximumWarnings = 1_000

    /// Compares the header with the limits and starts a reader that has read it.
    /// - Parameters:
    ///   - eighths: the scale; `nil` for the smallest that suffices.
    ///   - color: the conversion of colors, if it has been prepared.
    init(
        starting reader: JPEGReader, _ segments: JPEGSegments, eighths: Int? = nil, color: DecodedColor? = nil,
        options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) {
        let header = reader.header
        self.segments = segments
        self.options = options
        self.context = context
        source = PixelSize(width: Int(header.width), height: Int(header.height))
        output = options.outputSize(for: segments.orientation.display(source))
        try context.limits.check(size: source, output: output)
        isCMYK = header.is_cmyk != 0
        isGray = header.components == 1
        hasMultipleScans = header.has_multiple_scans != 0
        // Several scans are put together from coefficients of two bytes.
        reservation = try context.reserve(
            output: output, isCopied: segments.orientation != .up || segments.profile != nil, source: source,
            bitmaps: hasMultipleScans ? 2 : 0)
        let target = segments.orientation.stored(output)
        let eighths =
            eighths
            ?? JPEGScale.eighths(
                from: source, to: target, samplings: segments.samplings, isFast: options.prefersFastThumbnail,
                isProgressive: segments.isProgressive)
        size = try reader.start(eighths: eighths, asCMYK: isCMYK)
        extent = JPEGScale.extent(source, eighths)
        self.color =
            color
            ?? DecodedColor(
                profile: segments.profile,
                source: isCMYK ? .cmyk(inverted: true) : isGray ? .gray : .rgb, options: options)
        convertsAfter = !isCMYK && target.pixelCount < size.pixelCount && self.color.keepsAverages
    }

    /// Each scan of a hostile file costs a pass over all its blocks: the larger the image, the fewer are allowed. Encoders
    /// write about ten, and libjpeg 18 for inks.
    static func maximumScans(_ size: PixelSize) -> Int { max(20, min(500, (1 << 32) / max(1, size.pixelCount))) }

    func makeSink() throws(ImageError) -> RowSink {
        try RowSink(
            stored: size, extent: extent, output: output, orientation: segments.orientation, context: context)
    }

    /// Returns the image of the pixels that a sink produced.
    /// - Parameter isMissingRows: true if some rows never arrived, and are transparent.
    func image(_ pixels: PixelBuffer, isPartial: Bool, isMissingRows: Bool) throws(ImageError) -> Image {
        try segments.image(
            pixels, color, converts: convertsAfter, isPartial: isPartial, hasAlpha: isMissingRows, size: source,
            options: options, pool: context.pool)
    }
}

extension JPEGSegments {
    /// Returns the image of finished pixels.
    /// - Parameters:
    ///   - color: the conversion that the pixels have gone through, or go through here.
    ///   - converts: true if colors are converted here, instead of before.
    ///   - size: the size in the file.
    func image(
        _ pixels: PixelBuffer, _ color: DecodedColor, converts: Bool = true, isPartial: Bool = false,
        hasAlpha: Bool = false, size: PixelSize, options: DecodeOptions, pool: PixelBufferPool
    ) throws(ImageError) -> Image {
        var pixels = pixels
        if converts, let conversion = color.conversion {
            pixels = try conversion.convert(pixels, hasAlpha: hasAlpha, pool: pool)
        }
        var properties = info(size: size).properties(options)
        properties.colorSpace = color.space
        properties.isPartial = isPartial
        properties.hasAlpha = hasAlpha
        return Image(pixels: pixels, properties: properties)
    }
}

/// Takes rows from libjpeg and makes them rows of an image.
struct JPEGRows: ~Copyable {
    private let plan: JPEGPlan
    /// A row of inks, of grays, or of pixels that aren't yet where they belong.
    private let row: MutablePixelBuffer
    /// libjpeg-turbo writes rows at aligned addresses past the processor's caches, into memory, which suits a picture that isn't read
    /// soon. A row that is filtered next is therefore at an odd address: fetching it back took an eighth of the time of a thumbnail.
    private static let misalignment = 4

    init(_ plan: JPEGPlan) throws(ImageError) {
        self.plan = plan
        row = try MutablePixelBuffer(
            size: PixelSize(width: plan.size.width + 1, height: 1), pool: plan.context.pool)
    }

    /// Reads rows until all are there.
    /// - Returns: false if the rows from here on need more bytes, or are to be left out because the file has no more.
    func readAll(_ reader: JPEGReader, into sink: inout RowSink) throws(ImageError) -> Bool {
        let conversion = plan.convertsAfter ? nil : plan.color.conversion
        let width = plan.size.width
        while sink.rows < plan.size.height {
            let target = sink.rowToFill()
            let isElsewhere = plan.isCMYK || plan.isGray || sink.bitmap == nil
            let read = isElsewhere ? row.row(0) + Self.misalignment : target
            guard try reader.readRow(read), try isWorthKeeping(reader) else { return false }
            if plan.isCMYK {
                if let conversion {
                    conversion.convert(cmyk: read, to: target, count: width)
                } else {
                    ColorConversion.convertNaively(cmyk: read, inverted: true, to: target, count: width)
                }
            } else if plan.isGray {
                Self.expand(read, to: target, count: width)
                conversion?.convert(target, count: width)
            } else {
                conversion?.convert(read, count: width)
                if isElsewhere { target.copyMemory(from: read, byteCount: width * 4) }
            }
            try sink.commitRow()
        }
        return true
    }

    /// Makes opaque pixels of grays.
    private static func expand(_ grays: UnsafeRawPointer, to pixels: UnsafeMutableRawPointer, count: Int) {
        let (grays, pixels) = (grays.assumingMemoryBound(to: UInt8.self), pixels.assumingMemoryBound(to: UInt32.self))
        for x in 0..<count {
            let gray = UInt32(grays[x])
            pixels[x] = gray | gray << 8 | gray << 16 | 0xFF00_0000
        }
    }

    /// Checks if the last row belongs to the file, or was invented by libjpeg after its end.
    @inline(__always)
    private func isWorthKeeping(_ reader: JPEGReader) throws(ImageError) -> Bool {
        if reader.warningCount > JPEGPlan.maximumWarnings { throw reader.corruption }
        guard reader.isMissingData else { return true }
        guard plan.options.allowsPartialImage else { throw reader.truncation }
        // Scans cover the whole image, so that each of several scans contributes to every row.
        return plan.hasMultipleScans
    }
}
