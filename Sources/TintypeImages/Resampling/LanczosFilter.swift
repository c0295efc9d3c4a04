internal import Glibc

/// The Lanczos filter with three lobes (Duchon, "Lanczos filtering in one and two dimensions", 1979), stretched to the scale
/// when it shrinks an image.
package enum LanczosFilter {
    /// Calls a closure for each sample of a target, with the first source sample that contributes to it, and the filter's
    /// values from there on, which are not normalized.
    /// - Parameters:
    ///   - source: the number of source samples.
    ///   - extent: the number of source samples, from the first, that the target shows.
    ///   - part: the target samples to calculate; `nil` for all.
    package static func forEachSample(
        source: Int, extent: Double, target: Int, part: Range<Int>? = nil,
        _ body: (_ first: Int, _ taps: [Double]) -> Void
    ) {
        let scale = extent / Double(target)
        let stretch = max(1, scale)
        let support = support(extent: extent, target: target)
        let window = Window(step: 1 / stretch)
        var taps: [Double] = []
        for index in part ?? 0..<target {
            let center = (Double(index) + 0.5) * scale
            let first = max(0, Int(center - support + 0.5))
            let end = max(first + 1, min(source, Int(center + support + 0.5)))
            window.values(from: (Double(first) + 0.5 - center) / stretch, count: end - first, into: &taps)
            body(first, taps)
        }
    }

    /// Returns the largest number of source samples that contribute to a target sample.
    static func longestSpan(extent: Double, target: Int) -> Int { Int(2 * support(extent: extent, target: target)) + 1 }

    /// Returns the radius of the filter. Without scaling, Lanczos is the identity, whose zeros need not be multiplied.
    private static func support(extent: Double, target: Int) -> Double {
        extent == Double(target) ? 0.5 : 3 * max(1, extent / Double(target))
    }

    /// The Lanczos window with three lobes, at equal steps.
    ///
    /// The sines of equal steps are calculated by rotation, which takes a tenth of the time of calculating each.
    private struct Window {
        private let step: Double
        private let fastStep: Rotation
        private let slowStep: Rotation

        init(step: Double) {
            self.step = step
            fastStep = Rotation(angle: step * .pi)
            slowStep = Rotation(angle: step * .pi / 3)
        }

        /// Calculates the window at `start`, `start + step` and so on.
        func values(from start: Double, count: Int, into taps: inout [Double]) {
            taps.removeAll(keepingCapacity: true)
            var fast = Rotation(angle: start * .pi)
            var slow = Rotation(angle: start * .pi / 3)
            for index in 0..<count {
                let x = start + Double(index) * step
                let t = x * .pi
                if abs(x) >= 3 {
                    taps.append(0)
                } else if abs(t) < 1e-4 {
                    taps.append(1)
                } else {
                    taps.append(3 * fast.sine * slow.sine / (t * t))
                }
                fast.turn(by: fastStep)
                slow.turn(by: slowStep)
            }
        }
    }

    /// The sine and cosine of an angle.
    private struct Rotation {
        private(set) var sine: Double
        private var cosine: Double

        init(angle: Double) {
            sine = sin(angle)
            cosine = cos(angle)
        }

        mutating func turn(by step: Rotation) {
            (sine, cosine) = (sine * step.cosine + cosine * step.sine, cosine * step.cosine - sine * step.sine)
        }
    }
}
