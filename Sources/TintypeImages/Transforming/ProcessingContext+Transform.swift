// What transformers ask their environment for.
extension ProcessingContext {
    /// Checks for cancellation before rows 0, 64, 128 and so on.
    func checkCancellation(row: Int) throws(ImageError) {
        if row % 64 == 0 { try checkCancellation() }
    }

    /// Checks a size against the limits.
    /// - Throws: ``ImageError/Code/limitExceeded``
    func check(_ size: PixelSize, format: PixelFormat) throws(ImageError) {
        let (bytes, overflow) = size.pixelCount.multipliedReportingOverflow(by: format.bytesPerPixel)
        guard size.pixelCount <= limits.maximumPixels, !overflow, bytes <= limits.maximumBytes.bytes else {
            throw ImageError(
                .limitExceeded, stage: .transform,
                reason: "the result would have \(size) pixels, over the limit of \(limits.maximumPixels) pixels and "
                    + "\(limits.maximumBytes)")
        }
    }

    /// Allocates the pixels of a result after checking its size against the limits. Its contents are undefined: transformers write
    /// every pixel.
    /// - Throws: ``ImageError/Code/limitExceeded`` and ``ImageError/Code/outOfMemory``.
    func buffer(_ size: PixelSize, format: PixelFormat) throws(ImageError) -> MutablePixelBuffer {
        try check(size, format: format)
        return try MutablePixelBuffer(size: size, format: format, cleared: false, pool: pool)
    }

    /// Allocates working memory for components.
    /// - Throws: ``ImageError/Code/outOfMemory``
    func scratch(floats count: Int) throws(ImageError) -> ScratchBytes {
        guard let scratch = ScratchBytes(count * MemoryLayout<Float>.stride, cleared: false, pool: pool) else {
            throw ImageError(
                .outOfMemory, stage: .transform,
                reason: "there isn't enough memory to transform the image, which takes \(ByteCount(count * 4))")
        }
        return scratch
    }
}
