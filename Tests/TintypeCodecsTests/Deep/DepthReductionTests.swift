import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("Deep images in formats that are not", .timeLimited)
struct DepthReductionTests {
    @Test(
        "Formats of 8 bits get 16 bits rounded to 8", .capability("COD-52"),
        arguments: [ImageFormat.jpeg, .webp, .gif, .bmp])
    func rounded(format: ImageFormat) throws {
        let coders: [ImageFormat: any ImageCoder] = [
            .jpeg: JPEGCoder(), .webp: WebPCoder(), .gif: GIFCoder(), .bmp: BMPCoder(),
        ]
        let coder = try #require(coders[format])
        let deep = try DeepSamples.gradient(40, 30)
        let shallow = Image(pixels: try deep.pixels.converted(to: .rgba8), properties: deep.properties)
        var options = EncodeOptions()
        options.lossless = format == .webp
        #expect(
            try coder.encode(deep, as: format, options: options) == coder.encode(shallow, as: format, options: options))
    }

    @Test(
        "High dynamic range is tone-mapped as when it is decoded to 8 bits: dark tones stay, highlights differ from each other"
    )
    func toneMapped() throws {
        let nits = [0.0, 1, 20, 85, 203, 500, 900, 1_000, 10_000]
        let image = try DeepSamples.bright(nits.count, 1) { x, _ in
            let level = Float(TransferCurves.sRGBValue(nits[x] / 203))
            return SIMD4(level, level, level, 1)
        }
        let reduced = try DepthReduction.reduce(image, to: [.rgba16], EncodeOptions())
        #expect(reduced.pixels.format == .rgba16 && !reduced.isHighDynamicRange && reduced.colorSpace == .sRGB)
        let levels = (0..<nits.count).map { Double(reduced.pixels.component(x: $0, y: 0).x) }
        for (light, level) in zip(nits, levels) {
            #expect(abs(level - TransferCurves.sRGBValue(ToneMapping.rolledOff(min(light, 1_000)) / 203)) < 0.004)
        }
        #expect(levels[4] < levels[5] && levels[5] < levels[6] && levels[7] > 0.999 && levels[8] > 0.999)
        // In the file too.
        let bitmap = try BMPCoder().decode(BMPCoder().encode(image, as: .bmp, options: EncodeOptions()))
        for x in 0..<nits.count { #expect(abs(Double(bitmap.pixels[x, 0].x) - levels[x] * 255) <= 0.51) }
    }

    @Test("Floating-point pixels of standard range are cut off at white, not darkened")
    func cut() throws {
        let image = try DeepSamples.bright(2, 1) { x, _ in x == 0 ? [1, 0.5, 0, 1] : [3, -1, 0.25, 1] }.with {
            $0.isHighDynamicRange = false
        }
        let reduced = try DepthReduction.reduce(image, to: [], EncodeOptions())
        #expect(reduced.pixels[0, 0] == [255, 128, 0, 255] && reduced.pixels[1, 0] == [255, 0, 64, 255])
    }

    @Test("All frames are reduced, and keep their durations")
    func frames() throws {
        let pixels = try DeepSamples.gradient(8, 8).pixels
        let frames = [10, 20, 30].map { ImageFrame(pixels: pixels, duration: .milliseconds($0)) }
        let image = try #require(Image(frames: frames))
        let reduced = try DepthReduction.reduce(image, to: [], EncodeOptions())
        #expect(reduced.frames.allSatisfy { $0.pixels == reduced.pixels && $0.pixels.format == .rgba8 })
        #expect(reduced.frames.map(\.duration) == frames.map(\.duration))
        // An animated PNG has 8 bits.
        let data = try PNGCoder().encode(image, as: .png, options: EncodeOptions())
        #expect(try PNGCoder().decode(data).frames.count == 3)
        #expect(try PNGCoder().info(data).bitsPerComponent == 8)
        var first = EncodeOptions()
        first.firstFrameOnly = true
        #expect(try PNGCoder().info(PNGCoder().encode(image, as: .png, options: first)).bitsPerComponent == 16)
    }

    @Test("Curves as lines are those of the standard within 10⁻⁵, on both sides of zero")
    func curves() {
        for step in 0..<4_000 {
            let light = Double(step) * 0.012
            let value = TransferCurves.sRGBValue(light)
            #expect(abs(Double(SRGBCurve.encode.value(Float(light))) - value) < 2e-5 * max(1, value))
            let back = TransferCurves.sRGBLight(value)
            #expect(abs(Double(SRGBCurve.light.value(Float(value))) - back) < 2e-5 * max(1, back))
        }
        #expect(SRGBCurve.encode.mirrored(-0.5) == -SRGBCurve.encode.value(0.5))
        #expect(SRGBCurve.encode.value(.nan) == 0 && SRGBCurve.encode.value(.infinity) == SRGBCurve.encode.value(1_000))
    }

    @Test(
        "16 bits: multiplying and dividing by alpha is rounded exactly, and dividing then multiplying changes nothing")
    func premultiplication() throws {
        var image = try DeepSamples.noise(64, 64, hasAlpha: true, seed: 4).pixels
        let straight = image.straightDeepPixels
        var again = straight
        again.withUnsafeMutableBytes {
            if let base = $0.baseAddress { Premultiplication.premultiply(base, count: 64 * 64, format: .rgba16) }
        }
        for index in 0..<64 * 64 {
            let stored = DeepSamples.words(image, index % 64, index / 64)
            #expect((0..<4).allSatisfy { again[index * 4 + $0] == stored[$0] })
        }
        image = try DeepSamples.pixels(1, 1) { _, _ in [40_000, 3, 65_535, 21_845] }
        var row = (0..<4).map { DeepSamples.words(image, 0, 0)[$0] }
        row.withUnsafeMutableBytes {
            if let base = $0.baseAddress { Premultiplication.premultiply(base, count: 1, format: .rgba16) }
        }
        #expect(row == [13_333, 1, 21_845, 21_845])
    }
}
