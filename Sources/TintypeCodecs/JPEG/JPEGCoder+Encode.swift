public import FoundationEssentials
public import TintypeImages

extension JPEGCoder {
    /// Encodes the image, or the first frame of an animation, as JPEG.
    ///
    /// Transparent pixels are blended with ``EncodeOptions/background``. The ICC profile of an image in another color space
    /// than sRGB is embedded. ``JPEGEncodeOptions`` has more settings.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    ///   - context: the resources of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a side of more than 65,500 pixels, for metadata that do not fit into a
    ///   segment of 64 KB, and if even the lowest quality needs more than ``EncodeOptions/maximumBytes``.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        let target = EncodeTarget(format: .jpeg, maximumSide: 65_500, isStill: true)
        let job = try EncodeJob(image, for: target, options, context)
        try job.check(options.jpeg.restartRows, in: 0...65_535, "jpeg.restartRows")
        let segments = try JPEGMetadataSegments(job).segments
        let map =
            options.encodeToHDR == .gainMap
            ? try GainMapPicture(of: image.firstFrame, for: job.image, context: job.context) : nil
        return try job.fit { quality throws(ImageError) in
            if let map { return try JPEGGainMapWriter(map: map, job: job).write(quality: quality, segments: segments) }
            return try JPEGWriter().write(
                job.image, quality: quality, options, profile: job.profile, segments: segments, context: job.context)
        }
    }
}
