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

    @Test(
        "Each filter, level, depth, and instruction set writes the pixels that libpng writes",
        arguments: PNGEncodeOptions.Filter.allCases)
    func writers(filter: PNGEncodeOptions.Filter) throws {
        var options = DecodeOptions()
        options.decodeToHDR = true
        let translucent = try RasterSamples.translucentNoise(47, 23, seed: 5)
        let deep = try translucent.converted(to: .rgba16)
        let palette = try RasterSamples.pixels(47, 23) { x, y in
            [translucent[0, 0], translucent[1, 0], clear, red, white][(x * 3 + y * y) % 5]
        }
        let gray = try RasterSamples.pixels(47, 23) { x, y in SIMD4(SIMD3(repeating: UInt8(x * 5 ^ y * 7)), 255) }
        let bits = try RasterSamples.pixels(47, 23) { x, y in (x * 3 + y * y) % 5 < 2 ? white : [0, 0, 0, 255] }
        let deepGray = try gray.converted(to: .rgba16)
        for (pixels, samples, level) in [
            (translucent, PNGSamples(.rgba8, hasAlpha: true), 6), (translucent, PNGSamples(.rgba8, hasAlpha: true), 0),
            (deep, PNGSamples(.rgba16, hasAlpha: true), 9), (deep, PNGSamples(.rgba16, hasAlpha: false), 1),
            (try RasterSamples.gradient(47, 23).pixels, PNGSamples(.rgba8, hasAlpha: false), 6),
            (gray, PNGSamples(.rgba8, hasAlpha: false, isGray: true), 6),
            (gray, PNGSamples(.rgba8, hasAlpha: true, isGray: true), 6),
            (deepGray, PNGSamples(.rgba16, hasAlpha: false, isGray: true), 6),
            (deepGray, PNGSamples(.rgba16, hasAlpha: true, isGray: true), 6),
            (palette, try #require(PNGSamples(fewColorsOf: palette, hasAlpha: true, isGray: false)), 6),
            (bits, try #require(PNGSamples(fewColorsOf: bits, hasAlpha: false, isGray: true)), 6),
        ] {
            // A part, as of a frame of an animation.
            let picture = PNGPicture(
                pixels: pixels, area: .init(x: 3, y: 2, size: PixelSize(width: 41, height: 19)), samples: samples,
                isSRGB: true, isInterlaced: false, compressionLevel: level, filter: filter, context: ProcessingContext()
            )
            let reference = try coder.decode(
                PNGWriter().write(picture), options: options, context: ProcessingContext())
            for y in [0, 18] where samples.bitDepth <= 8 {
                #expect(
                    (0..<41).allSatisfy { x in
                        let pixel = pixels[x + 3, y + 2]
                        let opaque = SIMD4(pixel.x, pixel.y, pixel.z, 255)
                        return reference.pixels[x, y] == (reference.hasAlpha ? pixel : opaque)
                    })
            }
            for kernels in PNGKernels.available {
                let rows = try #require(try PNGPackedRows(picture, kernels: kernels))
                let image = try coder.decode(rows.file(), options: options, context: ProcessingContext())
                #expect(image.pixels == reference.pixels && image.hasAlpha == reference.hasAlpha)
            }
        }
    }

    @Test(
        "Rows that would be compressed at once for too long are left to libpng, which can be canceled",
        arguments: [(6, 8_191), (7, 2_047), (9, 2_047)])
    func mostRowsAtOnce(level: Int, most: Int) throws {
        let pixels = try RasterSamples.gradient(4, 4).pixels
        // A row has 12,289 bytes: 8,192 of them are over 96 MB, and 2,048 over 24. No pixels are read yet.
        func rows(_ height: Int) throws -> PNGPackedRows? {
            try PNGPackedRows(
                PNGPicture(
                    pixels: pixels, area: PixelRect(x: 0, y: 0, size: PixelSize(width: 4_096, height: height)),
                    samples: PNGSamples(.rgba8, hasAlpha: false), isSRGB: true, isInterlaced: false,
                    compressionLevel: level, filter: .adaptive, context: ProcessingContext()))
        }
        #expect(try rows(most) != nil)
        #expect(try rows(most + 1) == nil)
    }

    @Test("The most effort makes the smallest file")
    func effort() throws {
        for image in [try RasterSamples.gradient(300, 200), try RasterSamples.quarters(300, 200)] {
            let sizes = try [0, 1, 6, 9].map { level in
                var options = EncodeOptions()
                options.png.compressionLevel = level
                return try coder.encode(image, as: .png, options: options).count
            }
            #expect(sizes.min() == sizes[3])
            #expect(sizes.max() == sizes[0])
        }
    }

    @Test("Encoding stops when its image isn't needed any more", arguments: [true, false])
    func cancellation(interlaced: Bool) throws {
        var options = EncodeOptions()
        options.progressive = interlaced
        let source = try RasterSamples.gradient(4, 600)
        // Rows are checked after the call is.
        for allowed in 0..<3 {
            let looks = Lock(0)
            let context = ProcessingContext(isCancelled: {
                looks.withLock { count in
                    count += 1
                    return count > allowed
                }
            })
            expectCode(.cancelled) { try coder.encode(source, as: .png, options: options, context: context) }
        }
    }

    @Test("A file that does not fit into the bytes is refused")
    func maximumBytes() throws {
        let source = try RasterSamples.gradient(64, 64)
        expectCode(.encodeFailed) {
            try coder.encode(source, as: .png, options: EncodeOptions(maximumBytes: 100))
        }
    }
}
