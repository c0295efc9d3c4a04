internal import CKernels

/// The second pass of a ``RowResampler``: filters vertically summed rows to the width of the target.
struct HorizontalPass {
    private let weights: FilterWeights
    private let spans: [cresample_span]
    private let kernels: cresample_kernels

    /// Creates the pass.
    /// - Parameters:
    ///   - extent: the number of source columns that the target shows; `nil` for all.
    ///   - part: the columns of the target to calculate; `nil` for all.
    init(
        source: Int, extent: Double? = nil, target: Int, part: Range<Int>? = nil, kernels: cresample_kernels
    ) {
        weights = FilterWeights(
            source: source, extent: extent, target: target, part: part, group: 8, maximumBits: 16)
        // The spans in the kernel's format, padded to a multiple of 4 with empty spans.
        var spans = weights.spans.map {
            cresample_span(
                first_pair: Int32($0.first / 2), groups: Int32($0.count / 8), first_weight: Int32($0.offset))
        }
        while spans.count % 4 != 0 { spans.append(cresample_span()) }
        self.spans = spans
        self.kernels = kernels
    }

    /// Writes a row of pixels; `pixels` has room for a multiple of 4.
    func filter(_ pairs: UnsafePointer<Int16>, to pixels: UnsafeMutableRawPointer) {
        weights.weights.withUnsafeBufferPointer {
            kernels.convolve(
                pixels.assumingMemoryBound(to: UInt8.self), pairs, spans, $0.baseAddress, Int32(weights.bits),
                spans.count)
        }
    }
}
