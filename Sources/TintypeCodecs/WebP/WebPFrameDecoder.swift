internal import FoundationEssentials
internal import TintypeImages

/// Decodes the frames of a WebP animation in order and lays them over each other; the background is transparent, as
/// browsers show it. A still image is a single frame.
final class WebPFrameDecoder: SeekableFrames {
    var state: FrameDecoderState
    private var container: WebPContainer
    private let context: ProcessingContext
    private let color: DecodedColor
    /// `nil` until an animation's first frame; a still image never has it.
    private var canvas: AnimationCanvas?

    init(
        _ data: Data, container: WebPContainer, for purpose: FramePurpose, options: DecodeOptions,
        context: ProcessingContext
    ) throws(ImageError) {
        guard !container.isTruncated || purpose.allowsPart(options) else {
            throw .truncated("the WebP file ends in the middle of frame \(max(1, container.frames.count))")
        }
        guard !container.frames.isEmpty else { throw .truncated("the WebP file ends before its first frame") }
        // The canvas and a layer of it, or the picture; and libwebp's working memory.
        let info = container.info
        let setup = try FrameSetup(
            info, for: purpose, options: options, context: context, bitmaps: container.isAnimated ? 3 : 2)
        self.container = container
        self.context = context
        color = DecodedColor(profile: container.profile, source: .rgb, options: options)
        state = FrameDecoderState(
            data, info: info, properties: container.properties(options, colorSpace: color.space),
            isPartial: container.isTruncated, setup: setup)
    }

    var isWhole: Bool { !container.isTruncated }

    func arrivedFrame() throws(ImageError) -> ImageFrame? {
        state.next < container.frames.count && container.frames[state.next].isComplete ? try nextFrame() : nil
    }

    func extend(_ data: Data) throws(ImageError) {
        let container = try WebPContainer(data, limits: context.limits)
        try state.extend(
            data, info: container.info, properties: container.properties(state.setup.options, colorSpace: color.space),
            isPartial: container.isTruncated)
        self.container = container
    }

    func begin(at index: Int, over picture: PixelBuffer?) {
        if let picture { canvas?.show(picture) } else { canvas?.reset() }
        state.next = index
    }

    func isKeyframe(_ index: Int) -> Bool { container.isKeyframe(index) }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard let frame = try upcoming() else { return nil }
        guard container.isAnimated || !frame.rect.covers(container.canvas) else {
            let pixels = try still(frame)
            state.next += 1
            return ImageFrame(pixels: pixels)
        }
        try draw(frame)
        let pixels = try canvas?.render()
        let isAnimated = container.frames.count > 1
        return pixels.map { ImageFrame(pixels: $0, duration: isAnimated ? FrameTiming.played(frame.duration) : .zero) }
    }

    func skipFrame() throws(ImageError) -> Bool {
        guard let frame = try upcoming() else { return false }
        // A still image consists only of itself.
        if container.isAnimated { try draw(frame) } else { state.next += 1 }
        return true
    }

    /// Draws the next frame, unless it is damaged.
    private func draw(_ frame: WebPContainer.Frame) throws(ImageError) {
        do throws(ImageError) { try compose(frame) } catch { try state.skipDamagedFrame(error) }
        state.next += 1
    }

    private func upcoming() throws(ImageError) -> WebPContainer.Frame? {
        guard state.next < container.frames.count else { return nil }
        let frame = container.frames[state.next]
        // Rows of a frame whose end is missing are shown only without a whole frame.
        guard frame.isComplete || state.next == 0 else { return nil }
        try context.checkCancellation()
        return frame
    }

    // MARK: An image

    /// Decodes an image that fills the canvas, at the smallest size that the requested size allows.
    private func still(_ frame: WebPContainer.Frame) throws(ImageError) -> PixelBuffer {
        let still = WebPStillDecoder(frame, info: info, output: outputSize, color: color, context: context)
        let buffer = try MutablePixelBuffer(size: still.size, pool: context.pool)
        let outcome = try decode(
            frame, size: still.size, skipsFilter: still.skipsFilter, into: buffer.row(0),
            bytesPerRow: buffer.bytesPerRow)
        var rows = still.size.height
        if case .truncated(let decoded) = outcome {
            try noteTruncation()
            rows = decoded
        }
        return try still.picture(buffer, rows: rows)
    }

    // MARK: Frames

    private func compose(_ frame: WebPContainer.Frame) throws(ImageError) {
        if canvas == nil {
            canvas = try AnimationCanvas(
                size: container.canvas, output: outputSize, orientation: info.orientation, context: context)
        }
        if state.next > 0, container.frames[state.next - 1].clearsAfterwards {
            canvas?.clear(container.frames[state.next - 1].rect)
        }
        try state.seekPoints.pass(state.next) { () throws(ImageError) in try canvas?.copy() }
        guard let base = canvas?.row(0), let bytesPerRow = canvas?.bytesPerRow else { return }
        guard frame.rect.clipped(to: container.canvas) == frame.rect else {
            throw .corrupt("frame \(state.next + 1) of the WebP file lies outside the canvas")
        }
        let blends = frame.blends && frame.hasAlpha
        // A frame that turns out to be damaged must leave the canvas as it is.
        if blends || state.setup.options.allowsPartialImage {
            let layer = try MutablePixelBuffer(size: frame.rect.size, pool: context.pool)
            let rows = try decodeRows(of: frame, into: layer.row(0), bytesPerRow: layer.bytesPerRow)
            canvas?.draw(layer, at: frame.rect, rows: rows, blends: blends)
        } else {
            let place = base + frame.rect.y * bytesPerRow + frame.rect.x * 4
            _ = try decodeRows(of: frame, into: place, bytesPerRow: bytesPerRow)
            canvas?.touch()
        }
    }

    /// Decodes the rows of a frame, premultiplied.
    /// - Returns: the number of available rows.
    private func decodeRows(
        of frame: WebPContainer.Frame, into rows: UnsafeMutableRawPointer, bytesPerRow: Int
    ) throws(ImageError) -> Int {
        let size = frame.rect.size
        var done = size.height
        if case .truncated(let decoded) = try decode(frame, size: size, into: rows, bytesPerRow: bytesPerRow) {
            try noteTruncation()
            done = decoded
        }
        let finisher = RowFinisher(
            width: size.width, conversion: color.conversion, premultiplies: frame.hasAlpha,
            makesOpaque: frame.hidesAlpha)
        for y in 0..<done { finisher.finish(rows + y * bytesPerRow) }
        return done
    }

    private func decode(
        _ frame: WebPContainer.Frame, size: PixelSize, skipsFilter: Bool = false, into rows: UnsafeMutableRawPointer,
        bytesPerRow: Int
    ) throws(ImageError) -> WebPImageDecoder.Outcome {
        let context = context
        return try state.data.withBytes { bytes throws(ImageError) in
            try WebPImageDecoder(
                size: size, isScaled: size != frame.rect.size, skipsFilter: skipsFilter, into: rows,
                bytesPerRow: bytesPerRow
            ).decode(UnsafeRawBufferPointer(rebasing: bytes[frame.payload]), context: context)
        }
    }

    /// A frame that is whole by its chunk but has too few bytes is damaged.
    private func noteTruncation() throws(ImageError) {
        try state.notePart(.truncated("the pixels of frame \(state.next + 1) of the WebP file end too early"))
    }
}
