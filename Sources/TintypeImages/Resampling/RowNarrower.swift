internal import CKernels

/// Narrows each source row to the width of the target before rows are summed.
///
/// This is for images that become much narrower and much higher at once. Otherwise the work of summing wide rows would be
/// source width × target height. It costs a rounding to 8 bits in between: up to 10/255 in noise.
struct RowNarrower {
    private let pass: HorizontalPass
    private let memory: ResamplerMemory
    private let kernels: cresample_kernels

    /// Creates a narrower; `nil` unless the image becomes at least four times narrower and four times higher. Below that, the
    /// order of the passes costs at most four times the work, and no precision.
    init?(
        from source: PixelSize, extent: ResampledExtent, to target: PixelSize, part: ResampledPart,
        pool: PixelBufferPool, kernels: cresample_kernels
    ) throws(ImageError) {
        guard source.width / 4 >= part.size.width, part.size.height / 4 >= source.height else { return nil }
        memory = try ResamplerMemory(width: source.width, rows: 1, sums: 0, pool: pool)
        pass = HorizontalPass(
            source: source.width, extent: extent.width, target: target.width, part: part.columns, kernels: kernels)
        self.kernels = kernels
    }

    /// Returns the memory for a row at the source's width.
    func rowToFill() -> UnsafeMutableRawPointer { memory.row(0) }

    /// Writes the row that was filled at the target's width; `target` has room for a multiple of 4 pixels.
    func narrow(to target: UnsafeMutableRawPointer) {
        // Rows are summed in pairs. The second has weight zero.
        let one: [Int16] = [1 << 14, 0]
        kernels.accumulate(memory.pairs, memory.sums(of: 0), true, memory.rows(from: 0), one, 2, 14, memory.blocks)
        pass.filter(memory.pairs, to: target)
    }
}
