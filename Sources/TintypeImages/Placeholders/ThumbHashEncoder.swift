internal import Glibc

/// Makes a ThumbHash of pixels, up to 100 on each side.
struct ThumbHashEncoder {
    private let width: Int
    private let height: Int
    private var luminance: [Double] = []
    private var yellowBlue: [Double] = []
    private var redGreen: [Double] = []
    private var alpha: [Double] = []
    private let hasAlpha: Bool

    /// A channel as a constant and varying factors from -1 to 1 times a scale.
    private struct Channel {
        var constant = 1.0
        var factors: [Double] = []
        var scale = 1.0
    }

    init(_ pixels: PixelBuffer) {
        width = pixels.width
        height = pixels.height
        var colors: [SIMD4<Double>] = []
        for y in 0..<height {
            for x in 0..<width {
                let pixel = pixels.component(x: x, y: y).clamped(lowerBound: .zero, upperBound: .one)
                colors.append(SIMD4<Double>(pixel))
            }
        }
        // Pixels are premultiplied, so the sum of color divided by the sum of alpha is the average.
        let sum = colors.reduce(SIMD4<Double>.zero, +)
        let average = sum.w > 0 ? sum / sum.w : .zero
        hasAlpha = colors.contains { $0.w < 1 }
        for color in colors {
            let opaque = color + average * (1 - color.w)
            luminance.append((opaque.x + opaque.y + opaque.z) / 3)
            yellowBlue.append((opaque.x + opaque.y) / 2 - opaque.z)
            redGreen.append(opaque.x - opaque.y)
            alpha.append(color.w)
        }
    }

    var bytes: [UInt8] {
        let longest = Double(max(width, height))
        let limit = hasAlpha ? 5.0 : 7.0
        let componentsX = max(1, Int((limit * Double(width) / longest).rounded()))
        let componentsY = max(1, Int((limit * Double(height) / longest).rounded()))
        let l = channel(luminance, (max(3, componentsX), max(3, componentsY)))
        let p = channel(yellowBlue, (3, 3))
        let q = channel(redGreen, (3, 3))
        let a = hasAlpha ? channel(alpha, (5, 5)) : Channel()
        let isLandscape = width > height
        func bits(_ value: Double, _ maximum: Double) -> Int { Int(min(maximum, max(0, value.rounded()))) }
        let first =
            bits(63 * l.constant, 63) | bits(31.5 + 31.5 * p.constant, 63) << 6
            | bits(31.5 + 31.5 * q.constant, 63) << 12 | bits(31 * l.scale, 31) << 18 | (hasAlpha ? 1 << 23 : 0)
        let second =
            (isLandscape ? componentsY : componentsX) | bits(63 * p.scale, 63) << 3 | bits(63 * q.scale, 63) << 9
            | (isLandscape ? 1 << 15 : 0)
        var bytes = [first, first >> 8, first >> 16, second, second >> 8].map { UInt8(truncatingIfNeeded: $0) }
        if hasAlpha { bytes.append(UInt8(bits(15 * a.constant, 15) | bits(15 * a.scale, 15) << 4)) }
        let factors = (l.factors + p.factors + q.factors + a.factors).map { UInt8(bits(15 * $0, 15)) }
        for index in stride(from: 0, to: factors.count, by: 2) {
            bytes.append(factors[index] | (index + 1 < factors.count ? factors[index + 1] << 4 : 0))
        }
        return bytes
    }

    private func channel(_ values: [Double], _ components: (x: Int, y: Int)) -> Channel {
        var channel = Channel(constant: wave(values, 0, 0), scale: 0)
        channel.factors = ThumbHashWaves.indices(components).map { wave(values, $0.x, $0.y) }
        channel.scale = channel.factors.reduce(0) { max($0, abs($1)) }
        // Without variation, factors are 0, as in the reference. Rounding errors don't count as variation.
        if channel.scale < 1e-6 {
            channel.scale = 0
            channel.factors = channel.factors.map { _ in 0 }
        } else {
            channel.factors = channel.factors.map { 0.5 + 0.5 / channel.scale * $0 }
        }
        return channel
    }

    /// Returns a component of the cosine transform.
    private func wave(_ values: [Double], _ i: Int, _ j: Int) -> Double {
        let across: Double = .pi / Double(width) * Double(i)
        let down: Double = .pi / Double(height) * Double(j)
        let cosines = (0..<width).map { cos(across * (Double($0) + 0.5)) }
        var sum = 0.0
        for y in 0..<height {
            let vertical = cos(down * (Double(y) + 0.5))
            for x in 0..<width { sum += values[y * width + x] * cosines[x] * vertical }
        }
        return sum / Double(width * height)
    }
}
