internal import FoundationEssentials
internal import TintypeCore

/// What all encoders do before and around the writing itself.
enum EncodePreparation {
    /// The image as it is to be written: its first frame or all of them, shrunk into the box of the options.
    ///
    /// Frames that share a buffer go on doing so.
    /// - Parameters:
    ///   - maximumSide: the longest side that the format can write.
    ///   - isStill: true for a format that has one frame only.
    ///   - formats: what the encoder takes; ``PixelFormat/rgba8`` always. Other pixels are reduced: see ``DepthReduction``.
    /// - Throws: ``ImageError/Code/encodeFailed`` for an image that the format cannot hold.
    static func prepare(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions, maximumSide: Int, isStill: Bool = false,
        formats: Set<PixelFormat> = []
    ) throws(ImageError) -> Image {
        let image = try DepthReduction.reduce(
            options.firstFrameOnly || isStill ? image.firstFrame : image, to: formats, options)
        let size = options.maximumSize.map { $0.isEmpty ? image.size : image.size.scaled(into: $0) } ?? image.size
        guard max(size.width, size.height) <= maximumSide else {
            throw ImageError(
                .encodeFailed, stage: .encode,
                reason: "the image is \(size), and \(format) has at most \(maximumSide) pixels to a side")
        }
        guard size != image.size else { return image }
        var frames: [ImageFrame] = []
        var last: (source: PixelBuffer, resized: PixelBuffer)?
        for frame in image.frames {
            if last?.source !== frame.pixels { last = (frame.pixels, try frame.pixels.resized(to: size)) }
            if let last { frames.append(ImageFrame(pixels: last.resized, duration: frame.duration)) }
        }
        // Frames of one size stay frames of one size.
        return Image(frames: frames, properties: image.properties) ?? image
    }

    /// Looks for the best quality whose file fits.
    ///
    /// Files are taken to grow with the quality, so eight tries are enough for the qualities from 0 to 100.
    /// - Parameters:
    ///   - quality: the best quality to try, 0...100.
    ///   - write: makes the file; `nil` if it became too large.
    static func fit(
        quality: Int, maximumBytes: Int?, as format: ImageFormat, write: (Int) throws(ImageError) -> Data?
    ) throws(ImageError) -> Data {
        func fitting(_ quality: Int) throws(ImageError) -> Data? {
            guard let data = try write(quality), data.count <= maximumBytes ?? .max else { return nil }
            return data
        }
        if let data = try fitting(quality) { return data }
        guard var best = try fitting(0) else { throw tooLarge(maximumBytes, format) }
        var (fits, tooMuch) = (0, quality)
        while tooMuch - fits > 1 {
            let middle = (fits + tooMuch) / 2
            if let data = try fitting(middle) { (best, fits) = (data, middle) } else { tooMuch = middle }
        }
        return best
    }

    static func tooLarge(_ maximumBytes: Int?, _ format: ImageFormat) -> ImageError {
        ImageError(
            .encodeFailed, stage: .encode,
            reason: "the \(format) does not fit into \(ByteCount(maximumBytes ?? 0)); a smaller maximumSize may help")
    }
}

extension EncodeOptions {
    /// The quality as libraries count it, from 0 to 100.
    var percent: Int { quality.isNaN ? 85 : Int((min(max(quality, 0), 1) * 100).rounded()) }
}
