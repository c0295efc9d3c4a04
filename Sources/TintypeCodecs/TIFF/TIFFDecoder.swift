#if TIFF
internal import CTIFF
internal import FoundationEssentials
internal import TintypeImages

/// Decodes the first page of a TIFF file.
struct TIFFDecoder {
    let file: TIFFFile
    let options: DecodeOptions
    let context: ProcessingContext

    func run() throws(ImageError) -> Image {
        let info = file.info
        let layout = file.layout
        let format = info.pixelFormat(options)
        let output = info.outputSize(options, format: format)
        try info.check(context.limits, output: output, keptFrames: 1, format: format)
        try file.checkSharedParts()
        try checkUnpackedBytes(layout)
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

    /// Refuses a page that unpacks to many times the bytes of its pixels. Further samples, and what tiles have beyond the page, take as
    /// long as pixels, and all strips or tiles may be the same few bytes of the file.
    private func checkUnpackedBytes(_ layout: TIFFLayout?) throws(ImageError) {
        let (handle, size) = (file.handle, file.info.size)
        var (parts, bytes) = (size.height, Int(TIFFScanlineSize(handle)))
        if TIFFIsTiled(handle) != 0 {
            let width = max(1, Int(TIFFFile.long(handle, TIFFTAG_TILEWIDTH)))
            parts = ((size.width + width - 1) / width) * ((size.height + file.rowsPerBand - 1) / file.rowsPerBand)
            bytes = Int(TIFFTileSize(handle))
        }
        let (plane, isTooLarge) = max(0, bytes).multipliedReportingOverflow(by: parts)
        let (unpacked, overflow) = plane.multipliedReportingOverflow(by: layout?.planes.count ?? 1)
        // Four samples of 16 bits; small limits are for the picture.
        let most = max(256 << 20, 8 * min(context.limits.maximumPixels, 1 << 48))
        guard !isTooLarge, !overflow, unpacked <= most else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason:
                    "the samples of the TIFF file take \(ByteCount(unpacked)), over the limit of \(ByteCount(most)), "
                    + "eight bytes for each pixel that the limits allow")
        }
    }

    /// The bytes of the blocks of memory that reading takes.
    private func blocks(_ layout: TIFFLayout?) throws(ImageError) -> [Int] {
        if let layout {
            let memory = try TIFFSampleBands.memory(file, layout, limits: context.limits)
            return [memory.band, memory.tile, memory.strip]
        }
        // A band of RGBA, and the strip or the tile that libtiff unpacks.
        let part = TIFFIsTiled(file.handle) != 0 ? TIFFTileSize(file.handle) : TIFFStripSize(file.handle)
        return [file.info.size.width * file.rowsPerBand * 4, max(0, Int(part))]
    }

    private func readSamples(
        _ layout: TIFFLayout, _ format: PixelFormat, _ conversion: ColorConversion?, into sink: inout RowSink
    ) throws(ImageError) -> Bool {
        let bands = try TIFFSampleBands(file, layout: layout, context: context)
        let alpha = layout.alpha?.sample
        let rows = TIFFRows(
            bands, layout: layout, format: format, conversion: conversion,
            color: try TIFFSampleRange(file.handle, layout, isAlpha: false) { () throws(ImageError) in
                try maximum(of: 0, in: bands, layout)
            },
            alpha: try TIFFSampleRange(file.handle, layout, isAlpha: true) { () throws(ImageError) in
                try alpha.map { alpha throws(ImageError) in try maximum(of: alpha, in: bands, layout) } ?? 0
            })
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

    /// Returns the largest number of one sample of all pixels that can be read.
    private func maximum(
        of sample: Int, in bands: TIFFSampleBands, _ layout: TIFFLayout
    ) throws(ImageError) -> Double {
        var largest = 0.0
        let height = file.info.size.height
        for top in stride(from: 0, to: height, by: bands.rows) {
            if top % file.rowsPerBand == 0 || top & 127 == 0 { try context.checkCancellation() }
            let count = min(bands.rows, height - top)
            guard bands.read(top: top, count: count) else { break }
            for y in 0..<count { largest = max(largest, bands.samples(sample, y)?.maximum(layout.sample) ?? 0) }
        }
        return largest
    }

    /// Reads what libtiff converts to RGBA, band by band. All of it is opaque.
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
                conversion?.convert(row, count: size.width)
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
        case .rgb, .palette, nil: break
        // The numbers say it all.
        case .lab: profile = nil
        }
        return DecodedColor(
            profile: profile, source: source, options: options, format: format,
            bitsPerComponent: file.info.bitsPerComponent)
    }

    /// - Returns: `true`, because the image is partial, if the options allow that.
    private func noteFailure(_ error: ImageError) throws(ImageError) -> Bool {
        guard options.allowsPartialImage, error.code == .truncatedImage else { throw error }
        return true
    }
}
#endif
