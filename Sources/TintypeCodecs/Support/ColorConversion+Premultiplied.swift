internal import TintypeImages

extension ColorConversion {
    /// Converts premultiplied pixels, in the format that the conversion is made for.
    ///
    /// - Parameter hasAlpha: true if some pixels may not be opaque. Their colors are converted before they are multiplied by
    ///   alpha. Otherwise transparent pixels would get the color of black, and color would exceed alpha.
    func convert(
        _ pixels: PixelBuffer, hasAlpha: Bool, pool: PixelBufferPool = .shared
    ) throws(ImageError) -> PixelBuffer {
        guard hasAlpha else { return try convert(opaque: pixels, pool: pool) }
        let result = try MutablePixelBuffer(size: pixels.size, format: pixels.format, cleared: false, pool: pool)
        for y in 0..<pixels.height {
            let row = result.row(y)
            pixels.withRow(y) { source in
                guard let base = source.baseAddress else { return }
                row.copyMemory(from: base, byteCount: pixels.width * pixels.format.bytesPerPixel)
            }
            Premultiplication.unpremultiply(row, count: pixels.width, format: pixels.format)
            convert(row, count: pixels.width)
            Premultiplication.premultiply(row, count: pixels.width, format: pixels.format)
        }
        return result.freeze()
    }
}
