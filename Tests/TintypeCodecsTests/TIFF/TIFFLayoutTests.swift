#if TIFF
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

/// Pages of all kinds of samples, which one description is made of.
@Suite("TIFF layouts", .timeLimited)
struct TIFFLayoutTests {
    let coder = TIFFCoder()
    private static let size = PixelSize(width: 37, height: 19)

    /// Strips, tiles, and planes.
    private static let arrangements: [(isPlanar: Bool, tileSide: Int?, rows: Int?)] = [
        (false, nil, nil), (false, nil, 5), (false, 16, nil), (true, nil, 4), (true, 16, nil),
    ]

    private func noise(_ samples: Int, bits: Int) -> [[Int]] {
        var generator = SeededRandom(seed: UInt64(bits * 31 + samples))
        return (0..<Self.size.pixelCount).map { _ in
            (0..<samples).map { _ in Int.random(in: 0..<1 << bits, using: &generator) }
        }
    }

    private func file(_ bits: Int, _ photometric: Int, extras: [Int] = []) -> HandmadeTIFF {
        var file = HandmadeTIFF(Self.size.width, Self.size.height)
        (file.bits, file.photometric, file.extras) = (bits, photometric, extras)
        return file
    }

    /// Compares every arrangement of the samples with straight colors of 8 bits.
    private func check(
        _ file: HandmadeTIFF, _ pixels: [[Int]], hasAlpha: Bool = false, _ expected: (_ pixel: [Int]) -> SIMD4<UInt8>
    ) throws {
        for arrangement in Self.arrangements where pixels[0].count > 1 || !arrangement.isPlanar {
            var file = file
            (file.isPlanar, file.tileSide, file.rowsPerStrip) = arrangement
            let data = file.data(pixels)
            #expect(try coder.info(data).hasAlpha == hasAlpha)
            let image = try coder.decode(data)
            #expect(image.hasAlpha == hasAlpha)
            let wrong = pixels.indices.filter { index in
                let color = expected(pixels[index])
                let shown = image.pixels[index % Self.size.width, index / Self.size.width]
                return (0..<3).contains {
                    let multiplied = (Double(color[$0]) * Double(color.w) / 255).rounded()
                    return abs(Int(shown[$0]) - Int(multiplied)) > (hasAlpha ? 1 : 0)
                } || shown.w != color.w
            }
            #expect(wrong.isEmpty, "\(file.bits) bits, \(arrangement): \(wrong.count) pixels")
        }
    }

    /// A sample in 8 bits, rounded to nearest.
    private func level(_ number: Int, _ bits: Int) -> UInt8 {
        UInt8((Double(number) * 255 / Double(1 << bits - 1)).rounded())
    }

    @Test(
        "Samples of 1 to 16 bits are read, together and in planes, in strips and in tiles", .capability("COD-62"),
        arguments: 1...16)
    func bits(bits: Int) throws {
        try check(file(bits, 2), noise(3, bits: bits)) { [self] in
            SIMD4(level($0[0], bits), level($0[1], bits), level($0[2], bits), 255)
        }
        try check(file(bits, 1), noise(1, bits: bits)) { [self] in
            SIMD4(level($0[0], bits), level($0[0], bits), level($0[0], bits), 255)
        }
        try check(file(bits, 1, extras: [0, 2]), noise(3, bits: bits), hasAlpha: true) { [self] in
            SIMD4(level($0[0], bits), level($0[0], bits), level($0[0], bits), level($0[2], bits))
        }
        let data = file(bits, 2).data(noise(3, bits: bits))
        #expect(try coder.info(data).bitsPerComponent == bits)
        let deep = try coder.decode(data) { $0.decodeToHDR = true }
        #expect(deep.pixels.format == (bits > 8 ? .rgba16 : .rgba8))
    }

