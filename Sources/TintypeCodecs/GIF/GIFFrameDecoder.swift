internal import FoundationEssentials
internal import TintypeImages

/// Decodes the frames of a GIF in order and draws them over each other as browsers do.
final class GIFFrameDecoder: SeekableFrames {
    var state: FrameDecoderState
    private var blocks: GIFBlocks
    private var canvas: AnimationCanvas
    private var decoder = LZWDecoder()
    /// The frame whose pixels the decoder has started with.
    private var begun: Int?
    /// The number of rows of the first frame that have been shown before it was whole.
    private var shownRows = 0
    /// The disposal of the last frame, due before the next frame is drawn.
    private var pendingDisposal: (rect: PixelRect, disposal: FrameDisposal)?

    init(
        _ data: Data, for purpose: FramePurpose, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) {
        var blocks = try GIFBlocks(data, limits: context.limits)
        guard !blocks.frames.isEmpty else { throw .truncated("the GIF ends before its first frame") }
        // The canvas, the part of it that is restored, and the indices of a frame, which may be larger than the canvas.
        let (info, most) = (blocks.info, context.limits.maximumPixels)
        let indices = blocks.frames.map { Self.neededPixels($0, on: blocks.screen) }.filter { $0 <= most }.max() ?? 0
        let setup = try FrameSetup(
            info, for: purpose, options: options, context: context, bitmaps: 3,
            working: max(0, indices - blocks.screen.pixelCount))
        if try Self.hasAllPixels(blocks, data, context) { blocks.completeLastFrame() }
        self.blocks = blocks
        guard !blocks.isTruncated || purpose.allowsPart(options) else {
            throw .truncated("the GIF ends in the middle of frame \(max(1, blocks.frames.count))")
        }
        state = FrameDecoderState(
            data, info: info, properties: info.properties(options), isPartial: blocks.isTruncated, setup: setup)
        canvas = try AnimationCanvas(size: blocks.screen, output: setup.outputSize, context: context)
    }

    /// Returns true if the bytes end within the last frame, but behind its last pixel, as in files that lack their end. Browsers show
    /// such a frame like any other. One that is larger than the canvas isn't looked at. The indices fit into the memory that the setup has checked.
    private static func hasAllPixels(
        _ blocks: GIFBlocks, _ data: Data, _ context: ProcessingContext
    ) throws(ImageError) -> Bool {
        guard let frame = blocks.frames.last, !frame.isComplete, frame.data < data.count else { return false }
        let wanted = frame.rect.size.pixelCount
        let limits = context.limits
        let most = min(blocks.screen.pixelCount, limits.maximumPixels, limits.maximumBytes.bytes)
        guard wanted > 0, wanted <= most else { return false }
        var decoder = LZWDecoder()
        decoder.begin(wanted: wanted)
        return try data.withBytes { bytes throws(ImageError) in
            try decoder.update(UnsafeRawBufferPointer(rebasing: bytes[frame.data...]), context: context) == .complete
        }
    }

    var isTruncated: Bool { blocks.isTruncated }

    var isWhole: Bool { !blocks.isTruncated && blocks.hasTrailer }

    func extend(_ data: Data) throws(ImageError) {
        let blocks = try GIFBlocks(data, limits: state.setup.context.limits)
        let info = blocks.info
        try state.extend(
            data, info: info, properties: info.properties(state.setup.options), isPartial: blocks.isTruncated)
        self.blocks = blocks
    }

    func begin(at index: Int, over picture: PixelBuffer?) {
        if let picture { canvas.show(picture) } else { canvas.reset() }
        pendingDisposal = nil
        state.next = index
    }

    func isKeyframe(_ index: Int) -> Bool { blocks.isKeyframe(index) }

    func arrivedFrame() throws(ImageError) -> ImageFrame? {
        state.next < blocks.frames.count && blocks.frames[state.next].isComplete ? try nextFrame() : nil
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard let frame = try drawNext() else { return nil }
        let isAnimated = blocks.frames.count > 1
        return ImageFrame(
            pixels: try canvas.render(), duration: isAnimated ? FrameTiming.played(frame.delay) : .zero)
    }

    func skipFrame() throws(ImageError) -> Bool { try drawNext() != nil }

    private func drawNext() throws(ImageError) -> GIFBlocks.Frame? {
        guard state.next < blocks.frames.count else { return nil }
        let frame = blocks.frames[state.next]
        // Rows of a frame whose end is missing are shown only without a whole frame.
        guard frame.isComplete || state.next == 0 else { return nil }
        try state.setup.context.checkCancellation()
        dispose()
        try state.seekPoints.pass(state.next) { () throws(ImageError) in try canvas.copy() }
        if frame.disposal == .restorePrevious { try canvas.save(frame.rect) }
        do throws(ImageError) { try draw(frame) } catch {
            begun = nil
            try state.skipDamagedFrame(error)
        }
        // Also due where a frame is damaged: later drawing over its part is then right.
        pendingDisposal = (frame.rect, frame.disposal)
        state.next += 1
        return frame
    }

