internal import Glibc

/// For each destination sample of one direction, which source samples it is made of and with which weights.
///
/// Weights are fixed-point numbers. Those of a sample add up to exactly one, so that an area of one color keeps it.
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
    /// The bits of a weight behind the point: as many as fit into 16 bits, since wide filters have small weights.
    private(set) var bits = 0
    /// The `count` of the longest span.
    private(set) var longestSpan = 0

    /// - Parameters:
    ///   - extent: how many of the source samples the target shows; `nil` for all.
    ///   - part: The target samples that are made; `nil` for all.
    ///   - group: to a multiple of how many samples spans are filled up with weights of zero; even.
    ///   - maximumBits: the most bits behind the point that the sums leave room for.
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

    /// Adds a span with the weights of `taps`, made to add up to one.
    private mutating func append(_ taps: [Double], first: Int, group: Int) {
        let padding = first % 2
        let count = (padding + taps.count + group - 1) / group * group
        spans.append(Span(first: first - padding, count: count, offset: weights.count))
        longestSpan = max(longestSpan, count)
        if padding == 1 { weights.append(0) }
        // What rounding took from one weight is given to the next: the sum is exact, and the error is of high
        // frequency.
        let unit = Double(1 << bits) / taps.reduce(0, +)
        var carry = 0.0
        for tap in taps {
            let exact = tap * unit + carry
            let rounded = exact.rounded()
            carry = exact - rounded
            weights.append(Int16(rounded))
        }
        for _ in (padding + taps.count)..<count { weights.append(0) }
    }

    /// The number of bits behind the point that the largest weight has room for. It is about `1 / stretch`, and up to 1.3 times
    /// that at an edge, where a side of the filter is missing.
    private static func bits(stretch: Double, maximum: Int) -> Int {
        let largest = Double(Int16.max) * stretch / 1.5
        return min(maximum, Int(log2(largest)))
    }
}
