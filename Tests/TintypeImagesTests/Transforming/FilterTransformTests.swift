import CKernels
import Foundation
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Transformers: filters", .timeLimited)
struct FilterTransformTests {
    /// The grid blurred by a Gaussian in double precision, with repeated edges.
    private func blurred(_ grid: Grid, sigma: Double, radius: Int) -> Grid {
        let values = (-radius...radius).map { (x: Int) -> Double in
            let square = Double(x * x)
            return exp(-square / (2 * sigma * sigma))
        }
        let sum = values.reduce(0, +)
        func filtered(_ pixel: (Int) -> SIMD4<Double>) -> SIMD4<Double> {
            var total = SIMD4<Double>.zero
            for offset in -radius...radius {
                let weight: Double = values[offset + radius] / sum
                total += pixel(offset) * weight
            }
            return total
        }
        let rows = Grid(width: grid.width, height: grid.height) { x, y in filtered { grid.nearest(x + $0, y) } }
        return Grid(width: grid.width, height: grid.height) { x, y in filtered { rows.nearest(x, y + $0) } }
    }

    @Test(
        "A small blur equals a Gaussian in double precision, and a large one by more than 40 dB", .capability("TRF-10"),
        arguments: PixelFormat.allCases)
    func gaussian(format: PixelFormat) throws {
        for size in transformSizes + [PixelSize(width: 70, height: 41)] {
            let image = try Image.sample(size.width, size.height, format)
            for sigma in [0.3, 0.8, 1.5, 1.99] + (format == .rgba8 ? [3.7, 6.99] : []) {
                let result = try image.transformed(.blur(radius: sigma))
                let expected = blurred(image.grid, sigma: sigma, radius: max(12, Int(sigma * 6)))
                #expect(result.grid.difference(from: expected) < max(format.level * 1.3, 1.5e-3), "\(size) \(sigma)")
            }
            for sigma in [2.0, 3.7, 11] {
                let result = try image.transformed(.blur(radius: sigma))
                let expected = blurred(image.grid, sigma: sigma, radius: Int(sigma * 6))
                #expect(result.grid.decibels(to: expected) > 40, "\(size) \(sigma)")
            }
        }
    }

    @Test("Every kernel blurs bytes in the same way, and keeps color below alpha", .capability("TRF-10"))
    func fixedKernels() {
        let row = (0..<(64 + 2 * 8)).map { _ in UInt8.random(in: 0...255) }
        let weights: [UInt16] = [30_000, 17_768]
        let results = ComponentRow.allKernels.map { kernels -> [UInt8] in
            var (numbers, sums) = ([UInt16](repeating: 0, count: row.count), [UInt16](repeating: 0, count: 64))
            var bytes = [UInt8](repeating: 0, count: 64)
            kernels.read8_fixed(&numbers, row, row.count / 4)
            numbers.withUnsafeBufferPointer { numbers in
                let center = numbers.baseAddress.map { $0 + 8 }
                kernels.filter_fixed(&sums, center, [center.map { $0 - 4 }], [center.map { $0 + 4 }], weights, 1, 64)
            }
            kernels.write8_fixed(&bytes, sums, 16)
            return bytes
        }
        for result in results { #expect(result == results[0]) }
        for x in 0..<16 { for color in 0..<3 { #expect(results[0][x * 4 + color] <= results[0][x * 4 + 3]) } }
    }

    @Test("A wide image is blurred tile by tile without seams", .capability("TRF-10"))
    func tiles() throws {
        let image = try Image.sample(1_100, 5)
        let result = try image.transformed(.blur(radius: 1.2))
        #expect(result.grid.difference(from: blurred(image.grid, sigma: 1.2, radius: 9)) < 1.3 / 255)
    }

    @Test("A blur keeps the mean, a uniform image, and an edge of one side", .capability("TRF-10"))
    func mean() throws {
        let framed = try Image.sample(40, 30, .rgba16).transformed(.pad(top: 60, left: 60, bottom: 60, right: 60))
        let mean = framed.grid.pixels.reduce(SIMD4<Double>.zero, +)
        for radius in [0.5, 1.9, 2, 7.3, 15] {
            let sum = try framed.transformed(.blur(radius: radius)).grid.pixels.reduce(SIMD4<Double>.zero, +)
            let change: SIMD4<Double> = (sum - mean) / mean
            let largest = (change * change).max()
            #expect(largest < 1e-5, "\(radius)")
        }
        for format in PixelFormat.allCases {
            let plain = Grid(width: 37, height: 9) { _, _ in SIMD4(0.5, 0.25, 0.125, 0.75) }
            let image = try Image.of(plain, format)
            for radius in [1, 5, 500, 1e300] {
                let result = try image.transformed(.blur(radius: radius))
                #expect(result.grid.difference(from: image.grid) <= max(format.level, 1e-3), "\(format) \(radius)")
            }
        }
        let image = try Image.sample(5, 5)
        #expect(try image.transformed(.blur(radius: 0)).pixels === image.pixels)
    }

    @Test("In linear light, a white dot stays brighter", .capability("TRF-10"), arguments: PixelFormat.allCases)
    func linearBlur(format: PixelFormat) throws {
        let dot = try Image.of(
            Grid(width: 41, height: 41) { x, y in
                let (dx, dy) = (x - 20, y - 20)
                return dx * dx + dy * dy < 9 ? SIMD4<Double>.one : SIMD4<Double>(0, 0, 0, 1)
            }, format)
        for radius in [1.5, 4] {
            let light = try dot.transformed(.blur(radius: radius, inLinearLight: true)).grid[20, 20].x
            let encoded = try dot.transformed(.blur(radius: radius)).grid[20, 20].x
            #expect(light > encoded * 1.05)
        }
    }

    @Test("Sharpening adds the difference from a blurred copy", arguments: PixelFormat.allCases)
    func sharpen(format: PixelFormat) throws {
        let image = try Image.sample(25, 14, format)
        let soft = blurred(image.grid, sigma: 1.2, radius: 10)
        let result = try image.transformed(.sharpen(amount: 0.8, radius: 1.2))
        let grid = image.grid
        let expected = Grid(width: 25, height: 14) { x, y in
            let difference: SIMD4<Double> = grid[x, y] - soft[x, y]
            var pixel: SIMD4<Double> = grid[x, y] + difference * 0.8
            pixel.w = grid[x, y].w
            return format == .rgbaFloat16
                ? pixel : pixel.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: pixel.w))
        }
        #expect(result.grid.difference(from: expected) < max(format.level * 1.3, 2.5e-3))
        #expect(try image.transformed(.sharpen(amount: 0)).pixels === image.pixels)
        #expect(try image.transformed(.sharpen(amount: 2, threshold: 1)).pixels == image.pixels)
    }
}
