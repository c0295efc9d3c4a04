#if HEIF
import Foundation
import TestSupport
import Testing
import TintypeCore
import TintypeTesting

@testable import TintypeCodecs

/// Luma and chroma to colours, in floating point and as the standards say it.
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

@Suite("Luma and chroma", .timeLimited)
struct YCbCrRowsTests {
    /// A picture of random numbers, which owns its planes.
    private final class Noise {
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
    }

    @Test(
        "every pixel is within one of what the standards say, in all layouts, depths, matrices and ranges",
        arguments: [PlanarPicture.Chroma.none, .full, .halfWidth, .half], [8, 10, 12])
    func conversion(layout: PlanarPicture.Chroma, bits: Int) {
        for (matrix, isFullRange) in [(1, false), (1, true), (2, false), (6, true), (7, false), (9, true), (4, true)] {
            check(layout, bits, matrix, isFullRange)
        }
        if layout == .full {
            check(layout, bits, 0, true)
            check(layout, bits, 0, false)
            check(layout, bits, 8, true)
        }
    }

    private func check(_ layout: PlanarPicture.Chroma, _ bits: Int, _ matrix: Int, _ isFullRange: Bool) {
        let (width, height) = (23, 9)
        let noise = Noise(width, height, layout, bits: bits, seed: UInt64(bits + matrix))
        #expect(noise.picture.isConsistent)
        let coding = ColorCoding(codePoints: .sRGB, matrix: matrix, isFullRange: isFullRange)
        let rows = YCbCrRows(noise.picture, matrix: YCbCrMatrix(coding, bits: bits))
        let reference = YCbCrReference(matrix: matrix, isFullRange: isFullRange, bits: bits)
        // A part of each row, as an aperture asks for.
        let (first, count) = (3, 17)
        var worst = 0.0
        for y in 0..<height {
            var numbers = [UInt16](repeating: 0, count: count * 4)
            if bits > 8 {
                numbers.withUnsafeMutableBufferPointer { row in
                    guard let base = row.baseAddress else { return }
                    rows.convert(y, from: first, count: count, toDeep: base)
                }
            } else {
                var bytes = [UInt8](repeating: 0, count: count * 4)
                bytes.withUnsafeMutableBytes { row in
                    guard let base = row.baseAddress else { return }
                    rows.convert(y, from: first, count: count, to: base)
                }
                numbers = bytes.map(UInt16.init)
            }
            for x in 0..<count {
                let luma = Double(noise.numbers[0][y * width + first + x])
                let color = reference.color(luma, noise.chroma(1, first + x, y), noise.chroma(2, first + x, y))
                for component in 0..<3 {
                    worst = max(worst, abs(Double(numbers[x * 4 + component]) - color[component]))
                }
                #expect(numbers[x * 4 + 3] == UInt16((1 << bits) - 1))
            }
        }
        #expect(worst <= (bits == 8 ? 0.6 : 1), "matrix \(matrix), full range \(isFullRange)")
    }

    @Test("planes that are smaller than they should be are noticed")
    func inconsistent() {
        let noise = Noise(16, 8, .half, bits: 8, seed: 1)
        let picture = noise.picture
        let short = PlanarPicture(luma: picture.luma, chroma: picture.chroma, layout: .full, bits: 8)
        #expect(!short.isConsistent)
        #expect(!PlanarPicture(luma: picture.luma, chroma: nil, layout: .half, bits: 8).isConsistent)
        #expect(!PlanarPicture(luma: picture.luma, chroma: picture.chroma, layout: .half, bits: 16).isConsistent)
        #expect(!PlanarPicture(luma: picture.luma, chroma: picture.chroma, layout: .half, bits: 10).isConsistent)
    }
}
#endif
