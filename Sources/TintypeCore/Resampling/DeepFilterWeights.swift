internal import CResample

/// For each destination sample of one direction, which source samples it is made of and with which weights, as
/// floating-point numbers that add up to one.
struct DeepFilterWeights {
    private(set) var spans: [cresample_deep_span] = []
    private(set) var weights: [Float] = []
    /// The most source samples of a destination sample.
    private(set) var longestSpan = 0
    /// The most destination samples that one source sample is part of.
    private(set) var mostOpen = 1

    /// - Parameters:
    ///   - extent: how many of the source samples the target shows; `nil` for all.
    ///   - part: The target samples that are made; `nil` for all.
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
        // Spans begin and end in order.
        var oldest = 0
        for (newest, span) in spans.enumerated() {
            while spans[oldest].first + spans[oldest].count <= span.first { oldest += 1 }
            mostOpen = max(mostOpen, newest - oldest + 1)
        }
    }
}
