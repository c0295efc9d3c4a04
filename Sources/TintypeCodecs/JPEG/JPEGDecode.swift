internal import CJPEGShim
internal import FoundationEssentials
internal import TintypeCore

/// One decode of one JPEG file.
struct JPEGDecode {
    let segments: JPEGSegments
    let options: DecodeOptions
    let context: DecodeContext

    /// libjpeg carries on after damage; pixels that come with more warnings than this are not worth showing.
    static let maximumWarnings = 1_000

    func run(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> Image {
        let reader = try JPEGReader(bytes, memoryLimit: context.limits.maximumBytes)
        let header = reader.header
        let source = PixelSize(width: Int(header.width), height: Int(header.height))
        let display = segments.orientation.display(source)
        let output = options.outputSize(for: display)
        try context.limits.check(size: source, output: output)

        let isCMYK = header.is_cmyk != 0
        let target = segments.orientation.stored(output)
        let size = try reader.start(eighths: JPEGScale.eighths(from: source, to: target), asCMYK: isCMYK)
        if header.has_multiple_scans != 0 {
            try reader.consumeScans(maximum: Self.maximumScans(source), context: context)
        }
        var sink = try RowSink(stored: size, output: output, orientation: segments.orientation, context: context)
        let color = DecodedColor(
            profile: segments.profile,
            source: isCMYK
                ? .cmyk(inverted: header.has_adobe_marker != 0) : header.components == 1 ? .gray : .rgb,
            options: options)
        let convertsAfter = target.pixelCount < size.pixelCount
        if isCMYK {
            try readCMYK(reader, size, inverted: header.has_adobe_marker != 0, color.conversion, into: &sink)
        } else {
            try readRGB(reader, size, convertsAfter ? nil : color.conversion, into: &sink)
        }
        let rows = sink.rows
        var pixels = try sink.finish()
        if convertsAfter, !isCMYK, let conversion = color.conversion {
            pixels = try conversion.convert(opaque: pixels, pool: context.pool)
        }
        var properties = segments.info(size: source).properties(options)
        properties.metadata = ImageMetadata(exif: segments.exif, xmp: segments.xmp)
        properties.colorSpace = color.space
        properties.isPartial = reader.isMissingData
        // Rows that never came are transparent.
        properties.hasAlpha = rows < size.height
        return Image(pixels: pixels, properties: properties)
    }

    /// Each scan of a hostile file costs a pass over all its blocks: the larger the image, the fewer are allowed. Encoders
    /// write about ten.
    static func maximumScans(_ size: PixelSize) -> Int { max(32, min(500, (1 << 33) / max(1, size.pixelCount))) }

    private func readRGB(
        _ reader: JPEGReader, _ size: PixelSize, _ conversion: ColorConversion?, into sink: inout RowSink
    ) throws(ImageError) {
        for _ in 0..<size.height {
            let row = sink.rowToFill()
            try reader.readRow(row)
            guard try isWorthKeeping(reader) else { return }
            conversion?.convert(row, count: size.width)
            try sink.commitRow()
        }
    }

    private func readCMYK(
        _ reader: JPEGReader, _ size: PixelSize, inverted: Bool, _ conversion: ColorConversion?,
        into sink: inout RowSink
    ) throws(ImageError) {
        let scratch = try MutablePixelBuffer(size: PixelSize(width: size.width, height: 1), pool: context.pool)
        let inks = scratch.row(0)
        for _ in 0..<size.height {
            try reader.readRow(inks)
            guard try isWorthKeeping(reader) else { return }
            let row = sink.rowToFill()
            if let conversion {
                conversion.convert(cmyk: inks, to: row, count: size.width)
            } else {
                ColorConversion.convertNaively(cmyk: inks, inverted: inverted, to: row, count: size.width)
            }
            try sink.commitRow()
        }
    }

    /// Looks whether the row that was read is one of the file's, or made up by libjpeg behind its end.
    /// - Returns: false if the rows from here on are to be left out.
    @inline(__always)
    private func isWorthKeeping(_ reader: JPEGReader) throws(ImageError) -> Bool {
        if reader.warningCount > Self.maximumWarnings { throw reader.corruption }
        guard reader.isMissingData else { return true }
        guard options.allowsPartialImage else { throw reader.truncation }
        // Scans cover the whole image, so that of several each row has something.
        return reader.header.has_multiple_scans != 0
    }
}
