import Foundation
import Tintype

/// The saliency of an image by the spectral residual of its brightness (Hou and Zhang, "Saliency Detection: A Spectral Residual Approach",
/// CVPR 2007): another measure than the one that smart crops choose by.
struct SpectralResidual {
    /// The side of the map.
    static let side = 64
    private let columns: [Double]
    private let rows: [Double]

    init(_ image: Image) throws {
        let side = Self.side
        let small = try image.resized(to: PixelSize(width: side, height: side))
        var real = [Double](repeating: 0, count: side * side)
        for y in 0..<side {
            for x in 0..<side {
                let color = small.color(x: x, y: y) ?? PixelColor(red: 0, green: 0, blue: 0)
                real[y * side + x] = Double(0.2126 * color.red + 0.7152 * color.green + 0.0722 * color.blue)
            }
        }
        var spectrum = Self.transform(real, [Double](repeating: 0, count: side * side), sign: -1)
        let logarithms = (0..<side * side).map { log(hypot(spectrum.real[$0], spectrum.imaginary[$0]) + 1e-9) }
        let average = Self.filtered(logarithms, radius: 1)
        for index in logarithms.indices {
            let scale = exp(logarithms[index] - average[index]) / max(1e-9, exp(logarithms[index]))
            spectrum.real[index] *= scale
            spectrum.imaginary[index] *= scale
        }
        let residual = Self.transform(spectrum.real, spectrum.imaginary, sign: 1)
        let energy = (0..<side * side).map {
            residual.real[$0] * residual.real[$0] + residual.imaginary[$0] * residual.imaginary[$0]
        }
        // Three box filters are about a Gaussian.
        let map = Self.filtered(Self.filtered(Self.filtered(energy, radius: 2), radius: 2), radius: 2)
        columns = (0..<side).map { x in (0..<side).reduce(0) { $0 + map[$1 * side + x] } }
        rows = (0..<side).map { y in map[(y * side)..<((y + 1) * side)].reduce(0, +) }
    }

    /// The share of the saliency in a part of the width, or of the height, as fractions of it.
    func share(from start: Double, to end: Double, ofWidth: Bool) -> Double {
        let sums = ofWidth ? columns : rows
        var kept = 0.0
        for (index, sum) in sums.enumerated() {
            let (low, high) = (Double(index) / Double(sums.count), Double(index + 1) / Double(sums.count))
            kept += sum * max(0, min(high, end) - max(low, start)) * Double(sums.count)
        }
        return kept / max(1e-12, sums.reduce(0, +))
    }

    private typealias Spectrum = (real: [Double], imaginary: [Double])

    /// The Fourier transform of rows, then columns, by its definition.
    private static func transform(_ real: [Double], _ imaginary: [Double], sign: Double) -> Spectrum {
        var result: Spectrum = (real, imaginary)
        let angles = (0..<side).map { 2 * Double.pi * Double($0) / Double(side) }
        let (cosines, sines) = (angles.map { cos($0) }, angles.map { sign * sin($0) })
        for (step, stride) in [(1, side), (side, 1)] {
            let source = result
            for line in 0..<side {
                for wave in 0..<side {
                    var (sum, sumI) = (0.0, 0.0)
                    for index in 0..<side {
                        let place = line * stride + index * step
                        let angle = wave * index % side
                        sum += source.real[place] * cosines[angle] - source.imaginary[place] * sines[angle]
                        sumI += source.real[place] * sines[angle] + source.imaginary[place] * cosines[angle]
                    }
                    result.real[line * stride + wave * step] = sum
                    result.imaginary[line * stride + wave * step] = sumI
                }
            }
        }
        return result
    }

    private static func filtered(_ values: [Double], radius: Int) -> [Double] {
        var result = values
        for y in 0..<side {
            for x in 0..<side {
                var (sum, count) = (0.0, 0.0)
                for row in max(0, y - radius)...min(side - 1, y + radius) {
                    for column in max(0, x - radius)...min(side - 1, x + radius) {
                        sum += values[row * side + column]
                        count += 1
                    }
                }
                result[y * side + x] = sum / count
            }
        }
        return result
    }
}
