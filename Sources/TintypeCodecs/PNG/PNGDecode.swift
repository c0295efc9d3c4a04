internal import FoundationEssentials
internal import TintypeCore

/// One decode of the still image of a PNG file.
struct PNGDecode {
    let chunks: PNGChunks
    let options: DecodeOptions
    let context: DecodeContext
    /// False leaves all to libpng.
    var unpacksAtOnce = true

    func run(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> Image {
        let source = chunks.header.size
        let display = chunks.orientation.display(source)
        let format = options.pixelFormat(bitsPerComponent: chunks.bitsPerComponent)
        let output = options.outputSize(for: display, bytesPerPixel: format.bytesPerPixel)
        // Each pass of an interlaced image goes over all of it, so the full bitmap is needed in between.
        let largest = chunks.header.isInterlaced ? source : output
        try context.limits.check(size: source, output: output, bytesPerPixel: format.bytesPerPixel)
        try context.limits.check(size: source, output: largest, bytesPerPixel: format.bytesPerPixel)
        let reservation = try chunks.reserve(output: output, format: format, context: context)
        defer { reservation.release() }

        let reader = try PNGReader(bytes)
        let color = reader.color(options, format: format)
        var sink = try RowSink(
            stored: source, output: output, orientation: chunks.orientation, format: format, context: context)
        let convertsAfter = !reader.hasAlpha && output.pixelCount < source.pixelCount
        let finisher = RowFinisher(
            width: source.width, conversion: convertsAfter ? nil : color.conversion, premultiplies: reader.hasAlpha,
            format: format)
        var shortfall: ImageError?
        do throws(ImageError) {
            if try !unpackRows(bytes, finisher, into: &sink) {
                if !chunks.isComplete { reader.expectEnd() }
                try reader.start(format: format)
                if reader.passes == 1 {
                    try readRows(reader, finisher, into: &sink)
                } else {
                    try readPasses(reader, finisher, into: &sink)
                }
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
        var properties = chunks.properties(options, colorSpace: color.space)
        properties.isPartial = shortfall != nil
        if isMissingRows { properties.hasAlpha = true }
        return Image(pixels: pixels, properties: properties)
    }

    /// Reads a whole and ordinary image without libpng.
    /// - Returns: false, before any row, if libpng has to read it.
    private func unpackRows(
        _ bytes: UnsafeRawBufferPointer, _ finisher: RowFinisher, into sink: inout RowSink
    ) throws(ImageError) -> Bool {
        guard unpacksAtOnce, finisher.format == .rgba8,
            var rows = chunks.unpackedRows(of: bytes, bitmap: sink.bitmap, pool: context.pool)
        else { return false }
        for _ in 0..<chunks.header.size.height {
            let row = sink.rowToFill()
            rows.read(to: row)
            finisher.finish(row)
            try sink.commitRow()
        }
        return true
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
        let bitmap = try MutablePixelBuffer(
            size: reader.size, format: finisher.format, cleared: true, pool: context.pool)
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
            row.copyMemory(from: bitmap.row(y), byteCount: reader.size.width * finisher.format.bytesPerPixel)
            finisher.finish(row)
            try sink.commitRow()
        }
        if let shortfall { throw shortfall }
    }
}

extension PNGReader {
    /// What the file's colour profile means for its pixels.
    func color(_ options: DecodeOptions, format: PixelFormat = .rgba8) -> DecodedColor {
        DecodedColor(profile: profile, source: isGray ? .gray : .rgb, options: options, format: format)
    }
}

extension PNGChunks {
    /// Reserves what decoding the still image takes.
    func reserve(
        output: PixelSize, format: PixelFormat = .rgba8, context: DecodeContext
    ) throws(ImageError) -> DecodeReservation {
        // Rows that are unpacked at once take at most what a bitmap does.
        let unpacksAtOnce =
            format == .rgba8 && PixelBufferPool.footprint(of: header.size) <= PNGUnpackedRows.mostUnpacked
            && (output == header.size
                || PixelBufferPool.footprint(of: header.size) / 4 <= PNGUnpackedRows.mostUnpackedForThumbnail)
        return try context.reserve(
            output: output, format: format, isCopied: orientation != .up || profileName != nil, source: header.size,
            bitmaps: header.isInterlaced ? format.bytesPerPixel / 4 : unpacksAtOnce ? 1 : 0,
            working: unpacksAtOnce ? PNGUnpackedRows.workingBytes(self) : [])
    }

    /// The bits of one component; a palette's colours have 8.
    var bitsPerComponent: Int { header.colorType == 3 ? 8 : header.bitDepth }

    func properties(_ options: DecodeOptions, colorSpace: ColorSpace) -> Image.Properties {
        var properties = info.properties(options)
        properties.metadata = ImageMetadata(exif: exif, xmp: xmp)
        properties.colorSpace = colorSpace
        return properties
    }
}
