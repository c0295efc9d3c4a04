internal import FoundationEssentials
internal import TintypeImages

/// Composes the frames of an animated PNG; gives a still image as an animation of a single frame.
final class PNGFrameDecoder: SeekableFrames {
    var state: FrameDecoderState
    private var chunks: PNGChunks
    private var animation: PNGAnimation?
    private let context: ProcessingContext
    private let color: DecodedColor
    /// The format of a frame's rows.
    private let working: PixelFormat
    /// The pixels that have been drawn so far, in the size of the file; `nil` until an animation's first frame.
    private var canvas: AnimationCanvas?

    init(
        _ data: Data, _ chunks: PNGChunks, for purpose: FramePurpose, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) {
        var chunks = chunks
        if purpose != .arriving, !options.firstFrameOnly, try Self.hasAllPixels(chunks, data, context) {
            chunks.completeLastFrame()
        }
        self.chunks = chunks
        self.context = context
        animation = chunks.animation
        let info = chunks.info
        let isPartial = chunks.animation != nil && !info.isComplete && !options.firstFrameOnly
        guard !isPartial || purpose.allowsPart(options) else {
            throw .truncated("the PNG data ends before the animation is complete")
        }
        try context.limits.check(size: info.size, output: info.size)
        // The canvas, the part of it that is restored, and the frame that is drawn, perhaps with 16 bits before it has 8.
        let isDeep = chunks.header.bitDepth == 16 && chunks.profileName != nil
        let setup = try FrameSetup(info, for: purpose, options: options, context: context, bitmaps: isDeep ? 5 : 3)
        // Errors of the header are found before the first frame.
        let profile = try data.withBytes { bytes throws(ImageError) in
            _ = try PNGReader(bytes, skipsPalette: chunks.hasSuggestedPalette)
            return chunks.profile(in: bytes)
        }
        working = chunks.workingFormat(.rgba8, profile: profile)
        color = chunks.color(profile, options, format: working)
        state = FrameDecoderState(
            data, info: info, properties: chunks.properties(options, colorSpace: color.space), isPartial: isPartial,
            setup: setup)
    }

    /// Returns true if the bytes of an animation end behind its last pixel, as in files that lack their end. Browsers show such a file like
    /// any other.
    private static func hasAllPixels(
        _ chunks: PNGChunks, _ data: Data, _ context: ProcessingContext
    ) throws(ImageError) -> Bool {
        guard chunks.endsAtEndChunk, let animation = chunks.animation, animation.hasAllFrames,
            let frame = animation.frames.last
        else { return false }
        do throws(ImageError) {
            try context.limits.check(size: chunks.header.size, output: chunks.header.size)
            guard let row = ScratchBytes(frame.size.width * 4, pool: context.pool) else { return false }
            let file = try data.withBytes { bytes throws(ImageError) in PNGFrameFile(frame, chunks, bytes).bytes }
            try file.withBytes { bytes throws(ImageError) in
                let reader = try PNGReader(bytes, checksCRC: false)
                try reader.start()
                for _ in 0..<reader.passes {
                    for _ in 0..<frame.size.height { try reader.readRow(row.base) }
                    try context.checkCancellation()
                }
            }
            return true
        } catch {
            if error.isCancellation { throw error }
            return false
        }
    }

    var isWhole: Bool { chunks.isComplete }

    func arrivedFrame() throws(ImageError) -> ImageFrame? {
        (animation.map { state.next < $0.wholeFrames } ?? (isWhole && state.next == 0)) ? try nextFrame() : nil
    }

    func extend(_ data: Data) throws(ImageError) {
        let chunks = try PNGChunks(data)
        // Chunks that turn out to contradict each other leave the default image: the frames so far were of no animation.
        guard animation == nil || chunks.animation != nil else {
            throw .truncated("the animation chunks of the PNG contradict each other")
        }
        let options = state.setup.options
        let info = chunks.info
        try state.extend(
            data, info: info, properties: chunks.properties(options, colorSpace: color.space),
            isPartial: chunks.animation != nil && !info.isComplete && !options.firstFrameOnly)
        self.chunks = chunks
        animation = chunks.animation
    }

