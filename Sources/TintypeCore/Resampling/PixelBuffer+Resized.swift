extension PixelBuffer {
    /// The pixels at another size; the buffer itself if it has that size already. Only 8-bit buffers.
    public func resized(to target: PixelSize, pool: PixelBufferPool = .shared) throws(ImageError) -> PixelBuffer {
        guard target != size else { return self }
        guard format == .rgba8 else {
            throw ImageError(.transformFailed, stage: .transform, reason: "\(format) pixels cannot be resized")
        }
        var resampler = try RowResampler(from: size, to: target, pool: pool)
        for row in 0..<height {
            withRow(row) { bytes in
                if let base = bytes.baseAddress { resampler.push(lasting: base) }
            }
        }
        return resampler.finish()
    }
}
