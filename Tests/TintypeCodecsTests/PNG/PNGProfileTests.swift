import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("PNG color profiles", .timeLimited)
struct PNGProfileTests {
    let coder = PNGCoder()

    /// A profile of a kind that libpng does not write: its illuminant is not exactly D50, as with many that are in use.
    private func oddProfile() throws -> Data {
        var profile = try ProfileSamples.wide()
        profile[profile.startIndex + 71] ^= 1
        return profile
    }

    private func compressed(_ profile: Data) -> [UInt8] {
        Array("any name\0\0".utf8) + HandmadePNG.deflated([UInt8](profile))
    }

    @Test("Every profile is written as it is, also one that libpng refuses", arguments: [1, 2])
    func roundTrip(frameCount: Int) throws {
        let profile = try oddProfile()
        let frames = try (0..<frameCount).map { index in
            ImageFrame(
                pixels: try RasterSamples.gradient(20 + index * 0, 10).pixels.oriented(index == 0 ? .up : .down),
                duration: .milliseconds(50))
        }
        let image = try #require(Image(frames: frames)).with {
            $0.hasAlpha = false
            $0.colorSpace = ColorSpace(name: "odd", profile: profile)
        }
        let file = try coder.encode(image, as: .png, options: EncodeOptions())
        let kept = try coder.decode(file) { $0.keepsColorSpace = true }
        #expect(kept.colorSpace.profile == profile)
        #expect(kept.frames.map(\.pixels) == frames.map(\.pixels))
        #expect(try coder.decode(file).colorSpace == .sRGB)
    }

    @Test("A profile counts before a chunk that says sRGB, whole and while bytes arrive")
    func profileBehindSRGB() throws {
        let profile = try ProfileSamples.linear()
        let pixel: [UInt8] = [10, 60, 120]
        let chunks = [("sRGB", [UInt8(0)]), ("iCCP", compressed(profile))]
        let file = HandmadePNG(width: 1, height: 1, colorType: 2, chunks: chunks, rows: [pixel]).data
        let wanted = try ProfileSamples.convertedToSRGB([SIMD4(pixel[0], pixel[1], pixel[2], 255)], from: profile)[0]
        #expect(wanted != SIMD4(10, 60, 120, 255))
        #expect(RasterSamples.distance(try coder.decode(file).pixels[0, 0], wanted) <= 1)
        #expect(try coder.info(file).colorProfile == "any name")
        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        try decoder.append(file)
        #expect(RasterSamples.distance(try decoder.finish().pixels[0, 0], wanted) <= 1)
    }

    @Test("Code points count before a profile, whole and while bytes arrive")
    func codePoints() throws {
        let profile = ("iCCP", compressed(try ProfileSamples.linear()))
        let pixel: [UInt8] = [200, 100, 50]
        // CIE's formulas in double precision.
        let cases: [([UInt8], [UInt8], String?)] = [
            ([12, 13, 0, 1], [215, 93, 31], "Display P3"), ([1, 8, 0, 1], [229, 168, 122], "BT.709, gamma 1.0"),
            ([1, 13, 0, 1], pixel, nil),
        ]
        for (points, wanted, name) in cases {
            for chunks in [[("cICP", points)], [("cICP", points), profile], [profile, ("cICP", points)]] {
                let file = HandmadePNG(width: 1, height: 1, colorType: 2, chunks: chunks, rows: [pixel]).data
                #expect(try coder.info(file).colorProfile == name)
                let color = SIMD4(wanted[0], wanted[1], wanted[2], 255)
                #expect(RasterSamples.distance(try coder.decode(file).pixels[0, 0], color) <= 1, "\(points)")
                let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
                try decoder.append(file)
                #expect(RasterSamples.distance(try decoder.finish().pixels[0, 0], color) <= 1, "\(points)")
            }
        }
    }

    @Test(
        "PQ and HLG are tone-mapped, or keep their range or their numbers on demand, whole and as they arrive",
        .capability("COD-18", "COD-54"), arguments: [(16, 1_000.0), (16, 100), (18, 203)])
    func highDynamicRange(transfer: UInt8, nits: Double) throws {
        // 75 % of HLG are reference white.
        let value = transfer == 16 ? TransferCurves.pqValue(nits) : 0.75
        let number = UInt16((value * 65_535).rounded())
        let bytes = [UInt8(number >> 8), UInt8(number & 0xFF)]
        let file = HandmadePNG(
            width: 1, height: 1, bitDepth: 16, colorType: 2, chunks: [("cICP", [9, transfer, 0, 1])],
            rows: [bytes + bytes + bytes]
        ).data
        #expect(try coder.info(file).isHighDynamicRange)
        let shown = try coder.decode(file)
        let expected = TransferCurves.sRGBValue(ToneMapping.rolledOff(nits) / 203) * 255
        #expect(
            abs(Double(shown.pixels[0, 0].x) - expected) <= 2 && shown.colorSpace == .sRGB && !shown.isHighDynamicRange)
        let bright = try coder.decode(file) { $0.decodeToHDR = true }
        #expect(bright.pixels.format == .rgbaFloat16 && bright.isHighDynamicRange && bright.colorSpace == .extendedSRGB)
        #expect(abs(Double(bright.pixels.component(x: 0, y: 0).x) - TransferCurves.sRGBValue(nits / 203)) < 0.01)
        let kept = try coder.decode(file) { ($0.decodeToHDR, $0.keepsColorSpace) = (true, true) }
        #expect(kept.pixels.format == .rgba16 && kept.colorSpace.name.hasPrefix("BT.2020"))
        #expect(abs(Double(kept.pixels.component(x: 0, y: 0).x) - value) < 0.0001)
        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        for byte in file {
            try decoder.append(Data([byte]))
            #expect(try decoder.preview() == nil)
        }
        #expect(try decoder.finish().pixels == shown.pixels)
        // What is written again isn't PQ under the name of sRGB.
        let again = try coder.decode(coder.encode(bright, as: .png, options: EncodeOptions(encodeToHDR: .gainMap)))
        #expect(RasterSamples.distance(again.pixels[0, 0], shown.pixels[0, 0]) <= 3)
    }

    @Test("A thumbnail has the colors of the whole image made smaller, also with a profile of linear light")
    func linearThumbnails() throws {
        let picture = try RasterSamples.image(64, 64) { x, y in
            (x ^ y) & 1 == 0 ? [0, 0, 0, 255] : [255, UInt8(x * 4), UInt8(y * 4), 255]
        }
        let profile = try ProfileSamples.linear()
        let image = picture.with { $0.colorSpace = ColorSpace(name: "linear", profile: profile) }
        var options = EncodeOptions()
        options.lossless = true
        for (coder, format) in [(PNGCoder() as any ImageCoder, ImageFormat.png), (WebPCoder(), .webp)] {
            let file = try coder.encode(image, as: format, options: options)
            let whole = try coder.decode(file)
            let small = try coder.decode(file) { $0.thumbnailSize = PixelSize(width: 24, height: 24) }
            let expected = try whole.pixels.resized(to: small.size)
            #expect(RasterSamples.psnr(small.pixels, expected) > 50, "\(format)")
        }
    }

    @Test("A profile for pixels of another kind, and one whose checksum is wrong, are as if they were not there")
    func unusable() throws {
        let profile = compressed(try ProfileSamples.linear())
        let gray = HandmadePNG(width: 1, height: 1, colorType: 0, chunks: [("iCCP", profile)], rows: [[60]])
        #expect(try coder.decode(gray.data).pixels[0, 0] == SIMD4(60, 60, 60, 255))
        let grayProfile = compressed(try ProfileSamples.linearGray())
        let color = HandmadePNG(width: 1, height: 1, colorType: 2, chunks: [("iCCP", grayProfile)], rows: [[9, 60, 8]])
        #expect(try coder.decode(color.data).pixels[0, 0] == SIMD4(9, 60, 8, 255))
        var damaged = HandmadePNG(width: 1, height: 1, colorType: 2, chunks: [("iCCP", profile)], rows: [[9, 60, 8]])
            .data
        let chunk = try #require(damaged.firstRange(of: Array("iCCP".utf8)))
        damaged[chunk.upperBound] ^= 1
        #expect(try coder.decode(damaged).pixels[0, 0] == SIMD4(9, 60, 8, 255))
    }

    @Test(
        "Colors of 16 bits are converted before they are rounded to 8", .capability("COD-52"),
        arguments: [false, true], [false, true])
    func deepConversion(hasAlpha: Bool, isAnimated: Bool) throws {
        // The darkest tenth of light has 90 levels in sRGB, and 26 in 8 bits of light.
        let width = 400
        let row = (0..<width).flatMap { x -> [UInt8] in
            let level = x * 6_553 / width
            let number = [UInt8(level >> 8), UInt8(level & 0xFF)]
            return number + number + number + (hasAlpha ? [255, 255] : [])
        }
        var chunks = [("iCCP", compressed(try ProfileSamples.linear()))]
        if isAnimated {
            let control = HandmadePNG.bytes(0) + HandmadePNG.bytes(width) + HandmadePNG.bytes(1)
            chunks.append(("acTL", HandmadePNG.bytes(1) + HandmadePNG.bytes(0)))
            chunks.append(("fcTL", control + [UInt8](repeating: 0, count: 8) + [0, 1, 0, 10, 0, 0]))
        }
        let file = HandmadePNG(
            width: width, height: 1, bitDepth: 16, colorType: hasAlpha ? 6 : 2, chunks: chunks, rows: [row])
        let image = try coder.decode(file.data)
        #expect(image.pixels.format == .rgba8)
        #expect(Set((0..<width).map { image.pixels[$0, 0].y }).count >= 85)
        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        try decoder.append(file.data)
        #expect(try decoder.finish().pixels == image.pixels)
    }
}
