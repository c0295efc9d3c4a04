extension PixelBuffer {
    /// Returns the pixels at another size, in the same format; the buffer itself if it already has that size.
    /// - Parameters:
    ///   - target: the new size.
    ///   - pool: the memory for the pixels.
    /// - Returns: the resampled pixels.
    /// - Throws: ``ImageError/Code/limitExceeded`` for an empty size, and ``ImageError/Code/outOfMemory``.
    package func resized(to target: PixelSize, pool: PixelBufferPool = .shared) throws(ImageError) -> PixelBuffer {
        guard target != size else { return self }
        return try resized(to: target, part: ResampledPart(target), pool: pool)
    }

    /// Returns a part of the pixels at another size.
    /// - Parameter beforeRow: called before each row of the source; ends the work by throwing an error.
    func resized(
        to target: PixelSize, part: ResampledPart, pool: PixelBufferPool,
        beforeRow: (Int) throws(ImageError) -> Void = { _ in }
    ) throws(ImageError) -> PixelBuffer {
        guard format == .rgba8 else { return try resizedDeep(to: target, part: part, pool: pool, beforeRow: beforeRow) }
        var resampler = try RowResampler(from: size, to: target, part: part, pool: pool)
        for row in 0..<height {
            try beforeRow(row)
            withRow(row) { bytes in
                if let base = bytes.baseAddress { resampler.push(lasting: base) }
            }
        }
        return resampler.finish()
    }

    private func resizedDeep(
        to target: PixelSize, part: ResampledPart, pool: PixelBufferPool,
        beforeRow: (Int) throws(ImageError) -> Void
    ) throws(ImageError) -> PixelBuffer {
        var resampler = try DeepRowResampler(from: size, to: target, part: part, format: format, pool: pool)
        for row in 0..<height {
            try beforeRow(row)
            withRow(row) { bytes in
                if let base = bytes.baseAddress { resampler.push(base) }
            }
        }
        return resampler.finish()
    }
}
