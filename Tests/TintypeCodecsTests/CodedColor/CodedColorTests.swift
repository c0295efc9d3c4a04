#if AVIF || HEIF || JXL
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("Colors by code points", .timeLimited)
struct CodedColorTests {
    private func mapped(_ value: SIMD3<Double>, primaries: Int = 9, transfer: Int) throws -> SIMD4<UInt8> {
        let mapping = try #require(ToneMapping(CodePoints(primaries: primaries, transfer: transfer)))
        let numbers = (0..<3).map { UInt16((value[$0] * 4_095).rounded()) } + [4_095]
        var pixel = SIMD4<UInt8>.zero
        withUnsafeMutableBytes(of: &pixel) { bytes in
            if let base = bytes.baseAddress { mapping.convert(numbers, to: base, count: 1) }
        }
        return pixel
    }

    private func gray(nits: Double) throws -> UInt8 {
        let value = TransferCurves.pqValue(nits)
        let pixel = try mapped(SIMD3(repeating: value), transfer: 16)
        #expect(pixel.x == pixel.y && pixel.y == pixel.z && pixel.w == 255)
        return pixel.x
    }

    @Test("PQ: dark and middle tones keep their light, white has room above it, and the peak is white")
    func pq() throws {
        for nits in [1.0, 10, 50, 85] {
            let expected = TransferCurves.sRGBValue(nits / 203) * 255
            #expect(abs(Double(try gray(nits: nits)) - expected) <= 1)
        }
        let white = try gray(nits: 203)
        #expect((225...240).contains(white))
        #expect(try gray(nits: 1_000) == 255 && gray(nits: 10_000) == 255 && gray(nits: 0) == 0)
        let ramp = try (0...100).map { try gray(nits: Double($0 * 12)) }
        #expect(ramp == ramp.sorted())
    }

    @Test("HLG: black, white and a gray between")
    func hlg() throws {
        #expect(try mapped(SIMD3(repeating: 0), transfer: 18).x == 0)
        #expect(try mapped(SIMD3(repeating: 1), transfer: 18).x == 255)
        // 75 % is reference white, 203 nits on a display of 1,000 (BT.2408, table 1).
        let white = try mapped(SIMD3(repeating: 0.75), transfer: 18).x
        #expect(abs(Int(white) - Int(try gray(nits: 203))) <= 1)
    }

    @Test("HLG: a gray that has more light is never darker")
    func hlgIsMonotone() throws {
        let mapping = try #require(ToneMapping(CodePoints(primaries: 9, transfer: 18)))
        let numbers = (0..<4_096).flatMap { number -> [UInt16] in
            [UInt16(number), UInt16(number), UInt16(number), 4_095]
        }
        var grays = [SIMD4<UInt8>](repeating: .zero, count: 4_096)
        grays.withUnsafeMutableBytes {
            if let base = $0.baseAddress { mapping.convert(numbers, to: base, count: 4_096) }
        }
        let levels = grays.map { Int($0.x) }
        #expect(levels == levels.sorted() && Set(levels).count > 250)
    }

    @Test("Curves of high dynamic range are those of the standards")
    func curves() {
        // BT.2408, table 1, and ST 2084.
        #expect(abs(TransferCurves.pqValue(203) - 0.58) < 0.001)
        #expect(abs(TransferCurves.pqLight(1) - 10_000) < 0.01)
        #expect(abs(TransferCurves.pqLight(TransferCurves.pqValue(77)) - 77) < 0.001)
        #expect(abs(TransferCurves.hlgLight(1) - 1) < 0.000_1 && abs(TransferCurves.hlgLight(0.5) - 1 / 12) < 0.000_1)
    }

    @Test("Matrices: white stays white, and the inverse undoes")
    func matrices() {
        for points in [Chromaticities.bt709, .bt2020, .displayP3] {
            let there = points.toXYZ
            let white = there * SIMD3(1, 1, 1)
            #expect(abs(white.y - 1) < 1e-9 && abs(white.x - 0.9505) < 0.001)
            let back = there.inverse * (there * SIMD3(0.2, 0.5, 0.7))
            #expect(abs(back.x - 0.2) < 1e-9 && abs(back.z - 0.7) < 1e-9)
        }
    }

    @Test("Code points that screens show as they are need no profile, others get one of their name")
    func profiles() throws {
        for transfer in [1, 2, 6, 13, 14] { #expect(CodePoints(primaries: 1, transfer: transfer).profile == nil) }
        let profile = try #require(CodePoints(primaries: 12, transfer: 13).profile)
        #expect(ColorConversion.name(of: profile) == "Display P3")
        #expect(
            CodePoints(primaries: 9, transfer: 16).profile != nil
                && CodePoints(primaries: 1, transfer: 8).profile != nil)
        let color = CodedColor(
            profile: nil, codePoints: CodePoints(primaries: 12, transfer: 13), isGray: false, keepsColorSpace: false)
        var pixels: [SIMD4<UInt8>] = [[255, 0, 0, 255], [128, 128, 128, 77], [0, 0, 0, 255]]
        pixels.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { color.convert(base, count: 3) }
        }
        #expect(pixels == [[255, 0, 0, 255], [128, 128, 128, 77], [0, 0, 0, 255]])
    }

    #if AVIF || HEIF
    @Test("Rotation and mirroring become the orientation that does the same", arguments: 0..<4, [0, 1, 2])
    func transforms(turns: Int, mirrored: Int) throws {
        let mirror = [Orientation.Mirror.none, .topBottom, .leftRight][mirrored]
        let source = try RasterSamples.quarters(8, 6).pixels
        var expected = source
        for _ in 0..<turns { expected = try expected.oriented(.left) }
        if mirror == .topBottom { expected = try expected.oriented(.downMirrored) }
        if mirror == .leftRight { expected = try expected.oriented(.upMirrored) }
        let orientation = Orientation(counterclockwiseQuarters: turns, mirror: mirror)
        #expect(try source.oriented(orientation) == expected)
    }
    #endif

    #if HEIF || JXL
    @Test("Numbers of 10 bits are rounded to 8")
    func rounding() throws {
        let color = CodedColor(profile: nil, codePoints: .sRGB, isGray: false, keepsColorSpace: false)
        let rows = DeepRows(bits: 10, color: color)
        var pixel = SIMD4<UInt8>.zero
        withUnsafeMutableBytes(of: &pixel) { bytes in
            if let base = bytes.baseAddress {
                rows.convert([0, 1_023, 514, 1_023], to: base, count: 1, premultiplies: false)
            }
        }
        #expect(pixel == [0, 255, 128, 255])
    }
    #endif
}
#endif
