internal import FoundationEssentials
internal import TintypeCore

/// One decode of the still image of a PNG file.
struct PNGDecode {
    let chunks: PNGChunks
    let options: DecodeOptions
    let context: DecodeContext

    func run(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> Image {
        let source = chunks.header.size
        let display = chunks.orientation.display(source)
        let output = options.outputSize(for: display)
        // Each pass of an interlaced image goes over all of it, so the full bitmap is needed in between.
        try context.limits.check(size: source, output: output)
        if chunks.header.isInterlaced { try context.limits.check(size: source, output: source) }

        let reader = try PNGReader(bytes)
        let color = PNGColor(reader, options)
        if !chunks.isComplete { reader.expectEnd() }
        try reader.start()
        var sink = try RowSink(stored: source, output: output, orientation: chunks.orientation, context: context)
        let convertsAfter = !reader.hasAlpha && output.pixelCount < source.pixelCount
        let finisher = RowFinisher(
            width: source.width, conversion: convertsAfter ? nil : color.conversion, premultiplies: reader.hasAlpha)
        var shortfall: ImageError?
        do throws(ImageError) {
            if reader.passes == 1 {
                try readRows(reader, finisher, into: &sink)
            } else {
                try readPasses(reader, finisher, into: &sink)
            }
        } catch {
            guard error.code == .truncatedImage, options.allowsPartialImage else { throw error }
            shortfall = error
        }
        let isMissingRows = sink.rows < source.height
        var pixels = try sink.finish()
        if convertsAfter, let conversion = color.conversion {
            pixels = try conversion.convert(opaque: pixels, pool: context.pool)
        }
        var properties = properties(display: display)
        properties.colorSpace = color.space
        properties.isPartial = shortfall != nil
        properties.hasAlpha = reader.hasAlpha || isMissingRows
        return Image(pixels: pixels, properties: properties)
    }

    private func readRows(
        _ reader: PNGReader, _ finisher: RowFinisher, into sink: inout RowSink
    ) throws(ImageError) {
        for _ in 0..<reader.size.height {
            let row = sink.rowToFill()
            try reader.readRow(row)
            finisher.finish(row)
            try sink.commitRow()
        }
    }

    /// Reads an interlaced image (Adam7) into a bitmap and hands that on.
    private func readPasses(
        _ reader: PNGReader, _ finisher: RowFinisher, into sink: inout RowSink
    ) throws(ImageError) {
        let bitmap = try MutablePixelBuffer(size: reader.size, cleared: true, pool: context.pool)
        var shortfall: ImageError?
        do throws(ImageError) {
            for _ in 0..<reader.passes {
                for y in 0..<reader.size.height {
                    // If the rest may be missing, pixels that have not come yet look like those around them.
                    try reader.readRow(bitmap.row(y), fillsGaps: options.allowsPartialImage)
                    if y & 127 == 0 { try context.checkCancellation() }
                }
            }
        } catch {
            guard error.code == .truncatedImage, options.allowsPartialImage else { throw error }
            shortfall = error
        }
        for y in 0..<reader.size.height {
            let row = sink.rowToFill()
            row.copyMemory(from: bitmap.row(y), byteCount: reader.size.width * 4)
            finisher.finish(row)
            try sink.commitRow()
        }
        if let shortfall { throw shortfall }
    }

    /// The properties that the file gives an image, apart from its colour.
    func properties(display: PixelSize) -> Image.Properties {
        var properties = Image.Properties()
        properties.format = .png
        properties.scale = options.scale
        properties.bitsPerComponent = chunks.bitsPerComponent
        properties.hasAlpha = chunks.hasAlpha
        properties.sourceSize = display
        properties.sourceOrientation = chunks.orientation
        properties.metadata = ImageMetadata(exif: chunks.exif, xmp: chunks.xmp)
        properties.decodeOptions = options
        return properties
    }
}

/// Makes of a row as libpng gives it one as images have it.
struct RowFinisher {
    let width: Int
    let conversion: ColorConversion?
    let premultiplies: Bool

    func finish(_ row: UnsafeMutableRawPointer) {
        conversion?.convert(row, count: width)
        if premultiplies { Premultiplication.premultiply(row, count: width) }
    }
}

/// What a PNG file's colour profile means for its pixels.
struct PNGColor {
    let conversion: ColorConversion?
    let space: ColorSpace

    init(_ reader: PNGReader, _ options: DecodeOptions) {
        guard let profile = reader.profile else {
            (conversion, space) = (nil, .sRGB)
            return
        }
        if options.keepsColorSpace, !reader.isGray, let kept = ColorConversion.keptColorSpace(profile) {
            (conversion, space) = (nil, kept)
        } else {
            conversion = ColorConversion(profile: profile, source: reader.isGray ? .gray : .rgb)
            space = .sRGB
        }
    }
}

extension PNGChunks {
    /// The bits of one component; a palette's colours have 8.
    var bitsPerComponent: Int { header.colorType == 3 ? 8 : header.bitDepth }
}
