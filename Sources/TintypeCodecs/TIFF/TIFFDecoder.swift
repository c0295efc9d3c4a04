#if TIFF
internal import CTIFF
internal import FoundationEssentials
internal import TintypeImages

/// Decodes the first page of a TIFF file.
struct TIFFDecoder {
    let file: TIFFFile
    let options: DecodeOptions
    let context: DecodeContext

    func run() throws(ImageError) -> Image {
        let info = file.info
        let layout = TIFFLayout(file)
        // Pixels that libtiff itself converts to RGBA have 8 bits.
        let format = layout.map { options.pixelFormat(bitsPerComponent: $0.bitsPerSample) } ?? .rgba8
        let output = info.outputSize(options, format: format)
        try info.check(context.limits, output: output, keptFrames: 1, format: format)
        let reservation = try context.reserve(
            output: output, format: format, isCopied: info.orientation != .up,
            source: PixelSize(width: info.size.width, height: 1), bitmaps: 4, working: try blocks(layout))
        defer { reservation.release() }
        var sink = try RowSink(
            stored: info.size, output: output, orientation: info.orientation, format: format, context: context)
        let color = color(layout, format)
        let isPartial: Bool
        if let layout {
            isPartial = try readSamples(layout, format, color.conversion, into: &sink)
        } else {
            isPartial = try readColors(color.conversion, into: &sink)
        }
        var properties = info.properties(options)
        properties.colorSpace = color.space
        properties.isPartial = isPartial
        if isPartial { properties.hasAlpha = true }
        return Image(pixels: try sink.finish(), properties: properties)
    }

    /// The bytes of the blocks of memory that reading takes.
    private func blocks(_ layout: TIFFLayout?) throws(ImageError) -> [Int] {
        if let layout {
            let memory = try TIFFSampleBands.memory(file, layout, limits: context.limits)
            return [memory.band, memory.tile]
        }
        // A band of RGBA, and the strip or the tile that libtiff unpacks.
        let part = TIFFIsTiled(file.handle) != 0 ? TIFFTileSize(file.handle) : TIFFStripSize(file.handle)
        return [file.info.size.width * file.rowsPerBand * 4, max(0, Int(part))]
    }

    private func readSamples(
        _ layout: TIFFLayout, _ format: PixelFormat, _ conversion: ColorConversion?, into sink: inout RowSink
    ) throws(ImageError) -> Bool {
        let bands = try TIFFSampleBands(file, layout: layout, context: context)
        let rows = TIFFRows(bands, layout: layout, format: format, conversion: conversion)
        let height = file.info.size.height
        try context.checkCancellation()
        for top in stride(from: 0, to: height, by: bands.rows) {
            if top % file.rowsPerBand == 0 {
                try context.checkCancellation()
                try file.checkJPEGParts(from: top)
            }
            let count = min(bands.rows, height - top)
            guard bands.read(top: top, count: count) else { return try noteFailure(file.failure()) }
            for y in 0..<count {
                rows.convert(y, to: sink.rowToFill())
                try sink.commitRow()
            }
        }
        return false
    }

    /// Reads libtiff's RGBA, band by band.
    private func readColors(_ conversion: ColorConversion?, into sink: inout RowSink) throws(ImageError) -> Bool {
        var image = TIFFRGBAImage()
        var message = [CChar](repeating: 0, count: 1_024)
        guard TIFFRGBAImageBegin(&image, file.handle, 1, &message) != 0 else {
            throw file.failure(
                String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        defer { TIFFRGBAImageEnd(&image) }
        // As stored: libtiff mirrors, but does not turn. The sink does both.
        image.orientation = UInt16(ORIENTATION_TOPLEFT)
        image.req_orientation = UInt16(ORIENTATION_TOPLEFT)
        let size = file.info.size
        let band = try MutablePixelBuffer(
            size: PixelSize(width: size.width, height: file.rowsPerBand), pool: context.pool)
        // libtiff's rows have no gaps.
        let rowBytes = size.width * 4
        for top in stride(from: 0, to: size.height, by: file.rowsPerBand) {
            try context.checkCancellation()
            try file.checkJPEGParts(from: top)
            let count = min(file.rowsPerBand, size.height - top)
            image.row_offset = Int32(top)
            let raster = band.row(0).assumingMemoryBound(to: UInt32.self)
            guard TIFFRGBAImageGet(&image, raster, UInt32(size.width), UInt32(count)) != 0 else {
                return try noteFailure(file.failure())
            }
            for y in 0..<count {
                let row = sink.rowToFill()
                row.copyMemory(from: band.row(0) + y * rowBytes, byteCount: rowBytes)
                finish(row, conversion)
                try sink.commitRow()
            }
        }
        return false
    }

    private func color(_ layout: TIFFLayout?, _ format: PixelFormat) -> DecodedColor {
        var profile = file.profile
        var source = ColorConversion.Source.rgb
        switch layout?.color {
        case .cmyk: source = .cmyk(inverted: false)
        case .gray, .invertedGray: source = .gray
        case .rgb: break
        // The numbers say it all.
        case .lab: profile = nil
        case nil:
            let grays = [PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE]
            if grays.contains(TIFFFile.photometric(file.handle)) { source = .gray }
        }
        return DecodedColor(
            profile: profile, source: source, options: options, format: format,
            bitsPerComponent: layout?.bitsPerSample ?? 8)
    }

    /// libtiff gives premultiplied pixels.
    private func finish(_ row: UnsafeMutableRawPointer, _ conversion: ColorConversion?) {
        let width = file.info.size.width
        if file.info.hasAlpha { Premultiplication.clamp(row, count: width, format: .rgba8) }
        guard let conversion else { return }
        if file.info.hasAlpha { Premultiplication.unpremultiply(row, into: row, count: width) }
        conversion.convert(row, count: width)
        if file.info.hasAlpha { Premultiplication.premultiply(row, count: width) }
    }

    /// - Returns: `true`, because the image is partial, if the options allow that.
    private func noteFailure(_ error: ImageError) throws(ImageError) -> Bool {
        guard options.allowsPartialImage, error.code == .truncatedImage else { throw error }
        return true
    }
}
#endif
