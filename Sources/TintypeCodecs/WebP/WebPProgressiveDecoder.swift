internal import FoundationEssentials
internal import TintypeImages

/// Decodes a WebP file while its bytes arrive: the rows so far of a still image, the whole first frame of an animation.
final class WebPProgressiveDecoder: ProgressiveDecoder {
    private let options: DecodeOptions
    private let context: ProcessingContext
    private var data = Data()
    private var frames: ProgressiveFrames
    private var rows: WebPRows?

    init(options: DecodeOptions, context: ProcessingContext) {
        self.options = options
        self.context = context
        frames = ProgressiveFrames(WebPCoder(), options: options, context: context) {
            data, options throws(ImageError) in
            try WebPFrameDecoder(
                data, container: WebPContainer(data, limits: context.limits), for: .first, options: options,
                context: context)
        }
    }

    func append(_ chunk: Data) { data.append(chunk) }

    func append(_ chunk: Data, of data: Data) { self.data = data }

    func preview() throws(ImageError) -> Image? {
        let container: WebPContainer
        do throws(ImageError) { container = try WebPContainer(data, limits: context.limits) } catch {
            if error.code == .truncatedImage { return nil }
            throw error
        }
        guard !container.awaitsProfile else { return nil }
        if container.isAnimated { return try frames.preview(data) }
        // The orientation follows the picture.
        guard !container.announcesMetadata || container.isComplete else { return nil }
        return try advance(container)?.preview()
    }

    func finish() throws(ImageError) -> Image {
        do throws(ImageError) {
            let container = try WebPContainer(data, limits: context.limits)
            let image = container.isAnimated ? try frames.finish(data) : try advance(container)?.finish()
            if let image { return image }
        } catch {
            if error.isCancellation { throw error }
        }
        // Its memory is that of the whole picture, which is reserved anew.
        rows = nil
        return try WebPCoder().decode(data, options: options, context: context)
    }

    /// The rows so far, with those that the bytes allow now; `nil` for a picture that does not fill its canvas.
    private func advance(_ container: WebPContainer) throws(ImageError) -> WebPRows? {
        guard let frame = container.frames.first, frame.rect.covers(container.canvas) else { return nil }
        if rows == nil {
            let output = options.outputSize(for: container.info.displaySize)
            try container.info.check(context.limits, output: output, keptFrames: 1)
            let reservation = try context.reserve(
                output: output, isCopied: true, source: frame.rect.size, bitmaps: 2)
            rows = try WebPRows(container, frame, output: output, options: options, context: context, reservation)
        }
        guard let rows else { return nil }
        try data.withBytes { bytes throws(ImageError) in
            try rows.update(container, UnsafeRawBufferPointer(rebasing: bytes[frame.payload]))
        }
        return rows
    }
}

/// The rows of a still image that have been decoded so far.
private final class WebPRows {
    private var container: WebPContainer
    private let options: DecodeOptions
    private let context: ProcessingContext
    private let color: DecodedColor
    private let still: WebPStillDecoder
    /// Held as long as the rows.
    private let reservation: DecodeReservation
    /// As libwebp gives them; the memory is the decoder's until it is done.
    private var pixels: MutablePixelBuffer?
    private let decoder: WebPImageDecoder
    private var outcome = WebPImageDecoder.Outcome.truncated(rows: 0)
    private var shown = 0

    init(
        _ container: WebPContainer, _ frame: WebPContainer.Frame, output: PixelSize, options: DecodeOptions,
        context: ProcessingContext, _ reservation: DecodeReservation
    ) throws(ImageError) {
        self.container = container
        self.options = options
        self.context = context
        self.reservation = reservation
        color = DecodedColor(profile: container.profile, source: .rgb, options: options)
        still = WebPStillDecoder(frame, info: container.info, output: output, color: color, context: context)
        let pixels = try MutablePixelBuffer(size: still.size, pool: context.pool)
        decoder = try WebPImageDecoder(
            size: still.size, isScaled: still.size != frame.rect.size, skipsFilter: still.skipsFilter,
            into: pixels.row(0), bytesPerRow: pixels.bytesPerRow)
        self.pixels = consume pixels
    }

    func update(_ container: WebPContainer, _ payload: UnsafeRawBufferPointer) throws(ImageError) {
        self.container = container
        if outcome != .complete { outcome = try decoder.update(payload) }
    }

    func preview() throws(ImageError) -> Image? {
        let rows = if case .truncated(let rows) = outcome { rows } else { still.size.height }
        guard rows > shown else { return nil }
        shown = rows
        let copy = try MutablePixelBuffer(size: still.size, cleared: false, pool: context.pool)
        for y in 0..<rows {
            if let row = pixels?.row(y) { copy.row(y).copyMemory(from: row, byteCount: still.size.width * 4) }
        }
        return try image(copy, rows: rows, isPartial: true)
    }

    /// The image; `nil` if it is not whole.
    func finish() throws(ImageError) -> Image? {
        guard outcome == .complete, container.isComplete, let pixels = pixels.take() else { return nil }
        return try image(pixels, rows: still.size.height, isPartial: false)
    }

    private func image(
        _ pixels: consuming MutablePixelBuffer, rows: Int, isPartial: Bool
    ) throws(ImageError) -> Image {
        var properties = container.properties(options, colorSpace: color.space)
        properties.isPartial = isPartial
        if rows < still.size.height { properties.hasAlpha = true }
        return Image(pixels: try still.picture(pixels, rows: rows), properties: properties)
    }
}
