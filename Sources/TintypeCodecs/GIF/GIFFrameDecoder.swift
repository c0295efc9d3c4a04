internal import FoundationEssentials
internal import TintypeCore

/// Decodes the frames of a GIF one by one and draws them over each other as browsers do.
final class GIFFrameDecoder: ArrivingFrames {
    private(set) var info: ImageInfo
    let outputSize: PixelSize
    private(set) var properties: Image.Properties
    private(set) var isPartial: Bool

    private var data: Data
    private var blocks: GIFBlocks
    private let options: DecodeOptions
    private let keepsFrames: Bool
    private let context: DecodeContext
    private var canvas: AnimationCanvas
    private var decoder = LZWDecoder()
    private var next = 0
    /// What is to be done with the last frame before the next one is drawn.
    private var pendingDisposal: (rect: PixelRect, disposal: GIFBlocks.Disposal)?

    /// - Parameter keepsFrames: whether all frames will be in memory at once, which the limits are to count.
    init(
        _ data: Data, options: DecodeOptions, context: DecodeContext, keepsFrames: Bool
    ) throws(ImageError) {
        blocks = try Self.blocks(of: data, context)
        info = blocks.info
        outputSize = options.outputSize(for: info.displaySize, frameCount: info.frameCount)
        try info.check(context.limits, output: outputSize, keptFrames: keepsFrames ? info.frameCount : 1)
        isPartial = blocks.isTruncated
        guard !blocks.isTruncated || options.allowsPartialImage else {
            throw .truncated("the GIF ends in the middle of frame \(max(1, blocks.frames.count))")
        }
        guard !blocks.frames.isEmpty else { throw .truncated("the GIF ends before its first frame") }
        self.data = data
        self.options = options
        self.context = context
        self.keepsFrames = keepsFrames
        properties = info.properties(options)
        canvas = try AnimationCanvas(size: blocks.screen, output: outputSize, context: context)
    }

    private static func blocks(of data: Data, _ context: DecodeContext) throws(ImageError) -> GIFBlocks {
        let maximumFrames = context.limits.maximumFrames
        return try data.withBytes { bytes throws(ImageError) in try GIFBlocks(bytes, maximumFrames: maximumFrames) }
    }

    var isWhole: Bool { !blocks.isTruncated && blocks.hasTrailer }
    var hasWholeFrame: Bool { next < blocks.frames.count && blocks.frames[next].isComplete }

    func extend(_ data: Data) throws(ImageError) {
        let blocks = try Self.blocks(of: data, context)
        try blocks.info.check(context.limits, output: outputSize, keptFrames: keepsFrames ? blocks.frames.count : 1)
        self.data = data
        self.blocks = blocks
        info = blocks.info
        properties = info.properties(options)
        isPartial = blocks.isTruncated
    }

    func rewind() {
        canvas.reset()
        pendingDisposal = nil
        next = 0
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard next < blocks.frames.count else { return nil }
        let frame = blocks.frames[next]
        // Rows of a frame whose end is missing are shown only where there is no whole frame.
        guard frame.isComplete || next == 0 else { return nil }
        try context.checkCancellation()
        dispose()
        if frame.disposal == .restorePrevious { try canvas.save(frame.rect) }
        try draw(frame)
        pendingDisposal = (frame.rect, frame.disposal)
        next += 1
        let isAnimated = blocks.frames.count > 1
        return ImageFrame(
            pixels: try canvas.render(), duration: isAnimated ? FrameTiming.played(frame.delay) : .zero)
    }

    private func dispose() {
        guard let pendingDisposal else { return }
        switch pendingDisposal.disposal {
        case .keep: break
        case .clear: canvas.clear(pendingDisposal.rect)
        case .restorePrevious: canvas.restore()
        }
    }

    private func draw(_ frame: GIFBlocks.Frame) throws(ImageError) {
        let number = next + 1
        guard !frame.rect.size.isEmpty else { throw .corrupt("frame \(number) has a size of \(frame.rect.size)") }
        guard let visible = frame.rect.clipped(to: blocks.screen) else { return }
        // Rows behind the last visible one need no decoding, unless they come in between.
        let rows = frame.isInterlaced ? frame.rect.size.height : visible.maxY - frame.rect.y
        let wanted = frame.rect.size.width * rows
        guard wanted <= min(context.limits.maximumPixels, Int(Int32.max)) else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "frame \(number) claims \(frame.rect.size) pixels, over the limit of "
                    + "\(context.limits.maximumPixels)")
        }
        let palette = GIFPalette(frame: frame, global: blocks.palette, in: data)
        let outcome = try data.withBytes { bytes throws(ImageError) in
            try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[frame.data...]), wanted: wanted)
        }
        switch outcome {
        case .complete: break
        case .invalidCode: throw .corrupt("frame \(number) of the GIF has a code that means nothing")
        case .notEnough where !frame.isComplete: break
        case .notEnough:
            throw .corrupt("frame \(number) of the GIF has only \(decoder.count) of \(wanted) pixels")
        }
        copy(frame, visible, palette)
    }

    /// Puts the indices that were decoded on the canvas, as colours.
    private func copy(_ frame: GIFBlocks.Frame, _ visible: PixelRect, _ palette: borrowing GIFPalette) {
        let width = frame.rect.size.width
        let decodedRows = decoder.count / width
        let order = GIFRowOrder(height: frame.rect.size.height, isInterlaced: frame.isInterlaced)
        for index in 0..<decodedRows {
            let y = frame.rect.y + order.row(index)
            guard y < visible.maxY else { continue }
            palette.draw(
                decoder.indices + index * width, count: visible.size.width, to: canvas.row(y) + visible.x * 4)
        }
        canvas.touch()
    }
}
