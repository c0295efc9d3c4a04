import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs
import TintypeTesting

@Suite("JPEG encoding", .timeLimited)
struct JPEGEncodeTests {
    let coder = JPEGCoder()
    let context = ProcessingContext()

    private func roundTrip(_ image: Image, _ options: EncodeOptions) throws -> Image {
        try coder.decode(
            coder.encode(image, as: .jpeg, options: options), options: DecodeOptions(), context: context)
    }

    @Test("Quality decides how near the pixels come, and how large the file is", .capability("COD-22"))
    func quality() throws {
        let source = try RasterSamples.gradient(128, 96)
        let good = try coder.encode(source, as: .jpeg, options: EncodeOptions(quality: 0.95))
        let poor = try coder.encode(source, as: .jpeg, options: EncodeOptions(quality: 0.1))
        #expect(poor.count < good.count)
        let image = try coder.decode(good, options: DecodeOptions(), context: context)
        #expect(RasterSamples.psnr(source.pixels, image.pixels) > 40)
        #expect(try RasterSamples.psnr(source.pixels, roundTrip(source, EncodeOptions()).pixels) > 34)
    }

    @Test("Progressive files decode to the same picture as baseline ones")
    func progressive() throws {
        let source = try RasterSamples.gradient(128, 96)
        var options = EncodeOptions()
        let baseline = try roundTrip(source, options)
        options.progressive = true
        #expect(try coder.encode(source, as: .jpeg, options: options).firstRange(of: [0xFF, 0xC2]) != nil)
        #expect(try roundTrip(source, options).pixels == baseline.pixels)
    }

    @Test("Color has its full resolution from a quality of 0.95 on")
    func subsampling() throws {
        let source = try RasterSamples.gradient(32, 32)
        for (quality, sampling) in [(0.95, UInt8(0x11)), (0.9, 0x22)] {
            let data = try coder.encode(source, as: .jpeg, options: EncodeOptions(quality: quality))
            let frame = try #require(data.firstRange(of: [0xFF, 0xC0]))
            #expect(data[frame.lowerBound + 11] == sampling)
        }
    }

    /// The components of the first frame.
    private func components(_ file: Data) throws -> UInt8 {
        let frame = try #require(file.firstRange(of: [0xFF, 0xC0, 0]) ?? file.firstRange(of: [0xFF, 0xC2, 0]))
        return file[frame.lowerBound + 9]
    }

    @Test(
        "Gray pixels are written in gray, and decoded as those of a file in color", .capability("COD-50"),
        arguments: [false, true])
    func gray(isProgressive: Bool) throws {
        let source = try RasterSamples.image(61, 47) { x, y in SIMD4(SIMD3(repeating: UInt8(x * 3 + y)), 255) }
        let options = EncodeOptions(quality: 0.9, progressive: isProgressive)
        let file = try coder.encode(source, as: .jpeg, options: options)
        #expect(try components(file) == 1)
        let decoded = try coder.decode(file, options: DecodeOptions(), context: context)
        #expect(RasterSamples.psnr(source.pixels, decoded.pixels) > 38)
        let color = try #require(try JPEGWriter().write(source, quality: 90, options))
        #expect(try components(color) == 3 && file.count < color.count)
        #expect(try coder.decode(color, options: DecodeOptions(), context: context).pixels == decoded.pixels)
    }