    func begin(at index: Int, over picture: PixelBuffer?) {
        state.next = index
        if let picture { canvas?.show(picture) } else { canvas?.reset() }
    }

    func isKeyframe(_ index: Int) -> Bool {
        guard let animation, index > 0 else { return true }
        return animation.isKeyframe(index, canvas: info.size, isOpaque: !chunks.hasAlpha)
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard let animation else { return try stillFrame() }
        guard state.next < animation.frames.count else { return nil }
        let frame = animation.frames[state.next]
        var picture: PixelBuffer?
        guard try draw(frame, show: { () throws(ImageError) in picture = try canvas?.render() }) else { return nil }
        return picture.map { ImageFrame(pixels: $0, duration: FrameTiming.played(frame.delay)) }
    }

    func skipFrame() throws(ImageError) -> Bool {
        guard let animation else { return try stillFrame() != nil }
        return state.next < animation.frames.count ? try draw(animation.frames[state.next]) {} : false
    }

    /// Draws the next frame.
    /// - Parameter show: called when it is on the canvas.
    /// - Returns: false if it is not there.
    private func draw(
        _ frame: PNGAnimation.Frame, show: () throws(ImageError) -> Void
    ) throws(ImageError) -> Bool {
        try context.checkCancellation()
        do throws(ImageError) {
            try compose(frame, show: show)
        } catch {
            guard isIncomplete(state.next) else { throw error }
            try state.endBeforeFrame(error)
            return false
        }
        state.next += 1
        return true
    }

    /// Draws a frame, and disposes of its part of the canvas before the next.
    private func compose(_ frame: PNGAnimation.Frame, show: () throws(ImageError) -> Void) throws(ImageError) {
        let pixels = try decodeUnlessDamaged(frame)
        if canvas == nil {
            canvas = try AnimationCanvas(
                size: info.size, output: outputSize, orientation: chunks.orientation, context: context)
        }
        try state.seekPoints.pass(state.next) { () throws(ImageError) in try canvas?.copy() }
        let rect = frame.rect
        // The first frame cannot go back to anything.
        let disposal = state.next == 0 && frame.disposal == .restorePrevious ? .clear : frame.disposal
        if disposal == .restorePrevious { try canvas?.save(rect) }
        if let pixels { canvas?.draw(pixels, at: rect, rows: frame.size.height, blends: frame.blends) }
        try show()
        switch disposal {
        case .keep: break
        case .clear: canvas?.clear(rect)
        case .restorePrevious: canvas?.restore()
        }
    }

    private func stillFrame() throws(ImageError) -> ImageFrame? {
        guard state.next == 0 else { return nil }
        let image = try state.data.withBytes { bytes throws(ImageError) in
            try PNGDecoder(chunks: chunks, options: state.setup.options, context: context).run(bytes)
        }
        state.next = 1
        return ImageFrame(pixels: image.pixels)
    }

    /// Returns true for the last frame of a file that ends within it.
    private func isIncomplete(_ index: Int) -> Bool {
        guard let animation, !isWhole else { return false }
        return index >= animation.wholeFrames
    }

    /// Decodes a frame by itself; `nil` if it is damaged and can be passed over.
    private func decodeUnlessDamaged(_ frame: PNGAnimation.Frame) throws(ImageError) -> MutablePixelBuffer? {
        do throws(ImageError) { return try decode(frame) } catch {
            guard !isIncomplete(state.next) else { throw error }
            try state.skipDamagedFrame(error)
            return nil
        }
    }

    /// Decodes a frame by itself.
    private func decode(_ frame: PNGAnimation.Frame) throws(ImageError) -> MutablePixelBuffer {
        let pixels = try MutablePixelBuffer(size: frame.size, pool: context.pool)
        let isDone = try state.data.withBytes { bytes throws(ImageError) in unpack(frame, of: bytes, to: pixels) }
        if !isDone { try read(frame, to: pixels) }
        return pixels
    }

