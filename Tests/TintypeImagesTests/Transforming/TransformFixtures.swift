import Foundation
import Testing

@testable import TestDoubles
@testable import TintypeImages

/// Pixels to transform, and references in double precision.
struct Grid: Equatable {
    var width: Int
    var height: Int
    /// Premultiplied components; 1 is the maximum of the integer formats.
    var pixels: [SIMD4<Double>]

    init(width: Int, height: Int, _ pixel: (_ x: Int, _ y: Int) -> SIMD4<Double>) {
        self.width = width
        self.height = height
        pixels = (0..<height).flatMap { y in (0..<width).map { x in pixel(x, y) } }
    }

    init(_ buffer: PixelBuffer) {
        self.init(width: buffer.width, height: buffer.height) { SIMD4<Double>(buffer.component(x: $0, y: $1)) }
    }

    subscript(x: Int, y: Int) -> SIMD4<Double> { pixels[y * width + x] }

    /// The nearest pixel of the grid.
    func nearest(_ x: Int, _ y: Int) -> SIMD4<Double> { self[min(max(0, x), width - 1), min(max(0, y), height - 1)] }

    func mapped(_ change: (SIMD4<Double>) -> SIMD4<Double>) -> Grid {
        var grid = self
        grid.pixels = pixels.map(change)
        return grid
    }

    /// The largest difference of a component.
    func difference(from other: Grid) -> Double {
        guard width == other.width, height == other.height else { return .infinity }
        return zip(pixels, other.pixels).reduce(0) { largest, pair in
            let difference = pair.0 - pair.1
            return max(largest, difference.max(), -difference.min())
        }
    }

    /// The ratio of the signal to the noise, in dB.
    func decibels(to other: Grid) -> Double {
        guard width == other.width, height == other.height else { return 0 }
        let sum = zip(pixels, other.pixels).reduce(0.0) { sum, pair in
            let difference = pair.0 - pair.1
            return sum + (difference * difference).sum()
        }
        return sum == 0 ? .infinity : -10 * log10(sum / Double(4 * pixels.count))
    }
}

extension PixelFormat {
    /// The difference of two components that are one level apart.
    var level: Double {
        switch self {
        case .rgba8: 1.0 / 255
        case .rgba16: 1.0 / 65_535
        case .rgbaFloat16: 1.0 / 1_024
        }
    }
}

extension Image {
    /// An image with the pixels of a grid, in a format.
    static func of(_ grid: Grid, _ format: PixelFormat = .rgba8, hasAlpha: Bool = true) throws -> Image {
        let size = PixelSize(width: grid.width, height: grid.height)
        return try Image(size: size, pixelFormat: format) { surface in
            for y in 0..<grid.height {
                for x in 0..<grid.width {
                    let pixel = SIMD4<Float>(grid[x, y])
                    let color = pixel.w > 0 ? pixel / pixel.w : .zero
                    surface.replace(
                        with: PixelColor(red: color.x, green: color.y, blue: color.z, alpha: pixel.w), x: x, y: y,
                        size: PixelSize(width: 1, height: 1))
                }
            }
        }.with { $0.hasAlpha = hasAlpha }
    }

    /// An image of pseudorandom blocks and gradients, opaque or translucent.
    static func sample(
        _ width: Int, _ height: Int, _ format: PixelFormat = .rgba8, isOpaque: Bool = false, seed: UInt64 = 1
    ) throws -> Image {
        var state = seed
        func random() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) / Double(1 << 24)
        }
        let blocks = (0..<64).map { _ in SIMD4(random(), random(), random(), random()) }
        let grid = Grid(width: width, height: height) { x, y in
            let block = blocks[(x / 5 + y / 4 * 7) % 64]
            let ramp = Double(x + y) / Double(width + height)
            let alpha: Double = isOpaque ? 1 : block.w < 0.2 ? 0 : block.w
            let color: SIMD4<Double> = block * 0.7 + SIMD4(repeating: 0.3 * ramp)
            return SIMD4(color.x * alpha, color.y * alpha, color.z * alpha, alpha)
        }
        return try of(grid, format, hasAlpha: !isOpaque)
    }

    var grid: Grid { Grid(pixels) }
}

/// The sizes that transformers are tested with: odd, one pixel, one row, one column.
let transformSizes = [(17, 13), (1, 1), (1, 9), (12, 1), (33, 6)].map { PixelSize(width: $0.0, height: $0.1) }
