import Foundation
import Tintype

/// How close a picture is to another that is computed in floating point.
enum Fidelity {
    /// The peak signal-to-noise ratio, in decibels, of the colours of an opaque picture of the target's size to a Lanczos reduction
    /// with three lobes of a larger one, in double precision.
    static func decibels(_ picture: PixelBuffer, to reference: [Double]) -> Double {
        var sum = 0.0
        for y in 0..<picture.size.height {
            picture.withRow(y) { row in
                for x in 0..<picture.size.width {
                    for component in 0..<3 {
                        let difference =
                            Double(row[4 * x + component]) - reference[(y * picture.size.width + x) * 3 + component]
                        sum += difference * difference
                    }
                }
            }
        }
        return 10 * log10(255 * 255 * Double(picture.size.width * picture.size.height * 3) / max(sum, 1e-9))
    }

    /// The components of the reduction, limited to 0...255, row by row.
    static func reduction(of source: PixelBuffer, to target: PixelSize) -> [Double] {
        let columns = weights(from: source.size.width, to: target.width)
        let rows = weights(from: source.size.height, to: target.height)
        var narrow = [Double](repeating: 0, count: target.width * source.size.height * 3)
        for y in 0..<source.size.height {
            source.withRow(y) { row in
                for (x, span) in columns.enumerated() {
                    for component in 0..<3 {
                        var sum = 0.0
                        for (tap, weight) in span.weights.enumerated() {
                            sum += weight * Double(row[4 * (span.first + tap) + component])
                        }
                        narrow[(y * target.width + x) * 3 + component] = sum
                    }
                }
            }
        }
        var result = [Double](repeating: 0, count: target.width * target.height * 3)
        let rowLength = target.width * 3
        for (y, span) in rows.enumerated() {
            for (tap, weight) in span.weights.enumerated() {
                let start = (span.first + tap) * rowLength
                for index in 0..<rowLength { result[y * rowLength + index] += weight * narrow[start + index] }
            }
        }
        return result.map { min(255, max(0, $0)) }
    }

    private static func weights(from source: Int, to target: Int) -> [(first: Int, weights: [Double])] {
        let scale = Double(source) / Double(target)
        let stretch = max(1, scale)
        return (0..<target).map { index in
            let center = (Double(index) + 0.5) * scale
            let first = max(0, Int((center - 3 * stretch + 0.5).rounded(.down)))
            let end = min(source, Int((center + 3 * stretch + 0.5).rounded(.down)))
            let taps = (first..<end).map { lanczos((Double($0) + 0.5 - center) / stretch) }
            let sum = taps.reduce(0, +)
            return (first, taps.map { $0 / sum })
        }
    }

    private static func lanczos(_ x: Double) -> Double {
        if x == 0 { return 1 }
        if abs(x) >= 3 { return 0 }
        return 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
    }
}
