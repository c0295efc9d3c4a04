import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("High dynamic range", .timeLimited)
struct ExtendedRangeTests {
    private func extended(_ value: SIMD3<Double>, primaries: Int = 9, transfer: Int, alpha: UInt16 = .max) throws
        -> SIMD4<Float>
    {
        let range = try #require(ExtendedRange(CodePoints(primaries: primaries, transfer: transfer)))
        let numbers = (0..<3).map { UInt16((value[$0] * 65_535).rounded()) } + [alpha]
        let buffer = try MutablePixelBuffer(size: PixelSize(width: 1, height: 1), format: .rgbaFloat16)
        range.convert(numbers, to: buffer.row(0), count: 1)
        return buffer.freeze().component(x: 0, y: 0)
    }

    private func gray(nits: Double) throws -> Double {
        let pixel = try extended(SIMD3(repeating: TransferCurves.pqValue(nits)), transfer: 16)
        #expect(abs(pixel.x - pixel.y) < 0.002 * pixel.x + 0.001 && abs(pixel.y - pixel.z) < 0.002 * pixel.x + 0.001)
        return Double(pixel.x)
    }

    @Test("PQ becomes extended sRGB, where 203 nits are 1", .capability("COD-54"))
    func pq() throws {
        #expect(abs(try gray(nits: 203) - 1) < 0.002)
        for nits in [0.1, 1, 10, 100, 400, 1_000, 4_000, 10_000] {
            let exact = TransferCurves.sRGBValue(nits / 203)
            #expect(abs(try gray(nits: nits) - exact) < 0.002 * exact + 0.000_5)
        }
        #expect(try gray(nits: 0) == 0)
    }

    @Test("HLG's 75 % are reference white, and its most is 1,000 nits", .capability("COD-54"))
    func hlg() throws {
        #expect(abs(try extended(SIMD3(repeating: 0.75), transfer: 18).x - 1) < 0.01)
        let most = Float(TransferCurves.sRGBValue(1_000 / 203))
        #expect(abs(try extended(SIMD3(repeating: 1), transfer: 18).x - most) < 0.01)
    }

    @Test("Colors outside sRGB have components below zero, and those of BT.709 none")
    func gamut() throws {
        let red = TransferCurves.pqValue(203)
        let wide = try extended(SIMD3(red, 0, 0), transfer: 16)
        // BT.2087: linear BT.2020 red is 1.6605, -0.1246, -0.0182 in BT.709.
        #expect(abs(Double(wide.x) - TransferCurves.sRGBValue(1.6605)) < 0.003)
        #expect(abs(Double(wide.y) + TransferCurves.sRGBValue(0.1246)) < 0.003)
        #expect(abs(Double(wide.z) + TransferCurves.sRGBValue(0.0182)) < 0.003)
        let narrow = try extended(SIMD3(red, 0, 0), primaries: 1, transfer: 16)
        #expect(abs(narrow.x - 1) < 0.002 && abs(narrow.y) < 0.001)
    }

    @Test("Color is multiplied by alpha")
    func alpha() throws {
        let white = TransferCurves.pqValue(203)
        let pixel = try extended(SIMD3(repeating: white), transfer: 16, alpha: 32_768)
        #expect(abs(pixel.x - 0.5) < 0.002 && abs(pixel.w - 0.5) < 0.001)
    }

    @Test("Extended sRGB to PQ and back is the same within the rounding of half precision", .capability("COD-20"))
    func roundTrip() throws {
        let colors: [SIMD4<Float>] = [
            [0, 0, 0, 1], [1, 1, 1, 1], [0.5, 0.25, 0.75, 1], [2, 1, 0.1, 1], [5, 5, 5, 1], [0.01, 0.002, 0.03, 1],
            [0.5, 0.5, 0.25, 0.5], [1.2, -0.3, -0.1, 1],
        ]
        let pixels = try DeepSamples.bright(colors.count, 1) { x, _ in colors[x] }.pixels
        let range = try #require(ExtendedRange(CodePoints(primaries: 9, transfer: 16)))
        let back = try MutablePixelBuffer(size: pixels.size, format: .rgbaFloat16)
        range.convert(pixels.straightDeepPixels, to: back.row(0), count: colors.count)
        let result = back.freeze()
        for (x, color) in colors.enumerated() {
            let difference = result.component(x: x, y: 0) - color
            let most = 0.002 * max(1, color.max())
            #expect(difference.max() < most && difference.min() > -most, "\(color): \(result.component(x: x, y: 0))")
        }
    }

    @Test("ToneMapping: the roll-off is BT.2390's with a target of reference white")
    func rollOff() {
        // BT.2390-10, 5.4.1: KS = 1.5 maxLum - 0.5, over PQ numbers normalised to the source's peak.
        let ratio = TransferCurves.pqValue(203) / TransferCurves.pqValue(1_000)
        let knee = TransferCurves.pqLight((1.5 * ratio - 0.5) * TransferCurves.pqValue(1_000))
        #expect(knee > 80 && knee < 100)
        #expect(ToneMapping.rolledOff(knee * 0.99) == knee * 0.99)
        #expect(abs(ToneMapping.rolledOff(1_000) - 203) < 0.001)
    }
}
