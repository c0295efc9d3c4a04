import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs
import TintypeTesting

@Suite("Thumbnails in other color spaces", .timeLimited)
struct PartialThumbnailTests {
    private func sample(_ hasAlpha: Bool = false) throws -> Image {
        var generator = SeededRandom(seed: 6)
        let profile = try ProfileSamples.linear()
        return try RasterSamples.image(120, 160, hasAlpha: hasAlpha) { x, y in
            let level = (x / 2 + y / 3) % 2 == 0 ? UInt8(250) : UInt8.random(in: 0...60, using: &generator)
            return SIMD4(level, level, UInt8(x * 2), 255)
        }.with { $0.colorSpace = ColorSpace(name: "linear", profile: profile) }
    }

    @Test(
        "Of a thumbnail of a part, no color exceeds its alpha, at once and while it arrives", .capability("3.8"),
        arguments: [ImageFormat.jpeg, .png, .webp])
    func partial(format: ImageFormat) throws {
        let data = try FormatSample.coders.encode(sample(), as: format, options: EncodeOptions())
        var options = DecodeOptions(thumbnailSize: PixelSize(width: 43, height: 43))
        options.allowsPartialImage = true
        let decoder = try FormatSample.coders.progressiveDecoder(options: options, context: ProcessingContext())
        let cut = data.prefix(data.count * 3 / 5)
        try decoder.append(cut)
        let preview = try #require(try decoder.preview())
        let whole = try FormatSample.coders.decode(cut, options: options, context: ProcessingContext())
        for image in [preview, whole] {
            #expect(image.isPartial && image.hasAlpha)
            var hasEdge = false
            for y in 0..<image.size.height {
                for x in 0..<image.size.width {
                    let pixel = image.pixels[x, y]
                    #expect(pixel.x <= pixel.w && pixel.y <= pixel.w && pixel.z <= pixel.w)
                    if (1..<255).contains(pixel.w) { hasEdge = true }
                }
            }
            #expect(hasEdge || image.pixels == preview.pixels, "no row is half there: the test shows nothing")
        }
    }

    @Test(
        "A thumbnail is the same with and without an alpha that is opaque everywhere",
        arguments: [ImageFormat.png, .webp])
    func order(format: ImageFormat) throws {
        var options = EncodeOptions()
        options.lossless = true
        let coders = FormatSample.coders
        let thumbnail = DecodeOptions(thumbnailSize: PixelSize(width: 31, height: 31))
        let opaque = try coders.decode(
            coders.encode(sample(), as: format, options: options), options: thumbnail, context: ProcessingContext())
        // One pixel that is nearly opaque keeps the channel in the file.
        let source = try sample(true)
        let pixels = try RasterSamples.pixels(120, 160) { x, y in
            x + y == 0 ? source.pixels[x, y] &- SIMD4(0, 0, 0, 1) : source.pixels[x, y]
        }
        let translucent = try coders.decode(
            coders.encode(Image(pixels: pixels, properties: source.properties), as: format, options: options),
            options: thumbnail, context: ProcessingContext())
        #expect(translucent.hasAlpha && !opaque.hasAlpha)
        #expect(opaque.size == translucent.size)
        for y in 1..<opaque.size.height {
            for x in 1..<opaque.size.width {
                #expect(RasterSamples.distance(opaque.pixels[x, y], translucent.pixels[x, y]) <= 2)
            }
        }
    }
}
