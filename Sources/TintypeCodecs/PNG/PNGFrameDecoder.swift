internal import FoundationEssentials
internal import TintypeCore

/// Composes the frames of an animated PNG; gives a still image as an animation of one frame.
final class PNGFrameDecoder: SeekableFrames {
    private(set) var info: ImageInfo
    private(set) var properties: Image.Properties
    private(set) var isPartial: Bool
    var seekPoints: SeekPoints
    private(set) var next = 0

    private var data: Data
    private var chunks: PNGChunks
    private var animation: PNGAnimation?
    private let setup: FrameSetup
    private let context: DecodeContext
    private let color: DecodedColor
    /// What has been drawn so far, in the size of the file; `nil` until an animation's first frame.
    private var canvas: AnimationCanvas?

    var outputSize: PixelSize { setup.outputSize }

    init(
        _ data: Data, _ chunks: PNGChunks, for purpose: FramePurpose, options: DecodeOptions, context: DecodeContext
    ) throws(ImageError) {
        self.data = data
        self.chunks = chunks
        self.context = context
        seekPoints = SeekPoints(context)
        animation = chunks.animation
        info = chunks.info
        isPartial = animation != nil && !info.isComplete && !options.firstFrameOnly
        guard !isPartial || options.allowsPartialImage else {
            throw .truncated("the PNG data ends before the animation does")
        }
        try context.limits.check(size: info.size, output: info.size)
        // The canvas, the part of it that is restored, and the frame that is drawn.
        setup = try FrameSetup(info, for: purpose, options: options, context: context, bitmaps: 3)
        color = try data.withBytes { bytes throws(ImageError) in try PNGReader(bytes).color(options) }
        properties = chunks.properties(options, colorSpace: color.space)
    }

    var isWhole: Bool { chunks.isComplete }

    func arrivedFrame() throws(ImageError) -> ImageFrame? {
        (animation.map { next < $0.wholeFrames } ?? (isWhole && next == 0)) ? try nextFrame() : nil
    }

    func extend(_ data: Data) throws(ImageError) {
        let chunks = try data.withBytes { bytes throws(ImageError) in try PNGChunks(bytes) }
        try setup.check(chunks.info)
        self.data = data
        self.chunks = chunks
        animation = chunks.animation
        info = chunks.info
        properties = chunks.properties(setup.options, colorSpace: color.space)
        isPartial = animation != nil && !info.isComplete && !setup.options.firstFrameOnly
    }

    func rewind() throws(ImageError) { begin(at: 0, over: nil) }

    func begin(at index: Int, over picture: PixelBuffer?) {
        next = index
        if let picture { canvas?.show(picture) } else { canvas?.reset() }
    }

    func isKeyframe(_ index: Int) -> Bool {
        guard let animation, index > 0 else { return true }
        return animation.isKeyframe(index, canvas: info.size, isOpaque: !chunks.hasAlpha)
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard let animation else { return try stillFrame() }
        guard next < animation.frames.count else { return nil }
        let frame = animation.frames[next]
        var picture: PixelBuffer?
        guard try draw(frame, show: { () throws(ImageError) in picture = try canvas?.render() }) else { return nil }
        return picture.map { ImageFrame(pixels: $0, duration: FrameTiming.played(frame.delay)) }
    }

    func skipFrame() throws(ImageError) -> Bool {
        guard let animation else { return try stillFrame() != nil }
        return next < animation.frames.count ? try draw(animation.frames[next]) {} : false
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
            // Of a file that ends early, the frames before that are its part that is there.
            guard isPartial || error.code == .truncatedImage && setup.options.allowsPartialImage,
                !error.isCancellation, next > 0
            else { throw error }
            isPartial = true
            return false
        }
        next += 1
        return true
    }

    /// Draws a frame, and does with its part of the canvas what is to be done before the next.
    private func compose(_ frame: PNGAnimation.Frame, show: () throws(ImageError) -> Void) throws(ImageError) {
        let pixels = try decode(frame)
        if canvas == nil {
            canvas = try AnimationCanvas(
                size: info.size, output: outputSize, orientation: chunks.orientation, context: context)
        }
        try seekPoints.pass(next) { () throws(ImageError) in try canvas?.copy() }
        let rect = PixelRect(x: frame.x, y: frame.y, size: frame.size)
        // The first frame cannot go back to anything.
        let disposal = next == 0 && frame.disposal == .previous ? .background : frame.disposal
        if disposal == .previous { try canvas?.save(rect) }
        canvas?.draw(pixels, at: rect, rows: frame.size.height, blends: frame.blends)
        try show()
        switch disposal {
        case .none: break
        case .background: canvas?.clear(rect)
        case .previous: canvas?.restore()
        }
    }

    private func stillFrame() throws(ImageError) -> ImageFrame? {
        guard next == 0 else { return nil }
        let image = try data.withBytes { bytes throws(ImageError) in
            try PNGDecode(chunks: chunks, options: setup.options, context: context).run(bytes)
        }
        next = 1
        return ImageFrame(pixels: image.pixels)
    }

    /// Decodes a frame by itself.
    private func decode(_ frame: PNGAnimation.Frame) throws(ImageError) -> MutablePixelBuffer {
        let pixels = try MutablePixelBuffer(size: frame.size, pool: context.pool)
        let isDone = try data.withBytes { bytes throws(ImageError) in unpack(frame, of: bytes, to: pixels) }
        if !isDone { try read(frame, to: pixels) }
        return pixels
    }

    /// Decodes a frame without libpng, if it is whole and ordinary.
    private func unpack(
        _ frame: PNGAnimation.Frame, of bytes: UnsafeRawBufferPointer, to pixels: borrowing MutablePixelBuffer
    ) -> Bool {
        let bitmap = UnsafeMutableRawBufferPointer(start: pixels.row(0), count: pixels.byteCount)
        guard let layout = PNGLayout(chunks, size: frame.size, bytes),
            var rows = PNGUnpackedRows(layout, frame.data, of: bytes, bitmap: bitmap, pool: context.pool)
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
        let file = try data.withBytes { bytes throws(ImageError) in PNGFrameFile(frame, chunks, bytes).bytes }
        try file.withBytes { bytes throws(ImageError) in
            let reader = try PNGReader(bytes, checksCRC: false)
            try reader.start()
            let finisher = RowFinisher(
                width: frame.size.width, conversion: color.conversion, premultiplies: reader.hasAlpha)
            for _ in 0..<reader.passes {
                for y in 0..<frame.size.height { try reader.readRow(pixels.row(y)) }
                try context.checkCancellation()
            }
            for y in 0..<frame.size.height { finisher.finish(pixels.row(y)) }
        }
    }
}

/// A PNG file that holds one frame of an animation, without checksums.
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
