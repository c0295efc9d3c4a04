/// A color that many pixels of an image have.
package struct DominantColor: Sendable, Hashable {
    /// The color, opaque and in sRGB.
    package let color: PixelColor
    /// The part of the opaque pixels that are closest to this color, from 0 to 1.
    package let share: Double
}

extension Image {
    /// Returns the most representative colors of the image, or of its first frame, most frequent first.
    ///
    /// The image is reduced to 96 × 96 pixels, which are grouped by k-means in OKLab. The first centers are chosen by distance, not at
    /// random, so that equal images have equal colors. Transparent pixels don't count. Colors brighter than white count as white.
    ///
    /// ```swift
    /// let colors = try image.dominantColors(count: 3)
    /// print(colors.map(\.hex))  // the most frequent first
    /// ```
    /// - Parameter count: the largest number of colors, from 1 to 32. An image with fewer distinct colors has fewer.
    /// - Returns: the colors; an empty array for a transparent image.
    /// - Throws: ``ImageError/Code/invalidRequest`` for another count, ``ImageError/Code/outOfMemory``, and
    ///   ``ImageError/Code/cancelled``.
    public func dominantColors(count: Int = 5) throws(ImageError) -> [PixelColor] {
        try dominantColorShares(count: count).map(\.color)
    }

    /// Returns the dominant colors with their shares.
    package func dominantColorShares(count: Int = 5) throws(ImageError) -> [DominantColor] {
        guard (1...32).contains(count) else {
            throw ImageError(
                .invalidRequest, stage: .request,
                reason: "the number of dominant colors is \(count), but must be 1 to 32")
        }
        let context = ProcessingContext.current
        try context.checkCancellation()
        let small = try pixels.resized(
            to: size.scaled(into: PixelSize(width: 96, height: 96)), pool: context.pool)
        var points: [SIMD3<Float>] = []
        for y in 0..<small.height {
            for x in 0..<small.width {
                let pixel = small.component(x: x, y: y)
                guard pixel.w >= 0.5 else { continue }
                let color = pixel.straight.clamped(lowerBound: .zero, upperBound: .one)
                points.append(OKLab.lab(SIMD3(color.x, color.y, color.z)))
            }
        }
        try context.checkCancellation()
        return ColorClusters(points, count: count).clusters.map { cluster in
            DominantColor(
                color: OKLab.color(cluster.center), share: Double(cluster.count) / Double(max(1, points.count)))
        }
    }
}

/// Groups of similar points (k-means), the largest first.
private struct ColorClusters {
    private(set) var clusters: [(center: SIMD3<Float>, count: Int)] = []

    private static let rounds = 12
    /// Centers that are closer to each other look the same.
    private static let leastDistance: Float = 0.04

    init(_ points: [SIMD3<Float>], count: Int) {
        guard !points.isEmpty else { return }
        var centers = Self.firstCenters(points, count: count)
        var counts: [Int] = []
        for _ in 0..<Self.rounds {
            var sums = [SIMD3<Float>](repeating: .zero, count: centers.count)
            counts = [Int](repeating: 0, count: centers.count)
            for point in points {
                let nearest = Self.nearest(point, centers).index
                sums[nearest] += point
                counts[nearest] += 1
            }
            let moved = centers.indices.map { counts[$0] == 0 ? centers[$0] : sums[$0] / Float(counts[$0]) }
            if moved == centers { break }
            centers = moved
        }
        let found = zip(centers, counts).filter { $0.1 > 0 }.map { (center: $0.0, count: $0.1) }
        clusters = found.enumerated().sorted {
            ($0.element.count, $1.offset) > ($1.element.count, $0.offset)
        }.map(\.element)
    }

    /// The mean, and then the points that are farthest from all centers so far, weighted by nothing else.
    private static func firstCenters(_ points: [SIMD3<Float>], count: Int) -> [SIMD3<Float>] {
        let mean = points.reduce(SIMD3<Float>.zero, +) / Float(points.count)
        // The point nearest to the mean is a color of the image; the mean may be none.
        var first = points[0]
        for point in points where squared(point - mean) < squared(first - mean) { first = point }
        var centers = [first]
        var distances = points.map { squared($0 - first) }
        while centers.count < count {
            var farthest = 0
            for index in points.indices where distances[index] > distances[farthest] { farthest = index }
            guard distances[farthest] > leastDistance * leastDistance else { break }
            centers.append(points[farthest])
            for index in points.indices {
                distances[index] = min(distances[index], squared(points[index] - points[farthest]))
            }
        }
        return centers
    }

    private static func nearest(
        _ point: SIMD3<Float>, _ centers: [SIMD3<Float>]
    ) -> (index: Int, distance: Float) {
        var best = (index: 0, distance: Float.infinity)
        for (index, center) in centers.enumerated() {
            let distance = squared(point - center)
            if distance < best.distance { best = (index, distance) }
        }
        return best
    }

    private static func squared(_ vector: SIMD3<Float>) -> Float { (vector * vector).sum() }
}
