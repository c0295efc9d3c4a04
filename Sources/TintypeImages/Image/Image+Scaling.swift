extension Image {
    /// Returns the image with all its frames at another size; the image itself if it already has that size.
    ///
    /// All other properties stay the same. Resamples on the calling thread, and later frames of an animation when they are due.
    /// - Parameters:
    ///   - size: the new size, in pixels.
    ///   - pool: the memory for the pixels.
    /// - Throws: ``ImageError/Code/limitExceeded`` for an empty size, and ``ImageError/Code/outOfMemory``.
    public func resized(to size: PixelSize, pool: PixelBufferPool = .shared) throws(ImageError) -> Image {
        guard size != self.size else { return self }
        return try mappingPixels { pixels throws(ImageError) in try pixels.resized(to: size, pool: pool) }
    }

    /// Returns the image scaled down proportionally until the pixels of all frames use at most a number of bytes; the image
    /// itself if they already do.
    /// - Parameters:
    ///   - limit: the largest number of bytes.
    ///   - pool: the pool to take memory from.
    /// - Throws: ``ImageError/Code/outOfMemory`` and ``ImageError/Code/cancelled``.
    public func scaledDown(toBytes limit: Int, pool: PixelBufferPool = .shared) throws(ImageError) -> Image {
        let (frames, bytesPerPixel) = (animation?.frameCount ?? 1, pixels.format.bytesPerPixel)
        return try resized(to: size.scaled(toBytes: limit, bytesPerPixel: bytesPerPixel, frames: frames), pool: pool)
    }

    /// Returns the image with other pixels. Later frames of an animation are changed when they are due.
    package func mappingPixels(
        _ change: @escaping @Sendable (PixelBuffer) throws(ImageError) -> PixelBuffer
    ) throws(ImageError) -> Image {
        let picture = Image(pixels: try change(pixels), properties: properties).with(companion: companion)
        guard let animation else { return picture }
        let transformer = ClosureTransformer(key: "") {
            try Image(pixels: change($0.pixels), properties: $0.properties)
        }
        return picture.with(animation.transformed(transformer, poster: picture))
    }
}
