internal import CPNGShim
internal import FoundationEssentials
internal import TintypeImages

/// The rows of a still PNG as they come from a pusher.
final class PNGArrivingRows {
    /// Why rows are no longer taken.
    private(set) var failure: ImageError?

    private let chunks: PNGChunks
    private let options: DecodeOptions
    private let context: ProcessingContext
    private let color: DecodedColor
    private let hasAlpha: Bool
    private let output: PixelSize
    private let convertsAfter: Bool
    private let finisher: RowFinisher
    /// Held as long as the rows.
    private let reservation: DecodeReservation
    /// Of an image that is not interlaced: where its rows go.
    private var sink: RowSink?
    /// Of an interlaced image, with all rows in every pass: its pixels as libpng gives them.
    private var bitmap: MutablePixelBuffer?
    /// The number of rows that have come, counting the rows of each pass again.
    private var count = 0
    private var shown = 0

    /// Starts a pusher that has come to the pixels.
    /// - Parameters:
    ///   - chunks: those before the pixels.
    ///   - output: the size of the image.
    init(
        _ pusher: PNGPushReader, _ chunks: PNGChunks, profile: Data?, output: PixelSize, options: DecodeOptions,
        context: ProcessingContext
    ) throws(ImageError) {
        self.chunks = chunks
        self.options = options
        self.context = context
        self.output = output
        let source = chunks.header.size
        try context.limits.check(size: source, output: output)
        reservation = try chunks.reserve(output: output, unpacksAtOnce: false, context: context)
        try pusher.start()
        color = chunks.color(profile, options)
        hasAlpha = pusher.header.has_alpha != 0
        convertsAfter = output.pixelCount < source.pixelCount && color.keepsAverages
        finisher = RowFinisher(
            width: source.width, conversion: convertsAfter ? nil : color.conversion, premultiplies: hasAlpha)
        if chunks.header.isInterlaced {
            try context.limits.check(size: source, output: source)
            bitmap = try MutablePixelBuffer(size: source, cleared: true, pool: context.pool)
        } else {
            sink = try RowSink(stored: source, output: output, orientation: chunks.orientation, context: context)
        }
        pusher.setRows(
            tintype_png_rows(
                context: Unmanaged.passUnretained(self).toOpaque(),
                row_to_fill: { context, y in
                    let rows = context.map { Unmanaged<PNGArrivingRows>.fromOpaque($0).takeUnretainedValue() }
                    return rows?.rowToFill(Int(y))?.assumingMemoryBound(to: UInt8.self)
                },
                row_is_filled: { context, _ in
                    context.map { Unmanaged<PNGArrivingRows>.fromOpaque($0).takeUnretainedValue() }?.commitRow()
                }))
    }

    /// The picture so far; `nil` if nothing has come since the last call.
    func preview() throws(ImageError) -> Image? {
        guard failure == nil, count > shown else { return nil }
        shown = count
        if let rows = sink?.rows, let pixels = try sink?.snapshot() {
            return try image(pixels, chunks, isPartial: true, isMissingRows: rows < chunks.header.size.height)
        }
        guard let pixels = try guessed() else { return nil }
        // The first pass has something for every row.
        return try image(pixels, chunks, isPartial: true, isMissingRows: count < chunks.header.size.height)
    }

    /// The image; `nil` if rows are missing, or if data after the pixels changes how they are seen.
    /// - Parameter chunks: the chunks of the whole file.
    func finish(_ chunks: PNGChunks) throws(ImageError) -> Image? {
        guard failure == nil, chunks.orientation == self.chunks.orientation else { return nil }
        if chunks.header.isInterlaced {
            guard let pixels = try guessed() else { return nil }
            return try image(pixels, chunks, isPartial: false, isMissingRows: false)
        }
        guard let sink = sink.take(), sink.rows == chunks.header.size.height else { return nil }
        return try image(try sink.finish(), chunks, isPartial: false, isMissingRows: false)
    }

    /// The picture of an interlaced image: where pixels have not come, libpng has repeated those before them.
    private func guessed() throws(ImageError) -> PixelBuffer? {
        let size = chunks.header.size
        var sink = try RowSink(stored: size, output: output, orientation: chunks.orientation, context: context)
        for y in 0..<size.height {
            guard let source = bitmap?.row(y) else { return nil }
            let row = sink.rowToFill()
            row.copyMemory(from: source, byteCount: size.width * 4)
            finisher.finish(row)
            try sink.commitRow()
        }
        return try sink.finish()
    }

    private func image(
        _ pixels: PixelBuffer, _ chunks: PNGChunks, isPartial: Bool, isMissingRows: Bool
    ) throws(ImageError) -> Image {
        var pixels = pixels
        if convertsAfter, let conversion = color.conversion {
            pixels = try conversion.convert(pixels, hasAlpha: hasAlpha || isMissingRows, pool: context.pool)
        }
        var properties = chunks.properties(options, colorSpace: color.space)
        properties.isPartial = isPartial
        if isMissingRows { properties.hasAlpha = true }
        return Image(pixels: pixels, properties: properties)
    }

    // MARK: Called by libpng

    private func rowToFill(_ y: Int) -> UnsafeMutableRawPointer? {
        guard failure == nil, y < chunks.header.size.height else { return nil }
        return bitmap?.row(y) ?? (sink?.rows == y ? sink?.rowToFill() : nil)
    }

    private func commitRow() {
        count += 1
        do throws(ImageError) {
            if bitmap != nil {
                if count & 127 == 0 { try context.checkCancellation() }
                return
            }
            if let row = sink?.rowToFill() { finisher.finish(row) }
            try sink?.commitRow()
        } catch {
            failure = error
        }
    }
}
