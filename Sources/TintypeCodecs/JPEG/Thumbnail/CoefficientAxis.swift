internal import CKernels
internal import Glibc
internal import TintypeImages

/// The weights of a component's blocks in a direction: the contribution of each coefficient to each pixel of the target.
///
/// A pixel of the target is a weighted sum of pixels of the source (the filter); pixels of subsampled components are weighted sums of two
/// samples (libjpeg's "fancy upsampling"), and samples are weighted sums of a block's coefficients (the inverse transform, ITU-T T.81,
/// A.3.3). So it is a weighted sum of coefficients.
struct CoefficientAxis {
    /// The blocks of a pixel of the target.
    struct Blocks {
        var first: Int
        var count: Int
        /// The index of the first block's weights.
        var weights: Int
        var end: Int { first + count }
    }

    /// The number of samples.
    private let samples: Int
    /// True if the component has half as many samples as the source has pixels.
    let isHalved: Bool
    let format: BlockFormat
    private(set) var blocks: [Blocks] = []
    /// For each of those blocks, the weights of the first frequencies.
    private(set) var weights: [SIMD8<Float>] = []
    /// The samples' weights, of a pixel of the target.
    private var row: [Float] = []

    /// - Parameter pixels: the number of the source's pixels.
    init(pixels: Int, isHalved: Bool, format: BlockFormat) {
        self.isHalved = isHalved
        self.format = format
        samples = isHalved ? (pixels + 1) / 2 : pixels
    }

    /// The samples of the inverse transform's waves: for each pixel, the samples of the first frequencies.
    private static let waves: [SIMD8<Float>] = (0..<8).map { x in
        var wave = SIMD8<Float>(repeating: 0)
        for frequency in 0..<BlockFormat.frequencies {
            wave[frequency] = Float(
                (frequency == 0 ? 0.125.squareRoot() : 0.5) * cos(Double((2 * x + 1) * frequency) * .pi / 16))
        }
        return wave
    }

    /// Adds a pixel of the target, with its filter.
    mutating func append(first: Int, taps: [Double]) {
        let scale = 1 / taps.reduce(0, +)
        let end = first + taps.count
        // The samples, with the neighbors that enlarging takes from.
        let low = isHalved ? max(0, first / 2 - 1) : first
        let high = isHalved ? min(samples, (end - 1) / 2 + 2) : end
        let firstBlock = low / 8
        let count = (high - 1) / 8 + 1 - firstBlock
        row.removeAll(keepingCapacity: true)
        row.append(contentsOf: repeatElement(0, count: count * 8))
        let start = firstBlock * 8
        for (index, tap) in taps.enumerated() {
            let weight = Float(tap * scale)
            let x = first + index
            if isHalved {
                // Three quarters of the nearer sample, and a quarter of the farther.
                let near = x / 2
                let far = min(max(near + (x % 2 == 0 ? -1 : 1), 0), samples - 1)
                row[near - start] += 0.75 * weight
                row[far - start] += 0.25 * weight
            } else {
                row[x - start] = weight
            }
        }
        blocks.append(Blocks(first: firstBlock, count: count, weights: weights.count))
        let waves = Self.waves
        for block in 0..<count {
            var sum = SIMD8<Float>(repeating: 0)
            for x in 0..<8 { sum += waves[x] * row[block * 8 + x] }
            weights.append(sum)
        }
    }

    /// Calculates the weights of several components in a direction.
    static func calculate(_ axes: inout [CoefficientAxis], source: Int, target: Int) {
        LanczosFilter.forEachSample(source: source, extent: Double(source), target: target) { first, taps in
            for index in axes.indices { axes[index].append(first: first, taps: taps) }
        }
    }

    /// The memory for the weights, in bytes, at most. A pixel of the target has the blocks of its filter, which is six times as wide as the
    /// reduction, and three at its ends. A block takes up to 128 bytes while the weights are made.
    static func bytes(source: Int, target: Int) -> Int { 128 * (6 * source / 8 + 3 * target) }

    // MARK: Formats of the kernels

    /// Numbers of this size have no fraction, so that adding and subtracting it rounds.
    private static let integers: Float = 0x1.8p23

    /// The weights of the vertical pass of each block: see `CCoefficients.h`. They have 15 fractional bits.
    var verticalWeights: [Int16] {
        var result: [Int16] = []
        result.reserveCapacity(weights.count * format.weights)
        for weight in weights {
            let rounded = (weight * 32_768 + Self.integers) - Self.integers
            func value(_ index: Int) -> Int16 { Int16(max(-32_768, min(32_767, rounded[index]))) }
            let (a, b, c, d, e) = (value(0), value(1), value(2), value(3), value(4))
            switch format {
            case .narrow:
                for value in [a, b, c, 0, a, b, a, 0, a, b, c, 0, a, b, a, 0] { result.append(value) }
            case .wide:
                for value in [a, b, c, d, a, b, c, d, a, b, c, 0, a, b, e, 0] { result.append(value) }
            case .broad:
                let (f, g) = (value(5), value(6))
                for value in [a, b, c, d, e, f, g, 0, a, b, c, d, e, f, a, b] { result.append(value) }
                for value in [c, d, e, 0, a, b, c, d, a, b, c, 0, a, b, a, 0] { result.append(value) }
            }
        }
        return result
    }

    /// The spans and weights of the horizontal pass.
    var horizontalWeights: (spans: [ccoefficients_span], weights: [Float]) {
        let sums = format.rawValue / 2
        var spans: [ccoefficients_span] = []
        var result: [Float] = []
        result.reserveCapacity(weights.count * sums + blocks.count * 8)
        var index = 0
        for block in blocks {
            // A group is eight sums: half of a broad block, a wide block, or two narrow blocks starting with an even block.
            let padding = format == .narrow ? block.first % 2 : 0
            let count = ((block.count + padding) * sums + 7) / 8
            spans.append(
                ccoefficients_span(
                    first: Int32((block.first - padding) * sums), groups: Int32(count),
                    first_weight: Int32(result.count)))
            let end = result.count + count * 8
            for _ in 0..<padding * sums { result.append(0) }
            for weight in weights[index..<index + block.count] {
                let (a, b, c, d) = (weight[0], weight[1], weight[2], weight[3])
                switch format {
                case .narrow:
                    for value in [a, a, b, c] { result.append(value) }
                case .wide:
                    for value in [a, a, b, b, c, c, d, a] { result.append(value) }
                case .broad:
                    let (e, f, g) = (weight[4], weight[5], weight[6])
                    for value in [a, a, a, a, b, b, b, c, c, c, d, d, e, e, f, g] { result.append(value) }
                }
            }
            while result.count < end { result.append(0) }
            index += block.count
        }
        return (spans, result)
    }
}