    private func dispose() {
        guard let pendingDisposal else { return }
        self.pendingDisposal = nil
        switch pendingDisposal.disposal {
        case .keep: break
        case .clear: canvas.clear(pendingDisposal.rect)
        case .restorePrevious: canvas.restore()
        }
    }

    private func draw(_ frame: GIFBlocks.Frame) throws(ImageError) {
        let number = state.next + 1
        // Among others, a frame without pixels changes nothing.
        guard !frame.rect.size.isEmpty || state.info.isAnimated && !state.setup.options.firstFrameOnly else {
            throw .corrupt("frame \(number) of the GIF has the invalid size \(frame.rect.size)")
        }
        guard let visible = frame.rect.clipped(to: blocks.screen) else { return }
        let wanted = try self.wanted(frame)
        let palette = GIFPalette(frame: frame, global: blocks.palette, in: state.data)
        let damage: ImageError? =
            switch try decode(frame, wanted: wanted) {
            case .complete: nil
            case .invalidCode: .corrupt("frame \(number) of the GIF has an invalid LZW code")
            case .notEnough where !frame.isComplete: nil
            case .notEnough:
                .corrupt("frame \(number) of the GIF has only \(decoder.count) of \(wanted) pixels")
            }
        if let damage {
            // Of a still image, the rows before the damage are a part; an animation passes over the frame.
            guard !state.info.isAnimated, decoder.count >= frame.rect.size.width else { throw damage }
            try state.notePart(damage)
        }
        begun = nil
        copy(frame, visible, palette)
    }

    /// The number of pixels of a frame that are to be decoded: zero for a frame that isn't seen.
    private static func neededPixels(_ frame: GIFBlocks.Frame, on screen: PixelSize) -> Int {
        guard !frame.rect.size.isEmpty, let visible = frame.rect.clipped(to: screen) else { return 0 }
        // Rows behind the last visible row need no decoding, unless they come in between.
        let rows = frame.isInterlaced ? frame.rect.size.height : visible.maxY - frame.rect.y
        return frame.rect.size.width * rows
    }

    /// Returns the number of pixels of a frame that are to be decoded.
    private func wanted(_ frame: GIFBlocks.Frame) throws(ImageError) -> Int {
        let wanted = Self.neededPixels(frame, on: blocks.screen)
        guard wanted <= min(state.setup.context.limits.maximumPixels, Int(Int32.max)) else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "frame \(state.next + 1) of the GIF claims \(frame.rect.size) pixels, over the limit of "
                    + "\(state.setup.context.limits.maximumPixels)")
        }
        return wanted
    }

    /// Decodes the available part of the next frame, where the last call stopped.
    private func decode(_ frame: GIFBlocks.Frame, wanted: Int) throws(ImageError) -> LZWDecoder.Outcome {
        if begun != state.next { decoder.begin(wanted: wanted) }
        begun = state.next
        let context = state.setup.context
        return try state.data.withBytes { bytes throws(ImageError) in
            try decoder.update(UnsafeRawBufferPointer(rebasing: bytes[frame.data...]), context: context)
        }
    }

    /// The rows of the first frame that are there; of an interlaced frame each stands for the rows between it and the next.
    func arrivingPicture() throws(ImageError) -> ArrivingPicture? {
        guard state.next == 0, let frame = blocks.frames.first, !frame.isComplete, frame.data < state.data.count,
            let visible = frame.rect.clipped(to: blocks.screen)
        else { return nil }
        _ = try decode(frame, wanted: try wanted(frame))
        let width = frame.rect.size.width
        let rows = decoder.count / width
        guard rows > shownRows else { return nil }
        shownRows = rows
        let palette = GIFPalette(frame: frame, global: blocks.palette, in: state.data)
        let order = GIFRowOrder(height: frame.rect.size.height, isInterlaced: frame.isInterlaced)
        var sink = try RowSink(stored: blocks.screen, output: state.setup.outputSize, context: state.setup.context)
        var isMissingRows = false
        for y in 0..<blocks.screen.height {
            let row = sink.rowToFill()
            row.initializeMemory(as: UInt8.self, repeating: 0, count: blocks.screen.width * 4)
            if y >= visible.y, y < visible.maxY {
                if let index = order.stored(for: y - frame.rect.y, available: rows) {
                    palette.draw(
                        decoder.indices + index * width, count: visible.size.width, to: row + visible.x * 4)
                } else {
                    isMissingRows = true
                }
            }
            try sink.commitRow()
        }
        return ArrivingPicture(pixels: try sink.finish(), isMissingRows: isMissingRows)
    }

    /// Puts the indices that were decoded on the canvas, as colors.
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
