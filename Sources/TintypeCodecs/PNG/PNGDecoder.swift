internal import FoundationEssentials
internal import TintypeImages

/// A decode of the still image of a PNG file.
///
/// Pixels of 16 bits whose colors are converted keep their 16 bits until that is done.
struct PNGDecoder {
    let chunks: PNGChunks
    let options: DecodeOptions
    let context: ProcessingContext
    /// False leaves all to libpng.
    var unpacksAtOnce = true

    func run(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> Image {
        let source = chunks.header.size
        let display = chunks.orientation.display(source)
        let format = chunks.info.pixelFormat(options)
        let output = options.outputSize(for: display, bytesPerPixel: format.bytesPerPixel)
        // Each pass of an interlaced image goes over all of it, so the full bitmap is needed in between.
        let largest = chunks.header.isInterlaced ? source : output
        try context.limits.check(size: source, output: output, bytesPerPixel: format.bytesPerPixel)
        try context.limits.check(size: source, output: largest, bytesPerPixel: format.bytesPerPixel)
        let profile = chunks.profile(in: bytes)
        let working = chunks.workingFormat(format, profile: profile)
        let reservation = try chunks.reserve(output: output, format: working, context: context)
        defer { reservation.release() }

        let reader = try PNGReader(
            bytes, cutChunk: chunks.cutChunk, skipsPalette: chunks.hasSuggestedPalette)
        let color = chunks.color(profile, options, format: working)
        var sink = try RowSink(
            stored: source, output: output, orientation: chunks.orientation, format: working, context: context)
        // Few pixels are sooner converted than many.
        let convertsAfter = output.pixelCount < source.pixelCount && color.keepsAverages
        let finisher = RowFinisher(
            width: source.width, conversion: convertsAfter ? nil : color.conversion, premultiplies: reader.hasAlpha,
            format: working)
        var shortfall: ImageError?
        var isMissingRows = false
        do throws(ImageError) {
            if try !unpackRows(bytes, finisher, into: &sink) {
                try reader.start(format: working)
                if reader.passes == 1 {
                    try readRows(reader, finisher, into: &sink)
                } else {
                    try readPasses(reader, finisher, into: &sink, isMissingRows: &isMissingRows)
                }
            }
            // The pixels are whole, but the frames that follow are missing.
            if chunks.announcesAnimation, !chunks.isComplete, !options.firstFrameOnly {
                throw ImageError.truncated("the PNG data ends before the animation is complete")
            }
        } catch {
            guard error.code == .truncatedImage, options.allowsPartialImage else { throw error }
            shortfall = error
        }
        if sink.rows < source.height { isMissingRows = true }
        var pixels = try sink.finish()
        if convertsAfter, let conversion = color.conversion {
            pixels = try conversion.convert(pixels, hasAlpha: reader.hasAlpha || isMissingRows, pool: context.pool)
        }
        var space = color.space
        if let points = chunks.codePoints, chunks.isHighDynamicRange, !options.keepsColorSpace {
            pixels = try points.inStandardColors(pixels, as: format, pool: context.pool)
            if format == .rgbaFloat16 { space = .extendedSRGB }
        } else {
            pixels = try pixels.converted(to: format, pool: context.pool)
        }
        var properties = chunks.properties(options, colorSpace: space)
        properties.isHighDynamicRange = chunks.isHighDynamicRange && options.decodeToHDR
        properties.isPartial = shortfall != nil
        if isMissingRows { properties.hasAlpha = true }
        return Image(pixels: pixels, properties: properties)
    }

    /// Reads a whole and ordinary image without libpng.
    /// - Returns: false, before any row, if libpng has to read it.
    private func unpackRows(
        _ bytes: UnsafeRawBufferPointer, _ finisher: RowFinisher, into sink: inout RowSink
    ) throws(ImageError) -> Bool {
        guard unpacksAtOnce,
            var rows = chunks.unpackedRows(
                of: bytes, format: finisher.format, bitmap: sink.bitmap, context: context)
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
    /// - Parameter isMissingRows: set if the first pass, which has something for every row, is not there to its end.
    private func readPasses(
        _ reader: PNGReader, _ finisher: RowFinisher, into sink: inout RowSink, isMissingRows: inout Bool
    ) throws(ImageError) {
        let bitmap = try MutablePixelBuffer(
            size: reader.size, format: finisher.format, cleared: true, pool: context.pool)
        var shortfall: ImageError?
        do throws(ImageError) {
            for pass in 0..<reader.passes {
                isMissingRows = pass == 0
                for y in 0..<reader.size.height {
                    // If the rest may be missing, pixels that have not come yet look like those around them.
                    try reader.readRow(bitmap.row(y), fillsGaps: options.allowsPartialImage)
                    if y & 127 == 0 { try context.checkCancellation() }
                }
            }
            isMissingRows = false
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

extension PNGChunks {
    /// The meaning of the file's color profile for its pixels.
    func color(_ profile: Data?, _ options: DecodeOptions, format: PixelFormat = .rgba8) -> DecodedColor {
        let profile = isHighDynamicRange && options.keepsColorSpace ? codePoints?.profile : profile
        return DecodedColor(profile: profile, source: header.isGray ? .gray : .rgb, options: options, format: format)
    }

    /// The format of the rows: the image's, or 16 bits if the file has them and its colors are converted, because 8 are too
    /// few for that.
    func workingFormat(_ format: PixelFormat, profile: Data?) -> PixelFormat {
        if isHighDynamicRange { return .rgba16 }
        return format == .rgba8 && header.bitDepth == 16 && profile != nil ? .rgba16 : format
    }

    /// True for PQ and HLG, which only still images are converted from.
    var isHighDynamicRange: Bool { animation == nil && codePoints?.isHighDynamicRange == true }

    /// Reserves what decoding the still image takes.
    /// - Parameter unpacksAtOnce: false if libpng makes the rows.
    func reserve(
        output: PixelSize, format: PixelFormat = .rgba8, unpacksAtOnce: Bool = true, context: ProcessingContext
    ) throws(ImageError) -> DecodeReservation {
        let isWhole = output == header.size && orientation == .up
        let rowBytes = header.rowBytes(header.size.width)
        let rows = PNGLayout.unpackedBytes(header.size, rowBytes: rowBytes)
        var working: [Int] = []
        // Rows of larger thumbnails are reserved when they are unpacked, or made one by one.
        if unpacksAtOnce, format == .rgba8 || header.bitDepth == 16, !header.isInterlaced,
            isWhole || rows <= PNGUnpackedRows.mostUnpackedForThumbnail,
            PNGUnpackedRows.mayUnpack(rows, from: imageData, limits: context.limits)
        {
            working = PNGUnpackedRows.workingBytes(rowBytes, imageData)
            let bitmap = isWhole ? PixelLayout(size: output, format: format)?.byteCount ?? 0 : 0
            if !PNGUnpackedRows.fits(header.size, rowBytes: rowBytes, in: bitmap) {
                working += PNGUnpackedRows.rowBytes(rows)
            }
        }
        return try context.reserve(
            output: output, format: format, isCopied: orientation != .up || profileName != nil || isHighDynamicRange,
            source: header.size, bitmaps: header.isInterlaced ? format.bytesPerPixel / 4 : 0, working: working)
    }

    /// The bits of a component; a palette's colors have 8.
    var bitsPerComponent: Int { header.isIndexed ? 8 : header.bitDepth }

    func properties(_ options: DecodeOptions, colorSpace: ColorSpace) -> Image.Properties {
        var properties = info.properties(options)
        properties.colorSpace = colorSpace
        return properties
    }
}
