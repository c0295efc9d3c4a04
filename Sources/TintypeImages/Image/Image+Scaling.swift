extension Image {
    /// Returns the image with all its frames at another size; the image itself if it already has that size.
    ///
    /// All other properties stay the same. Resamples on the calling thread.
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
    public func scaledDown(toBytes limit: Int, pool: PixelBufferPool = .shared) throws(ImageError) -> Image {
        let bytesPerPixel = pixels.format.bytesPerPixel
        return try resized(
            to: size.scaled(toBytes: limit, bytesPerPixel: bytesPerPixel, frames: frames.count), pool: pool)
    }

    /// Returns the image with other pixels, all of one size. Frames that share a buffer still do.
    package func mappingPixels(
        _ change: (PixelBuffer) throws(ImageError) -> PixelBuffer
    ) throws(ImageError) -> Image {
        var changed: [ImageFrame] = []
        var last: (source: PixelBuffer, result: PixelBuffer)?
        for frame in frames {
            if last?.source !== frame.pixels { last = (frame.pixels, try change(frame.pixels)) }
            if let last { changed.append(ImageFrame(pixels: last.result, duration: frame.duration)) }
        }
        // Frames of one size still have one size.
        return Image(frames: changed, properties: properties) ?? self
    }
}
