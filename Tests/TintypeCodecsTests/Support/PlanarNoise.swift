#if AVIF || HEIF
import Foundation
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

/// Converts luma and chroma to colors in floating point, as the standards define it.
struct YCbCrReference {
    var matrix: Int
    var isFullRange: Bool
    var bits: Int

    /// The shares of red and blue in luma (ITU-T H.273, table 4).
    static let shares: [Int: (Double, Double)] = [
        1: (0.2126, 0.0722), 4: (0.30, 0.11), 5: (0.299, 0.114), 6: (0.299, 0.114), 7: (0.212, 0.087),
        9: (0.2627, 0.0593),
    ]

    var maximum: Double { Double((1 << bits) - 1) }

    /// Red, green and blue in the numbers of the picture, within its range.
    func color(_ y: Double, _ cb: Double, _ cr: Double) -> [Double] {
        let step = Double(1 << (bits - 8))
        let black = isFullRange ? 0 : 16 * step
        let luma = (y - black) * (isFullRange ? 1 : maximum / (219 * step))
        let scale = isFullRange ? 1 : maximum / (224 * step)
        let (blue, red) = ((cb - 128 * step) * scale, (cr - 128 * step) * scale)
        let color: [Double]
        switch matrix {
        case 0:
            let lumaScale = isFullRange ? 1 : maximum / (219 * step)
            color = [(cr - black) * lumaScale, luma, (cb - black) * lumaScale]
        case 8: color = [luma - blue + red, luma + blue, luma - blue - red]
        default:
            let (kr, kb) = Self.shares[matrix] ?? (0.299, 0.114)
            let r = luma + 2 * (1 - kr) * red
            let b = luma + 2 * (1 - kb) * blue
            color = [r, (luma - kr * r - kb * b) / (1 - kr - kb), b]
        }
        return color.map { min(max($0, 0), maximum) }
    }
}

/// A picture of random numbers, which owns its planes.
final class PlanarNoise {
    let picture: PlanarPicture
    let numbers: [[Int]]
    private let memory: [UnsafeMutableRawPointer]

    init(_ width: Int, _ height: Int, _ layout: PlanarPicture.Chroma, bits: Int, seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        let small = PixelSize(
            width: layout == .full ? width : (width + 1) / 2, height: layout == .half ? (height + 1) / 2 : height)
        let sizes = [PixelSize(width: width, height: height)] + (layout == .none ? [] : [small, small])
        numbers = sizes.map { size in
            (0..<size.pixelCount).map { _ in Int.random(in: 0..<1 << bits, using: &generator) }
        }
        var memory: [UnsafeMutableRawPointer] = []
        var planes: [PlanarPicture.Plane] = []
        let bytes = bits > 8 ? 2 : 1
        for (size, numbers) in zip(sizes, numbers) {
            // Rows with something behind them.
            let stride = (size.width + 3) * bytes
            let base = UnsafeMutableRawPointer.allocate(byteCount: stride * size.height, alignment: 16)
            base.initializeMemory(as: UInt8.self, repeating: 0xEE, count: stride * size.height)
            for (index, number) in numbers.enumerated() {
                let place = base + index / size.width * stride + index % size.width * bytes
                if bits > 8 {
                    place.storeBytes(of: UInt16(number), as: UInt16.self)
                } else {
                    place.storeBytes(of: UInt8(number), as: UInt8.self)
                }
            }
            memory.append(base)
            planes.append(PlanarPicture.Plane(base: UnsafeRawPointer(base), bytesPerRow: stride, size: size))
        }
        self.memory = memory
        picture = PlanarPicture(
            luma: planes[0], chroma: planes.count > 1 ? (planes[1], planes[2]) : nil, layout: layout, bits: bits)
    }

    deinit { for base in memory { base.deallocate() } }

    /// Chroma at a pixel, between the numbers around it.
    func chroma(_ plane: Int, _ x: Int, _ y: Int) -> Double {
        guard let size = plane == 1 ? picture.chroma?.blue.size : picture.chroma?.red.size else {
            return Double(1 << (picture.bits - 1))
        }
        func at(_ x: Int, _ y: Int) -> Double {
            Double(numbers[plane][min(max(y, 0), size.height - 1) * size.width + min(max(x, 0), size.width - 1)])
        }
        func across(_ y: Int) -> Double {
            picture.layout == .full
                ? at(x, y) : 0.75 * at(x / 2, y) + 0.25 * at(x % 2 == 0 ? x / 2 - 1 : x / 2 + 1, y)
        }
        guard picture.layout == .half else { return across(y) }
        return 0.75 * across(y / 2) + 0.25 * across(y % 2 == 0 ? y / 2 - 1 : y / 2 + 1)
    }

    /// The size of a plane.
    func size(_ plane: Int) -> PixelSize {
        plane == 0 ? picture.size : picture.layout.chromaSize(of: picture.size) ?? .zero
    }

    /// Writes a plane to memory of somebody else's.
    func write(_ plane: Int, to base: UnsafeMutableRawPointer, bytesPerRow: Int) {
        let size = size(plane)
        for (index, number) in numbers[plane].enumerated() {
            let row = base + index / size.width * bytesPerRow
            if picture.bits > 8 {
                row.storeBytes(of: UInt16(number), toByteOffset: index % size.width * 2, as: UInt16.self)
            } else {
                row.storeBytes(of: UInt8(number), toByteOffset: index % size.width, as: UInt8.self)
            }
        }
    }

    /// Expects the pixels that the standards define: within half a level on average, and 3 at most.
    func expectColors(
        _ pixels: PixelBuffer, matrix: Int, isFullRange: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let reference = YCbCrReference(matrix: matrix, isFullRange: isFullRange, bits: picture.bits)
        var (sum, worst) = (0.0, 0.0)
        for y in 0..<pixels.height {
            for x in 0..<pixels.width {
                let color = reference.color(Double(numbers[0][y * pixels.width + x]), chroma(1, x, y), chroma(2, x, y))
                for component in 0..<3 {
                    let error = abs(Double(pixels[x, y][component]) - color[component] * 255 / reference.maximum)
                    sum += error
                    worst = max(worst, error)
                }
            }
        }
        let mean = sum / Double(pixels.size.pixelCount * 3)
        #expect(
            mean <= 0.5 && worst <= 3,
            "\(picture.layout), \(picture.bits) bits, matrix \(matrix), full range \(isFullRange): \(mean), \(worst)",
            sourceLocation: sourceLocation)
    }
}
#endif
