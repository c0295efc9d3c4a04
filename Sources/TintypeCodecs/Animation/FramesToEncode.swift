internal import TintypeCore

/// The frames of an image as an encoder is to write them: at the size that the options allow, 8 bits.
struct FramesToEncode {
    let frames: [ImageFrame]
    let size: PixelSize
    let loopCount: Int
    let hasAlpha: Bool

    /// - Parameter maximumSide: the longest side that the format can write.
    init(_ image: Image, options: EncodeOptions, stills: Bool = false, maximumSide: Int) throws(ImageError) {
        var size = image.size
        if let box = options.maximumSize, !box.isEmpty { size = size.scaled(into: box) }
        guard max(size.width, size.height) <= maximumSide else {
            throw ImageError(
                .encodeFailed, stage: .encode,
                reason: "the image is \(size), and the format has at most \(maximumSide) pixels to a side")
        }
        var frames: [ImageFrame] = []
        // Frames that share a buffer go on doing so.
        var last: (source: PixelBuffer, resized: PixelBuffer)?
        for frame in options.firstFrameOnly || stills ? image.frames.prefix(1) : image.frames[...] {
            guard frame.pixels.format == .rgba8 else {
                throw ImageError(
                    .encodeFailed, stage: .encode, reason: "the format has no room for \(frame.pixels.format) pixels")
            }
            if last?.source !== frame.pixels { last = (frame.pixels, try frame.pixels.resized(to: size)) }
            guard let pixels = last?.resized else { continue }
            frames.append(ImageFrame(pixels: pixels, duration: frame.duration))
        }
        self.frames = frames
        self.size = size
        loopCount = image.loopCount
        hasAlpha = image.hasAlpha
    }

    /// The frames' pixels with colour no longer multiplied by alpha, in rows without gaps.
    static func straightPixels(of pixels: PixelBuffer) -> [UInt8] {
        let rowBytes = pixels.width * 4
        return [UInt8](unsafeUninitializedCapacity: rowBytes * pixels.height) { bytes, count in
            count = rowBytes * pixels.height
            guard let base = UnsafeMutableRawPointer(bytes.baseAddress) else { return }
            for y in 0..<pixels.height {
                pixels.withRow(y) { row in
                    guard let source = row.baseAddress else { return }
                    AlphaRows.unpremultiply(source, to: base + y * rowBytes, count: pixels.width)
                }
            }
        }
    }
}
