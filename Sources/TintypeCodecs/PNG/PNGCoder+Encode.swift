public import FoundationEssentials
public import TintypeImages

extension PNGCoder {
    /// Encodes the image as PNG without loss, with all frames of an animation.
    ///
    /// Pixels of 16 bits are written with 16 bits, pixels of an animation with 8. A still image in sRGB whose pixels are all gray is
    /// written in gray. An 8-bit image with at most 256 colors gets a palette, or fewer bits of gray, if that makes the file smaller. Other
    /// images, and all animations, are written as RGB. Alpha is written only if the image has it. The ICC profile of an image in another
    /// color space than sRGB is embedded. Decoding the file restores the exact pixels. ``PNGEncodeOptions`` has more settings.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    ///   - context: the resources of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/encodeFailed`` if the file is larger than ``EncodeOptions/maximumBytes``.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        let isMoving = image.isAnimated && !options.firstFrameOnly
        let target = EncodeTarget(format: .png, maximumSide: Int(Int32.max), formats: isMoving ? [] : [.rgba16])
        let job = try EncodeJob(image, for: target, options, context)
        try job.check(options.png.compressionLevel, in: 0...9, "png.compressionLevel")
        let file = try PNGEncoder(job: job, compressionLevel: options.png.compressionLevel).encode()
        guard !job.fits(file.count), options.png.compressionLevel < 9 else {
            return try job.fitWithoutLoss { () throws(ImageError) in file }
        }
        return try job.fitWithoutLoss { () throws(ImageError) in
            try PNGEncoder(job: job, compressionLevel: 9).encode()
        }
    }
}
