#if TIFF
internal import CTIFF
internal import FoundationEssentials
internal import TintypeCore

/// One decode of the first page of a TIFF file.
struct TIFFDecode {
    let file: TIFFFile
    let options: DecodeOptions
    let context: DecodeContext

    func run() throws(ImageError) -> Image {
        let info = file.info
        let layout = TIFFLayout(file)
        // What libtiff makes RGBA of itself has 8 bits.
        let format = layout.map { options.pixelFormat(bitsPerComponent: $0.bitsPerSample) } ?? .rgba8
        let output = info.outputSize(options, format: format)
        try info.check(context.limits, output: output, keptFrames: 1, format: format)
        // A band of up to eight bytes a pixel, and the strip that libtiff unpacks.
        let band = PixelSize(width: info.size.width, height: min(file.rowsPerBand, info.size.height))
        let reservation = try context.reserve(
            output: output, format: format, isCopied: info.orientation != .up, source: band, bitmaps: 4)
        defer { reservation.release() }
        var sink = try RowSink(
            stored: info.size, output: output, orientation: info.orientation, format: format, context: context)
        let isPartial: Bool
        if let layout {
            isPartial = try readSamples(layout, format, into: &sink)
        } else {
            isPartial = try readColors(into: &sink)
        }
        var properties = info.properties(options)
        if options.keepsColorSpace, let profile = file.profile {
            properties.colorSpace = ColorConversion.keptColorSpace(profile) ?? .sRGB
        }
        properties.metadata = file.metadata
        properties.isPartial = isPartial
        if isPartial { properties.hasAlpha = true }
        return Image(pixels: try sink.finish(), properties: properties)
    }

    private func readSamples(
        _ layout: TIFFLayout, _ format: PixelFormat, into sink: inout RowSink
    ) throws(ImageError) -> Bool {
        let bands = try TIFFSampleBands(
            file, layout: layout, format: format, conversion: conversion(layout.color, format), limits: context.limits)
        let height = file.info.size.height
        for top in stride(from: 0, to: height, by: file.rowsPerBand) {
            try context.checkCancellation()
            let count = min(file.rowsPerBand, height - top)
            guard bands.read(top: top, count: count) else { return try noteFailure(file.failure()) }
            for y in 0..<count {
                bands.convert(y, to: sink.rowToFill())
                try sink.commitRow()
            }
        }
        return false
    }

    /// Everything that libtiff makes RGBA of, band by band.
    private func readColors(into sink: inout RowSink) throws(ImageError) -> Bool {
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
        let conversion = conversion(.rgb, .rgba8)
        for top in stride(from: 0, to: size.height, by: file.rowsPerBand) {
            try context.checkCancellation()
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

    private func conversion(_ color: TIFFLayout.Color, _ format: PixelFormat) -> ColorConversion? {
        guard !options.keepsColorSpace, let profile = file.profile else { return nil }
        switch color {
        case .cmyk: return ColorConversion(profile: profile, source: .cmyk(inverted: false), format: format)
        case .lab: return nil
        default:
            let isGray = TIFFFile.short(file.handle, TIFFTAG_SAMPLESPERPIXEL) < 3
            return ColorConversion(profile: profile, source: isGray ? .gray : .rgb, format: format)
        }
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

    /// - Returns: true, that the image is partial, where the options allow it.
    private func noteFailure(_ error: ImageError) throws(ImageError) -> Bool {
        guard options.allowsPartialImage, error.code == .truncatedImage else { throw error }
        return true
    }
}
#endif
