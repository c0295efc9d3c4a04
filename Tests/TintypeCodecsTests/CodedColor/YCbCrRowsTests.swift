#if AVIF || HEIF
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("Luma and chroma", .timeLimited)
struct YCbCrRowsTests {
    @Test(
        "Every pixel is within one of what the standards say, in all layouts, depths, matrices and ranges",
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
        let noise = PlanarNoise(width, height, layout, bits: bits, seed: UInt64(bits + matrix))
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
                    rows.convert(y, from: first, count: count, to: base)
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

    @Test("Planes that are smaller than they should be are noticed")
    func inconsistent() {
        let noise = PlanarNoise(16, 8, .half, bits: 8, seed: 1)
        let picture = noise.picture
        let short = PlanarPicture(luma: picture.luma, chroma: picture.chroma, layout: .full, bits: 8)
        #expect(!short.isConsistent)
        #expect(!PlanarPicture(luma: picture.luma, chroma: nil, layout: .half, bits: 8).isConsistent)
        #expect(!PlanarPicture(luma: picture.luma, chroma: picture.chroma, layout: .half, bits: 16).isConsistent)
        #expect(!PlanarPicture(luma: picture.luma, chroma: picture.chroma, layout: .half, bits: 10).isConsistent)
    }
}
#endif
