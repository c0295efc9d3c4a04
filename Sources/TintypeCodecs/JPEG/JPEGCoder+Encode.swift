public import FoundationEssentials
public import TintypeImages

extension JPEGCoder {
    /// Encodes the image, or the first frame of an animation, as JPEG.
    ///
    /// Transparent pixels are blended with ``EncodeOptions/background``. The ICC profile of an image in another color space
    /// than sRGB is embedded. An image whose pixels are all gray is written in gray, if it is in sRGB and has no gain map.
    /// ``JPEGEncodeOptions`` has more settings.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    ///   - context: the resources of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a side of more than 65,500 pixels, for metadata that doesn't fit into a segment of 64
    ///   KB, and if even the lowest quality needs more than ``EncodeOptions/maximumBytes``.
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
        let isGray = map == nil && job.isGrayOnBackground
        return try job.fit { quality throws(ImageError) in
            if let map { return try JPEGGainMapWriter(map: map, job: job).write(quality: quality, segments: segments) }
            return try JPEGWriter().write(
                job.image, quality: quality, options, profile: job.profile, segments: segments, isGray: isGray,
                context: job.context)
        }
    }
}

extension EncodeJob {
    /// True if all pixels are gray, also where the background shows. A gray file may not have a profile of RGB.
    fileprivate var isGrayOnBackground: Bool {
        let background = options.background.bytes
        let hasColor = image.hasAlpha && (background[0] != background[1] || background[1] != background[2])
        return profile == nil && !hasColor && image.pixels.isGray
    }
}
