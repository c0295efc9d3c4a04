public import FoundationEssentials

extension Image {
    /// Returns a tiny encoded version of the image, or of its first frame, as a placeholder (LQIP).
    ///
    /// A preview of 24 pixels takes 300 to 600 bytes. Store it with the URL of the image, decode it like any image, and enlarge
    /// it with `blur(radius:inLinearLight:)`.
    /// - Parameters:
    ///   - side: the longer side in pixels, from 1 to 256.
    ///   - format: the format. WebP makes the smallest files among the formats that all builds can write.
    ///   - quality: the quality, from 0 to 1.
    ///   - coder: the coder that writes the format.
    /// - Throws: ``ImageError/Code/encodeFailed`` for another side, ``ImageError/Code/formatNotEncodable``, and the errors of
    ///   the coder.
    public func encodedPreview(
        side: Int = 24, as format: ImageFormat = .webp, quality: Double = 0.4, using coder: any ImageCoder
    ) throws(ImageError) -> Data {
        guard (1...256).contains(side) else {
            throw ImageError(
                .encodeFailed, stage: .encode, reason: "the side of a preview is \(side), but must be 1 to 256")
        }
        let small = try firstFrame.resized(
            to: size.scaled(into: PixelSize(width: side, height: side)), pool: ProcessingContext.current.pool)
        return try coder.encode(
            small, as: format, options: EncodeOptions(quality: quality), context: ProcessingContext { Task.isCancelled }
        )
    }
}
