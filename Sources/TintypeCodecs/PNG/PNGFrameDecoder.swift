internal import FoundationEssentials
internal import TintypeCore

/// Composes the frames of an animated PNG; gives a still image as an animation of one frame.
final class PNGFrameDecoder: FrameDecoder {
    let info: ImageInfo
    let outputSize: PixelSize
    private let data: Data
    private let chunks: PNGChunks
    private let animation: PNGAnimation?
    private let options: DecodeOptions
    private let context: DecodeContext
    private let color: PNGColor
    /// What has been drawn so far, in the size of the file.
    private var canvas: FrameCanvas?
    private var nextIndex = 0

    init(_ data: Data, _ chunks: PNGChunks, options: DecodeOptions, context: DecodeContext) throws(ImageError) {
        self.data = data
        self.chunks = chunks
        self.options = options
        self.context = context
        animation = chunks.animation
        info = chunks.info
        outputSize = options.outputSize(for: info.displaySize, frameCount: info.frameCount)
        try context.limits.check(size: info.size, output: info.size)
        try context.limits.check(size: info.size, output: PixelSize(width: 1, height: 1), frameCount: info.frameCount)
        color = try data.withBytes { bytes throws(ImageError) in PNGColor(try PNGReader(bytes), options) }
    }

    func rewind() {
        nextIndex = 0
        canvas = nil
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard let animation else { return try stillFrame() }
        guard nextIndex < animation.frames.count else { return nil }
        try context.checkCancellation()
        let frame = animation.frames[nextIndex]
        let canvas: FrameCanvas
        if let present = self.canvas {
            canvas = present
        } else {
            canvas = try FrameCanvas(size: info.size, pool: context.pool)
            self.canvas = canvas
        }
        let pixels = try decode(frame)
        try canvas.draw(pixels, frame)
        let picture = try canvas.picture(outputSize, chunks.orientation, context)
        // What is to go, goes before the next frame; the first cannot go back to anything.
        canvas.dispose(nextIndex == 0 && frame.disposal == .previous ? .background : frame.disposal)
        nextIndex += 1
        return ImageFrame(pixels: picture, duration: FrameTiming.played(frame.delay))
    }

    /// All frames, or the first if only that is wanted.
    func image() throws(ImageError) -> Image {
        let count = options.firstFrameOnly ? 1 : info.frameCount
        try context.limits.check(size: info.size, output: outputSize, frameCount: count)
        var frames: [ImageFrame] = []
        var isPartial = !info.isComplete
        do throws(ImageError) {
            while frames.count < count, let frame = try nextFrame() { frames.append(frame) }
        } catch {
            // Of a file that ends early, the frames before that are its part that is there.
            guard error.code == .truncatedImage || !info.isComplete, options.allowsPartialImage, !frames.isEmpty
            else { throw error }
            isPartial = true
        }
        if isPartial, !options.allowsPartialImage, !options.firstFrameOnly {
            throw ImageError(.truncatedImage, stage: .decode, reason: "the PNG data ends before the animation does")
        }
        var properties = PNGDecode(chunks: chunks, options: options, context: context)
            .properties(display: info.displaySize)
        properties.colorSpace = color.space
        properties.hasAlpha = info.hasAlpha
        properties.isPartial = isPartial && !options.firstFrameOnly
        if count > 1 {
            properties.loopCount = animation?.loopCount ?? 0
        } else {
            frames = frames.map { ImageFrame(pixels: $0.pixels) }
        }
        guard let image = Image(frames: frames, properties: properties) else {
            throw ImageError(.corruptImage, stage: .decode, reason: "the PNG animation has no frames")
        }
        return image
    }

    private func stillFrame() throws(ImageError) -> ImageFrame? {
        guard nextIndex == 0 else { return nil }
        let image = try data.withBytes { bytes throws(ImageError) in
            try PNGDecode(chunks: chunks, options: options, context: context).run(bytes)
        }
        nextIndex = 1
        return ImageFrame(pixels: image.pixels)
    }

    /// Decodes a frame by itself: libpng knows no animations, so it is given a PNG of this frame alone.
    private func decode(_ frame: PNGAnimation.Frame) throws(ImageError) -> PixelBuffer {
        let file = try data.withBytes { bytes throws(ImageError) in PNGFrameFile(frame, chunks, bytes).bytes }
        return try file.withBytes { bytes throws(ImageError) in
            let reader = try PNGReader(bytes, checksCRC: false)
            try reader.start()
            let pixels = try MutablePixelBuffer(size: frame.size, pool: context.pool)
            let finisher = RowFinisher(
                width: frame.size.width, conversion: color.conversion, premultiplies: reader.hasAlpha)
            for _ in 0..<reader.passes {
                for y in 0..<frame.size.height { try reader.readRow(pixels.row(y)) }
                try context.checkCancellation()
            }
            for y in 0..<frame.size.height { finisher.finish(pixels.row(y)) }
            return pixels.freeze()
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