    @Test(
        "Palettes of 1 to 16 bits are read, with the samples behind the index", .capability("COD-62"),
        arguments: [1, 2, 4, 5, 8, 16])
    func palettes(bits: Int) throws {
        var generator = SeededRandom(seed: UInt64(bits))
        let colors = (0..<3).map { _ in (0..<1 << bits).map { _ in Int.random(in: 0...255, using: &generator) } }
        func color(_ index: Int, _ alpha: UInt8 = 255) -> SIMD4<UInt8> {
            SIMD4(UInt8(colors[0][index]), UInt8(colors[1][index]), UInt8(colors[2][index]), alpha)
        }
        // Writers multiply by 257 or by 256, and old ones not at all.
        for factor in [257, 256, 1] {
            var file = file(bits, 3)
            file.palette = colors.flatMap { $0.map { $0 * factor } }
            try check(file, noise(1, bits: bits)) { color($0[0]) }
            file.extras = [2]
            try check(file, noise(2, bits: bits), hasAlpha: true) { [self] in color($0[0], level($0[1], bits)) }
        }
        var file = file(bits, 3)
        file.palette = colors.flatMap { $0.map { $0 * 257 } }
        #expect(try coder.info(file.data(noise(1, bits: bits))).bitsPerComponent == 8)
    }

    @Test("The header and the pixels are refused alike, with the reason")
    func refusals() throws {
        var jbig = file(1, 1)
        jbig.compression = 34_661
        var jpeg2000 = file(8, 1)
        jpeg2000.compression = 34_712
        for (file, samples, code) in [
            (file(24, 1), 1, ImageError.Code.formatNotEnabled), (file(8, 32_803), 1, .formatNotEnabled),
            (file(8, 2), 2, .corruptImage), (file(4, 3), 1, .corruptImage), (file(8, 3), 1, .corruptImage),
            (jbig, 1, .formatNotEnabled), (jpeg2000, 1, .formatNotEnabled), (file(8, 1), 257, .limitExceeded),
        ] {
            let data = file.data(noise(samples, bits: 4))
            expectCode(code) { try coder.info(data) }
            expectCode(code) { try coder.decode(data) }
        }
        #expect(throws: Never.self) { try coder.info(file(8, 1).data(noise(256, bits: 4))) }
    }

    private func floats(_ numbers: [Float], extras: [Int] = [], bits: Int = 32) throws -> PixelBuffer {
        let samples = 1 + extras.count
        var file = HandmadeTIFF(numbers.count / samples, 1)
        (file.bits, file.sampleFormat, file.extras) = (bits, 3, extras)
        let pixels = stride(from: 0, to: numbers.count, by: samples).map { start in
            (start..<start + samples).map {
                bits == 16 ? Int(Float16(numbers[$0]).bitPattern) : Int(numbers[$0].bitPattern)
            }
        }
        return try coder.decode(file.data(pixels)).pixels
    }

    @Test(
        "Gray in floating point goes to 1, or to 255 if its numbers do, and transparency beside it to 1",
        .capability("COD-62"), arguments: [16, 32])
    func floatingGray(bits: Int) throws {
        let unit = try floats([0, 0.5, 1, 1.25], bits: bits)
        #expect((0..<4).map { unit[$0, 0].x } == [0, 128, 255, 255])
        let bytes = try floats([0, 0.5, 1, 200], bits: bits)
        #expect((0..<4).map { bytes[$0, 0].x } == [0, 0, 1, 200])
        let translucent = try floats([1, 1, 1, 0.5, 0.5, 1], extras: [2], bits: bits)
        #expect((0..<3).map { translucent[$0, 0].w } == [255, 128, 255] && translucent[0, 0].x == 255)
        let mixed = try floats([200, 1, 100, 0.5], extras: [2], bits: bits)
        #expect(mixed[0, 0] == [200, 200, 200, 255] && mixed[1, 0] == [50, 50, 50, 128])
    }

    @Test("The search for the largest number of a strip looks for cancellation every 128 rows")
    func canceledSearch() throws {
        func checks(extremes: [Float]) throws -> Int {
            var file = HandmadeTIFF(2, 1_024)
            (file.bits, file.sampleFormat, file.extremes) = (32, 3, extremes)
            let data = file.data([[Int]](repeating: [Int(Float(0.5).bitPattern)], count: 2_048))
            let checks = Lock(0)
            let context = ProcessingContext(isCancelled: {
                checks.withLock { $0 += 1 }
                return false
            })
            #expect(try coder.decode(data, options: DecodeOptions(), context: context).pixels[1, 1_023].x == 128)
            return checks.withLock { $0 }
        }
        // Nothing has to be searched for what the file states.
        #expect(try checks(extremes: []) == checks(extremes: [0, 1]) + 1_024 / 128)
    }
}
#endif
