internal import Glibc

/// The source samples and weights for each destination sample in a direction.
///
/// Weights are fixed-point numbers. The weights of a sample add up to exactly 1, so that a uniform area keeps its color.
struct FilterWeights {
    /// The source samples of a destination sample. Samples beyond the end of the source have weight zero.
    struct Span {
        /// The first source sample, even.
        var first: Int
        /// The number of source samples: a multiple of the group.
        var count: Int
        /// The index of the span's first weight.
        var offset: Int

        var end: Int { first + count }
    }

    private(set) var spans: [Span] = []
    private(set) var weights: [Int16] = []
    /// The fractional bits of a weight: as many as fit into 16 bits, since wide filters have small weights.
    private(set) var bits = 0
    /// The `count` of the longest span.
    private(set) var longestSpan = 0

    /// Numbers of this size have no fraction, so that adding and subtracting it rounds. A call of `round` for each weight, since x86-64 has
    /// no instruction for it without SSE 4.1, took 1.5 % of the time of a thumbnail.
    private static let integers = 0x1.8p52

    /// Calculates the weights.
    /// - Parameters:
    ///   - source: the number of source samples.
    ///   - extent: the number of source samples that the target shows; `nil` for all.
    ///   - target: the number of destination samples.
    ///   - part: the destination samples to calculate; `nil` for all.
    ///   - group: an even number. Spans are extended to a multiple of it with weights of zero.
    ///   - maximumBits: the largest number of fractional bits that keeps the sums from overflowing.
    init(source: Int, extent: Double? = nil, target: Int, part: Range<Int>? = nil, group: Int, maximumBits: Int) {
        let count = part?.count ?? target
        let extent = extent ?? Double(source)
        bits = Self.bits(stretch: max(1, extent / Double(target)), maximum: maximumBits)
        spans.reserveCapacity(count)
        weights.reserveCapacity(count * (LanczosFilter.longestSpan(extent: extent, target: target) + group))
        LanczosFilter.forEachSample(source: source, extent: extent, target: target, part: part) { first, taps in
            append(taps, first: first, group: group)
        }
    }

    /// Adds a span with the weights of `taps`, normalized to a sum of 1.
    private mutating func append(_ taps: [Double], first: Int, group: Int) {
        let padding = first % 2
        let count = (padding + taps.count + group - 1) / group * group
        spans.append(Span(first: first - padding, count: count, offset: weights.count))
        longestSpan = max(longestSpan, count)
        if padding == 1 { weights.append(0) }
        // The rounding error of a weight is added to the next. So the sum is exact, and the error has a high frequency.
        let unit = Double(1 << bits) / taps.reduce(0, +)
        var carry = 0.0
        for tap in taps {
            let exact = tap * unit + carry
            let rounded = (exact + Self.integers) - Self.integers
            carry = exact - rounded
            weights.append(Int16(rounded))
        }
        for _ in (padding + taps.count)..<count { weights.append(0) }
    }

    /// Returns the number of fractional bits that the largest weight leaves room for. It is about `1 / stretch`, and up to 1.3 times
    /// that at an edge, where a part of the filter is missing.
    private static func bits(stretch: Double, maximum: Int) -> Int {
        let largest = Double(Int16.max) * stretch / 1.5
        return min(maximum, Int(log2(largest)))
    }
}
