internal import CKernels

/// Samples rotated pixels with a cubic filter (Catmull and Rom, "A class of local interpolating splines", 1974).
///
/// Outside of the source everything is transparent, so the edges of the result are smooth.
struct AffineSampler {
    let source: PixelBuffer
    let size: PixelSize
    let sine: Double
    let cosine: Double
    var kernels = ComponentRow.kernels

    /// Returns the rotated pixels over a background.
    ///
    /// - Complexity: O(pixels of the result), with 16 samples each; memory for a row.
    func pixels(background: PixelColor, _ context: ProcessingContext) throws(ImageError) -> PixelBuffer {
        let format = source.format
        let target = try context.buffer(size, format: format)
        let scratch = try context.scratch(floats: size.width * 4)
        let row = scratch.base.assumingMemoryBound(to: Float.self)
        for y in 0..<size.height {
            try context.checkCancellation(row: y)
            fill(row, y: y, over: background.premultiplied(for: format))
            ComponentRow.pack(row, to: target.row(y), pixels: size.width, format: format)
        }
        return target.freeze()
    }

    private func fill(_ row: UnsafeMutablePointer<Float>, y: Int, over color: SIMD4<Float>) {
        let sample =
            switch source.format {
            case .rgba8: kernels.sample8
            case .rgba16: kernels.sample16
            case .rgbaFloat16: kernels.sample_half
            }
        // From the centers of both pictures.
        let (across, down) = (0.5 - Double(size.width) / 2, Double(y) + 0.5 - Double(size.height) / 2)
        source.withUnsafeBytes { bytes in
            var picture = ctransform_picture(
                base: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes_per_row: source.bytesPerRow,
                width: source.width, height: source.height)
            withUnsafeBytes(of: color) { color in
                sample?(
                    row, &picture, across * cosine + down * sine + Double(source.width) / 2 - 0.5,
                    down * cosine - across * sine + Double(source.height) / 2 - 0.5, cosine, -sine,
                    color.baseAddress?.assumingMemoryBound(to: Float.self), size.width)
            }
        }
    }
}
