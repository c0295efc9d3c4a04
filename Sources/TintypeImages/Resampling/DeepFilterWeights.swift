internal import CKernels

/// The source samples and floating-point weights for each destination sample in a direction. The weights of a sample add up
/// to 1.
struct DeepFilterWeights {
    private(set) var spans: [cresample_deep_span] = []
    private(set) var weights: [Float] = []
    /// The largest number of source samples for a destination sample.
    private(set) var longestSpan = 0
    /// The largest number of destination samples that a source sample contributes to.
    private(set) var mostOpen = 1

    /// Calculates the weights.
    /// - Parameters:
    ///   - source: the number of source samples.
    ///   - extent: the number of source samples that the target shows; `nil` for all.
    ///   - target: the number of destination samples.
    ///   - part: the destination samples to calculate; `nil` for all.
    init(source: Int, extent: Double? = nil, target: Int, part: Range<Int>? = nil) {
        spans.reserveCapacity(part?.count ?? target)
        LanczosFilter.forEachSample(
            source: source, extent: extent ?? Double(source), target: target, part: part
        ) { first, taps in
            let sum = taps.reduce(0, +)
            spans.append(
                cresample_deep_span(
                    first: Int32(first), count: Int32(taps.count), first_weight: Int32(weights.count)))
            weights += taps.map { Float($0 / sum) }
            longestSpan = max(longestSpan, taps.count)
        }
        // Spans start and end in order.
        var oldest = 0
        for (newest, span) in spans.enumerated() {
            while spans[oldest].first + spans[oldest].count <= span.first { oldest += 1 }
            mostOpen = max(mostOpen, newest - oldest + 1)
        }
    }
}