    @Test(
        "A file is in color for one colored pixel, a colored background, a profile, and a gain map",
        .capability("COD-50"))
    func noGray() throws {
        func gray(_ x: Int, _ y: Int) -> SIMD4<UInt8> { SIMD4(SIMD3(repeating: UInt8(x * 3 + y)), 255) }
        func components(_ image: Image, _ options: EncodeOptions = EncodeOptions()) throws -> UInt8 {
            try self.components(coder.encode(image, as: .jpeg, options: options))
        }
        let spot = try RasterSamples.image(40, 30) { x, y in x == 39 && y == 29 ? [90, 90, 91, 255] : gray(x, y) }
        #expect(try components(spot) == 3)
        let veil = try RasterSamples.image(40, 30, hasAlpha: true) { x, _ in x < 20 ? clear : [50, 50, 50, 99] }
        #expect(try components(veil) == 1)
        #expect(try components(veil, EncodeOptions(background: PixelColor(red: 1, green: 0, blue: 0))) == 3)
        let profile = try ProfileSamples.wide()
        let wide = try RasterSamples.image(40, 30, gray).with {
            $0.colorSpace = ColorSpace(name: "wide", profile: profile)
        }
        #expect(try components(wide) == 3)
        let bright = try DeepSamples.ramp(40, 30)
        #expect(try components(bright, EncodeOptions(encodeToHDR: .gainMap)) == 3)
    }

    @Test("Transparent pixels are laid on the background", .capability("COD-23"))
    func background() throws {
        let source = try RasterSamples.image(16, 16, hasAlpha: true) { _, _ in SIMD4(64, 0, 0, 128) }
        var options = EncodeOptions(quality: 1)
        #expect(RasterSamples.distance(try roundTrip(source, options).pixels[8, 8], SIMD4(191, 127, 127, 255)) <= 2)
        options.background = .black
        #expect(RasterSamples.distance(try roundTrip(source, options).pixels[8, 8], SIMD4(64, 0, 0, 255)) <= 2)
    }

    @Test("The file fits into the bytes with the best quality that does", .capability("COD-25"))
    func maximumBytes() throws {
        var generator = SeededRandom(seed: 3)
        let source = try RasterSamples.image(64, 64) { _, _ in
            SIMD4(UInt8.random(in: 0...255, using: &generator), 128, 128, 255)
        }
        let full = try coder.encode(source, as: .jpeg, options: EncodeOptions(quality: 0.9))
        let limit = full.count * 2 / 3
        let fitting = try coder.encode(
            source, as: .jpeg, options: EncodeOptions(quality: 0.9, maximumBytes: .bytes(limit)))
        #expect(fitting.count <= limit)
        #expect(fitting.count > limit * 8 / 10)
        expectCode(.encodeFailed) {
            try coder.encode(source, as: .jpeg, options: EncodeOptions(quality: 0.9, maximumBytes: 100))
        }
    }

    @Test("The image is shrunk into the box first", .capability("COD-24"))
    func maximumSize() throws {
        var options = EncodeOptions()
        options.maximumSize = PixelSize(width: 40, height: 40)
        let source = try RasterSamples.gradient(105, 69)
        #expect(try roundTrip(source, options).size == PixelSize(width: 40, height: 26))
        options.maximumSize = PixelSize(width: 4000, height: 4000)
        #expect(try roundTrip(source, options).size == source.size)
    }

    @Test("A color profile for which a JPEG has no room is refused")
    func largeProfile() throws {
        let profile = try ProfileSamples.wide() + Data(count: 255 * 65_519)
        let image = try RasterSamples.gradient(8, 8).with {
            $0.colorSpace = ColorSpace(name: "large", profile: profile)
        }
        #expect { try JPEGCoder().encode(image, as: .jpeg, options: EncodeOptions()) } throws: {
            ($0 as? ImageError)?.code == .encodeFailed
        }
    }

    @Test("A side of more than 65,500 pixels is refused")
    func tooWide() throws {
        let source = try RasterSamples.image(65_501, 1) { _, _ in RasterSamples.red }
        expectCode(.encodeFailed) {
            try coder.encode(source, as: .jpeg, options: EncodeOptions())
        }
    }

    @Test("A quality that is no number, or out of range, is taken as the nearest that makes sense")
    func oddQuality() throws {
        let source = try RasterSamples.gradient(16, 16)
        for quality in [-1, 2, Double.nan] {
            #expect(try !coder.encode(source, as: .jpeg, options: EncodeOptions(quality: quality)).isEmpty)
        }
    }
}
