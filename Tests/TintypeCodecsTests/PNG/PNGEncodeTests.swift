import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("PNG encoding", .timeLimited)
struct PNGEncodeTests {
    let coder = PNGCoder()

    private func roundTrip(_ image: Image, _ options: EncodeOptions = EncodeOptions()) throws -> Image {
        try coder.decode(
            coder.encode(image, as: .png, options: options), options: DecodeOptions(), context: ProcessingContext())
    }

    @Test("Pixels come back exactly, with alpha and without, plain and interlaced", arguments: [true, false])
    func exact(interlaced: Bool) throws {
        var options = EncodeOptions()
        options.progressive = interlaced
        for source in [try RasterSamples.gradient(37, 23), try RasterSamples.translucent(37, 23)] {
            let image = try roundTrip(source, options)
            #expect(image.pixels == source.pixels)
            #expect(image.hasAlpha == source.hasAlpha)
        }
    }

    @Test("An animation comes back with its frames, delays and loops", .capability("COD-46", "COD-21", "COD-24"))
    func animation() throws {
        var frames: [ImageFrame] = []
        for index in 0..<5 {
            let pixels = try RasterSamples.pixels(16, 12) { x, y in
                x == index * 3 && y < 9 ? SIMD4(128, 0, 0, 128) : SIMD4(0, 0, UInt8(y * 20), 255)
            }
            frames.append(ImageFrame(pixels: pixels, duration: .milliseconds(40 + index)))
        }
        // A frame like the one before it, and one that stays long.
        frames.append(ImageFrame(pixels: frames[4].pixels, duration: .seconds(90)))
        var properties = Image.Properties()
        properties.loopCount = 3
        let source = try #require(Image(frames: frames, properties: properties))
        let image = try roundTrip(source)
        #expect(image.frames == source.frames)
        #expect(image.loopCount == 3)

        var first = EncodeOptions()
        first.firstFrameOnly = true
        #expect(try roundTrip(source, first).frames.count == 1)
        var small = EncodeOptions()
        small.maximumSize = PixelSize(width: 8, height: 8)
        #expect(
            try roundTrip(source, small).frames.map(\.pixels.size)
                == Array(
                    repeating: PixelSize(width: 8, height: 6), count: 6))
    }

    @Test("A file that does not fit into the bytes is refused")
    func maximumBytes() throws {
        let source = try RasterSamples.gradient(64, 64)
        expectCode(.encodeFailed) {
            try coder.encode(source, as: .png, options: EncodeOptions(maximumBytes: 100))
        }
    }
}
