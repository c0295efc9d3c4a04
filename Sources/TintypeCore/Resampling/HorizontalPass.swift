internal import CResample

/// The second pass of a ``RowResampler``: makes pixels of the target's width out of rows that are added up.
struct HorizontalPass {
    private let weights: FilterWeights
    private let spans: [cresample_span]
    private let kernels: cresample_kernels

    /// - Parameters:
    ///   - extent: how many of the source's columns the target shows; `nil` for all.
    ///   - part: The columns of the target that are made; `nil` for all.
    init(
        source: Int, extent: Double? = nil, target: Int, part: Range<Int>? = nil, kernels: cresample_kernels
    ) {
        weights = FilterWeights(
            source: source, extent: extent, target: target, part: part, group: 8, maximumBits: 16)
        // The spans in the kernel's words, filled up to a multiple of 4 with spans of nothing.
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
