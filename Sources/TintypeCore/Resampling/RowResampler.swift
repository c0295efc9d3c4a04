internal import Glibc

/// Makes an image of another size out of rows as they come, top to bottom.
///
/// The filter is Lanczos with three lobes (Duchon, "Lanczos filtering in one and two dimensions", 1979), stretched to the
/// scale when shrinking, over premultiplied components. Only the rows under the filter are held: about six destination rows'
/// worth of sums.
///
/// - Complexity: O(source pixels + destination pixels × filter width); memory O(width × filter height / scale).
public struct RowResampler: ~Copyable {
    private let source: PixelSize
    private let horizontal: FilterWeights
    private let vertical: FilterWeights
    private var destination: MutablePixelBuffer
    /// Sums of the destination rows that are under way, at destination width, four floats a pixel.
    private var sums: [Int: [SIMD4<Float>]] = [:]
    private var nextRow = 0
    private var firstOpen = 0

    /// - Throws: ``ImageError/Code/limitExceeded`` and ``ImageError/Code/outOfMemory``
    public init(from source: PixelSize, to target: PixelSize, pool: PixelBufferPool = .shared) throws(ImageError) {
        self.source = source
        destination = try MutablePixelBuffer(size: target, pool: pool)
        horizontal = FilterWeights(source: source.width, target: target.width)
        vertical = FilterWeights(source: source.height, target: target.height)
    }

    /// Takes the next row: `source.width` pixels of premultiplied RGBA, 8 bits.
    public mutating func push(_ row: UnsafeRawPointer) {
        precondition(nextRow < source.height, "more rows than the image has")
        var shrunk = [SIMD4<Float>](repeating: .zero, count: destination.width)
        for x in 0..<destination.width {
            let span = horizontal.spans[x]
            var sum = SIMD4<Float>.zero
            for tap in 0..<span.count {
                let pixel = row.loadUnaligned(fromByteOffset: (span.first + tap) * 4, as: SIMD4<UInt8>.self)
                sum += SIMD4<Float>(pixel) * horizontal.weights[span.offset + tap]
            }
            shrunk[x] = sum
        }
        var y = firstOpen
        while y < destination.height, vertical.spans[y].first <= nextRow {
            let span = vertical.spans[y]
            let tap = nextRow - span.first
            if tap < span.count {
                let weight = vertical.weights[span.offset + tap]
                var sum = sums.removeValue(forKey: y) ?? [SIMD4<Float>](repeating: .zero, count: destination.width)
                for x in 0..<destination.width { sum[x] += shrunk[x] * weight }
                if tap == span.count - 1 {
                    write(sum, to: y)
                    if y == firstOpen { firstOpen += 1 }
                } else {
                    sums[y] = sum
                }
            }
            y += 1
        }
        nextRow += 1
    }

    /// A copy of the rows that are finished; those below are transparent.
    public func snapshot(pool: PixelBufferPool = .shared) throws(ImageError) -> PixelBuffer {
        try destination.snapshot(rows: firstOpen, pool: pool)
    }

    /// The resampled pixels, when all rows have come.
    public consuming func finish() -> PixelBuffer {
        precondition(nextRow == source.height, "\(nextRow) of \(source.height) rows have come")
        return destination.freeze()
    }

    private func write(_ sums: [SIMD4<Float>], to y: Int) {
        let row = destination.row(y)
        for x in 0..<destination.width {
            let rounded = sums[x].rounded(.toNearestOrAwayFromZero)
            // A premultiplied component never exceeds alpha; the filter's negative lobes may push it there.
            let alpha = min(max(rounded.w, 0), 255)
            var pixel = SIMD4<UInt8>(
                clamping: SIMD4<Int32>(rounded.clamped(lowerBound: .zero, upperBound: .init(repeating: alpha))))
            pixel.w = UInt8(alpha)
            row.storeBytes(of: pixel, toByteOffset: x * 4, as: SIMD4<UInt8>.self)
        }
    }
}

/// For each destination sample, which source samples it is made of and with which weights.
struct FilterWeights {
    struct Span {
        var first: Int
        var count: Int
        var offset: Int
    }

    private(set) var spans: [Span] = []
    private(set) var weights: [Float] = []

    init(source: Int, target: Int) {
        let scale = Double(source) / Double(target)
        let stretch = max(1, scale)
        let support = 3 * stretch
        for index in 0..<target {
            let center = (Double(index) + 0.5) * scale
            let first = max(0, Int(center - support + 0.5))
            let end = min(source, Int(center + support + 0.5))
            let taps = (first..<max(end, first + 1)).map { Self.lanczos((Double($0) + 0.5 - center) / stretch) }
            let sum = taps.reduce(0, +)
            spans.append(Span(first: first, count: taps.count, offset: weights.count))
            weights += taps.map { Float($0 / sum) }
        }
    }

    private static func lanczos(_ x: Double) -> Double {
        guard abs(x) < 3 else { return 0 }
        guard x != 0 else { return 1 }
        let t = x * .pi
        return 3 * sin(t) * sin(t / 3) / (t * t)
    }
}