    /// Decodes a frame without libpng, if it is whole and ordinary.
    private func unpack(
        _ frame: PNGAnimation.Frame, of bytes: UnsafeRawBufferPointer, to pixels: borrowing MutablePixelBuffer
    ) -> Bool {
        let bitmap = UnsafeMutableRawBufferPointer(start: pixels.row(0), count: pixels.byteCount)
        // The memory for larger rows isn't reserved.
        guard chunks.header.bitDepth <= 8, let layout = PNGLayout(chunks, size: frame.size, bytes, format: .rgba8),
            var rows = PNGUnpackedRows(layout, frame.data, of: bytes, bitmap: bitmap, context: context)
        else { return false }
        let finisher = RowFinisher(
            width: frame.size.width, conversion: color.conversion, premultiplies: chunks.hasAlpha)
        for y in 0..<frame.size.height {
            rows.read(to: pixels.row(y))
            finisher.finish(pixels.row(y))
        }
        return true
    }

    /// Decodes a frame with libpng, which knows no animations: it is given a PNG of this frame alone.
    private func read(
        _ frame: PNGAnimation.Frame, to pixels: borrowing MutablePixelBuffer
    ) throws(ImageError) {
        let file = try state.data.withBytes { bytes throws(ImageError) in PNGFrameFile(frame, chunks, bytes).bytes }
        guard working != .rgba8 else { return try read(file, to: pixels) }
        let deep = try MutablePixelBuffer(size: frame.size, format: working, pool: context.pool)
        try read(file, to: deep)
        let rounded = try deep.freeze().converted(to: .rgba8, pool: context.pool)
        for y in 0..<frame.size.height {
            rounded.withRow(y) { row in
                if let base = row.baseAddress { pixels.row(y).copyMemory(from: base, byteCount: frame.size.width * 4) }
            }
        }
    }

    /// Decodes the file of a frame into pixels of its size, in the format that rows are read in.
    private func read(_ file: Data, to pixels: borrowing MutablePixelBuffer) throws(ImageError) {
        try file.withBytes { bytes throws(ImageError) in
            let reader = try PNGReader(bytes, checksCRC: false)
            try reader.start(format: working)
            let finisher = RowFinisher(
                width: pixels.width, conversion: color.conversion, premultiplies: reader.hasAlpha, format: working)
            for _ in 0..<reader.passes {
                for y in 0..<pixels.height { try reader.readRow(pixels.row(y)) }
                try context.checkCancellation()
            }
            for y in 0..<pixels.height { finisher.finish(pixels.row(y)) }
        }
    }
}

/// A PNG file that holds a frame of an animation, without checksums.
private struct PNGFrameFile {
    private(set) var bytes = Data()

    init(_ frame: PNGAnimation.Frame, _ chunks: PNGChunks, _ source: UnsafeRawBufferPointer) {
        let length = frame.data.reduce(0) { $0 + $1.count }
        bytes.reserveCapacity(length + 128 + chunks.sharedChunks.reduce(0) { $0 + $1.count })
        bytes.append(contentsOf: PNGChunks.signature)
        var header = chunks.header.bytes
        header.replaceSubrange(
            0..<8, with: PNGChunk.bigEndian(frame.size.width) + PNGChunk.bigEndian(frame.size.height))
        begin(.ihdr, length: 13)
        bytes.append(contentsOf: header)
        end()
        for chunk in chunks.sharedChunks { bytes.append(contentsOf: source[chunk]) }
        for part in frame.data {
            begin(.idat, length: part.count)
            bytes.append(contentsOf: source[part])
            end()
        }
        begin(.iend, length: 0)
        end()
    }

    private mutating func begin(_ type: PNGChunks.ChunkType, length: Int) {
        bytes.append(contentsOf: PNGChunk.bigEndian(length))
        bytes.append(contentsOf: type.bytes)
    }

    private mutating func end() { bytes.append(contentsOf: [0, 0, 0, 0]) }
}
