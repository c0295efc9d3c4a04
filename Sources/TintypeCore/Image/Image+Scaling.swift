extension Image {
    /// The image at another size, all frames of it; the image itself if it has that size already.
    ///
    /// Everything else that is known of the image stays as it is. Resamples on the calling thread.
    /// - Throws: ``ImageError/Code/limitExceeded`` for an empty size, and ``ImageError/Code/outOfMemory``.
    public func resized(to size: PixelSize, pool: PixelBufferPool = .shared) throws(ImageError) -> Image {
        guard size != self.size else { return self }
        return try mappingPixels { pixels throws(ImageError) in try pixels.resized(to: size, pool: pool) }
    }

    /// The image shrunk, in its shape, until the pixels of all frames take no more than a number of bytes; the image itself if
    /// they do already.
    public func scaledDown(toBytes limit: Int, pool: PixelBufferPool = .shared) throws(ImageError) -> Image {
        let bytesPerPixel = pixels.format.bytesPerPixel
        return try resized(
            to: size.scaled(toBytes: limit, bytesPerPixel: bytesPerPixel, frames: frames.count), pool: pool)
    }

    /// The image with other pixels, all of one size; frames that share a buffer go on doing so.
    package func mappingPixels(
        _ change: (PixelBuffer) throws(ImageError) -> PixelBuffer
    ) throws(ImageError) -> Image {
        var changed: [ImageFrame] = []
        var last: (source: PixelBuffer, result: PixelBuffer)?
        for frame in frames {
            if last?.source !== frame.pixels { last = (frame.pixels, try change(frame.pixels)) }
            if let last { changed.append(ImageFrame(pixels: last.result, duration: frame.duration)) }
        }
        // Frames of one size stay frames of one size.
        return Image(frames: changed, properties: properties) ?? self
    }
}
