internal import FoundationEssentials
internal import TintypeCore

/// Decodes the frames of a WebP animation one by one and lays them over each other; the background is transparent, as
/// browsers show it. A still image is one frame.
final class WebPFrameDecoder: AnimationFrames {
    let info: ImageInfo
    let outputSize: PixelSize
    let properties: Image.Properties
    private(set) var isPartial: Bool

    private let data: Data
    private let container: WebPContainer
    private let context: DecodeContext
    private let color: DecodedColor
    /// `nil` until an animation's first frame; a still image never has one.
    private var canvas: AnimationCanvas?
    private var next = 0

    /// - Parameter keepsFrames: whether all frames will be in memory at once, which the limits are to count.
    init(
        _ data: Data, container: WebPContainer, options: DecodeOptions, context: DecodeContext, keepsFrames: Bool
    ) throws(ImageError) {
        info = container.info
        outputSize = options.outputSize(for: info.displaySize, frameCount: info.frameCount)
        try info.check(context.limits, output: outputSize, keptFrames: keepsFrames ? info.frameCount : 1)
        let isTruncated = !container.isComplete || container.frames.contains { !$0.isComplete }
        guard !isTruncated || options.allowsPartialImage else {
            throw .truncated("the WebP file ends in the middle of frame \(max(1, container.frames.count))")
        }
        guard !container.frames.isEmpty else { throw .truncated("the WebP file ends before its first frame") }
        isPartial = isTruncated
        self.data = data
        self.container = container
        self.context = context
        var properties = info.properties(options)
        properties.metadata = container.metadata
        color = DecodedColor(profile: container.profile, source: .rgb, options: options)
        properties.colorSpace = color.space
        self.properties = properties
    }

    func rewind() {
        canvas?.reset()
        next = 0
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard next < container.frames.count else { return nil }
        let frame = container.frames[next]
        // Rows of a frame whose end is missing are shown only where there is no whole frame.
        guard frame.isComplete || next == 0 else { return nil }
        try context.checkCancellation()
        guard container.frames.count > 1 || !frame.rect.covers(container.canvas) else {
            let pixels = try still(frame)
            next += 1
            return ImageFrame(pixels: pixels)
        }
        try compose(frame)
        next += 1
        let pixels = try canvas?.render()
        let isAnimated = container.frames.count > 1
        return pixels.map { ImageFrame(pixels: $0, duration: isAnimated ? FrameTiming.played(frame.duration) : .zero) }
    }

    // MARK: One image

    /// Decodes an image that fills the canvas, as small as the size that is wanted allows.
    private func still(_ frame: WebPContainer.Frame) throws(ImageError) -> PixelBuffer {
        let stored = frame.rect.size
        let target = info.orientation.stored(outputSize)
        let size = frame.hasAlpha ? stored : Self.decodedSize(stored, for: target)
        let buffer = try MutablePixelBuffer(size: size, pool: context.pool)
        let convertsAfter = !frame.hasAlpha && target.pixelCount < size.pixelCount
        let outcome = try decode(
            frame, size: size, convertsColor: !convertsAfter, into: buffer.row(0), bytesPerRow: buffer.bytesPerRow)
        if case .truncated(let rows) = outcome {
            try noteTruncation()
            for y in rows..<size.height {
                buffer.row(y).initializeMemory(as: UInt8.self, repeating: 0, count: size.width * 4)
            }
        }
        var pixels = try buffer.freeze().resized(to: target, pool: context.pool)
        if convertsAfter, let conversion = color.conversion {
            pixels = try conversion.convert(opaque: pixels, pool: context.pool)
        }
        return try pixels.oriented(info.orientation, pool: context.pool)
    }

    /// A whole fraction of the size that is at least three times the target; the rest of the way is the resampler's.
    ///
    /// Measured against resampling the full image: from three times the target on 49 to 53 dB, from twice only 42 to 45.
    ///
    /// Only for opaque images: libwebp averages the colours under transparent pixels in.
    static func decodedSize(_ stored: PixelSize, for target: PixelSize) -> PixelSize {
        let factor = min(stored.width / (3 * target.width), stored.height / (3 * target.height))
        guard factor >= 2 else { return stored }
        return PixelSize(
            width: (stored.width + factor - 1) / factor, height: (stored.height + factor - 1) / factor)
    }

    // MARK: Frames

    private func compose(_ frame: WebPContainer.Frame) throws(ImageError) {
        if canvas == nil {
            canvas = try AnimationCanvas(
                size: container.canvas, output: outputSize, orientation: info.orientation, context: context)
        }
        if next > 0, container.frames[next - 1].clearsAfterwards { canvas?.clear(container.frames[next - 1].rect) }
        guard let base = canvas?.row(0), let bytesPerRow = canvas?.bytesPerRow else { return }
        guard frame.rect.clipped(to: container.canvas) == frame.rect else {
            throw .corrupt("frame \(next + 1) of the WebP file lies outside the canvas")
        }
        let place = base + frame.rect.y * bytesPerRow + frame.rect.x * 4
        if frame.blends, frame.hasAlpha {
            let layer = try MutablePixelBuffer(size: frame.rect.size, pool: context.pool)
            let rows = try decodeRows(of: frame, into: layer.row(0), bytesPerRow: layer.bytesPerRow)
            canvas?.draw(layer, at: frame.rect, rows: rows, blends: true)
        } else {
            _ = try decodeRows(of: frame, into: place, bytesPerRow: bytesPerRow)
            canvas?.touch()
        }
    }

    /// - Returns: how many rows of the frame are there.
    private func decodeRows(
        of frame: WebPContainer.Frame, into rows: UnsafeMutableRawPointer, bytesPerRow: Int
    ) throws(ImageError) -> Int {
        switch try decode(frame, size: frame.rect.size, into: rows, bytesPerRow: bytesPerRow) {
        case .complete: return frame.rect.size.height
        case .truncated(let rows):
            try noteTruncation()
            return rows
        }
    }

    private func decode(
        _ frame: WebPContainer.Frame, size: PixelSize, convertsColor: Bool = true,
        into rows: UnsafeMutableRawPointer, bytesPerRow: Int
    ) throws(ImageError) -> WebPImageDecoder.Outcome {
        let context = context
        let finisher = RowFinisher(
            width: size.width, conversion: convertsColor ? color.conversion : nil, premultiplies: frame.hasAlpha)
        return try data.withBytes { bytes throws(ImageError) in
            try WebPImageDecoder.decode(
                UnsafeRawBufferPointer(rebasing: bytes[frame.payload]), size: size,
                isScaled: size != frame.rect.size, finisher: finisher, into: rows,
                bytesPerRow: bytesPerRow, context: context)
        }
    }

    /// A frame that is whole by its chunk but has too few bytes is damaged.
    private func noteTruncation() throws(ImageError) {
        guard properties.decodeOptions.allowsPartialImage else {
            throw .truncated("the pixels of frame \(next + 1) of the WebP file end too early")
        }
        isPartial = true
    }
}
