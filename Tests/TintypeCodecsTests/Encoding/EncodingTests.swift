import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("What all encoders do alike", .timeLimited)
struct EncodingTests {
    private func failure(_ body: () throws -> Data) throws -> ImageError {
        do {
            _ = try body()
        } catch let error as ImageError {
            return error
        }
        throw ImageError(.encodeFailed, stage: .encode, reason: "nothing was refused")
    }

    private func animation(_ count: Int) throws -> Image {
        let colors = [red, green, blue]
        let frames = try (0..<count).map { index in
            ImageFrame(
                pixels: try RasterSamples.pixels(32, 24) { x, _ in
                    x / 8 == index % 4 ? colors[index % 3] : [9, 9, 9, 255]
                },
                duration: .milliseconds([40, 120, 1_000][index % 3]))
        }
        var properties = Image.Properties()
        properties.hasAlpha = false
        properties.loopCount = 3
        return try #require(Image(frames: frames, properties: properties))
    }

    @Test("A trait is advised only where it writes the format")
    func traitAdvice() throws {
        for format in [ImageFormat.svg, .pdf, .raw, .avif] {
            let error = try failure {
                try ImageCoders([]).encode(try RasterSamples.gradient(4, 4), as: format, options: EncodeOptions())
            }
            #expect(error.code == .formatNotEncodable)
            #expect("\(error)".contains("package trait AVIF") == (format == .avif))
        }
    }

    @Test("The durations of many frames add up, and a frame may take a day", arguments: WritableFormats.animated)
    func exactDurations(format: ImageFormat) throws {
        func seconds(_ duration: Duration, _ count: Int) throws -> Double {
            let frames = try (0..<count).map { index in
                ImageFrame(
                    pixels: try RasterSamples.pixels(4, 4) { _, _ in SIMD4(index % 2 == 0 ? 255 : 0, 0, 0, 255) },
                    duration: duration)
            }
            let data = try WritableFormats.encode(try #require(Image(frames: frames)), as: format)
            return try WritableFormats.coders.info(data).frameDurations.reduce(0) { $0 + $1 / .seconds(1) }
        }
        #expect(abs(try seconds(.seconds(1) / 30, 60) - 2) < 0.011)
        // The longest of GIF and WebP are shorter.
        guard format != .gif, format != .webp else { return }
        #expect(abs(try seconds(.milliseconds(65_999), 2) - 131.998) < 0.02)
        #expect(try seconds(.seconds(7_200), 2) == 14_400)
    }

    @Test(
        "All frames with their delays; one frame, or the first alone, is a still file", .capability("COD-46", "COD-21"),
        arguments: WritableFormats.all)
    func animations(format: ImageFormat) throws {
        let source = try animation(3)
        let data = try WritableFormats.encode(source, as: format)
        let result = try WritableFormats.decode(data)
        guard WritableFormats.animated.contains(format) else {
            #expect(!result.isAnimated && RasterSamples.psnr(result.pixels, source.pixels) > 25)
            return
        }
        #expect(result.frames.map(\.duration) == source.frames.map(\.duration))
        #expect(result.loopCount == 3)
        for (read, written) in zip(result.frames, source.frames) {
            #expect(RasterSamples.psnr(read.pixels, written.pixels) > 25)
        }
        let first = try WritableFormats.encode(source, as: format) { $0.firstFrameOnly = true }
        #expect(try !WritableFormats.coders.info(first).isAnimated)
        let single = try WritableFormats.coders.info(WritableFormats.encode(animation(1), as: format))
        #expect(!single.isAnimated && single.frameCount == 1)
    }

    @Test(
        "A size that a format cannot hold is refused by name",
        arguments: [ImageFormat.jpeg: 65_500, .webp: 16_383, .gif: 65_535])
    func limits(format: ImageFormat, side: Int) throws {
        let source = try RasterSamples.image(1, side + 1) { _, _ in red }
        let error = try failure { try WritableFormats.encode(source, as: format) }
        #expect(error.code == .encodeFailed && error.stage == .encode)
        #expect(error.reason.contains("\(side)") && error.reason.contains("maximumSize"))
        let shrunk = try WritableFormats.encode(source, as: format) {
            $0.maximumSize = PixelSize(width: 100, height: 100)
        }
        #expect(try WritableFormats.coders.info(shrunk).size == PixelSize(width: 1, height: 100))
    }

    @Test(
        "Frames without durations, or with negative or endless ones, stay frames", .capability("COD-21"),
        arguments: WritableFormats.animated)
    func extremeDurations(format: ImageFormat) throws {
        let frames = try animation(2).frames
        for duration in [Duration.zero, .microseconds(1), .seconds(Int64.max), .seconds(-5), .seconds(Int64.min)] {
            let extreme = frames.map { ImageFrame(pixels: $0.pixels, duration: duration) }
            let image = try #require(Image(frames: extreme))
            let decoded = try WritableFormats.decode(WritableFormats.encode(image, as: format))
            #expect(decoded.frames.count == 2, "\(duration)")
            #expect(decoded.frames.allSatisfy { $0.duration >= .milliseconds(20) }, "\(duration)")
        }
    }

    @Test("5250×3450 in 4000×4000 is 4000×2629", .capability("COD-24"))
    func maximumSize() throws {
        let pixels = try MutablePixelBuffer(size: PixelSize(width: 5_250, height: 3_450), cleared: true).freeze()
        let data = try WritableFormats.encode(makeImage(pixels, hasAlpha: false), as: .jpeg) {
            $0.maximumSize = PixelSize(width: 4_000, height: 4_000)
        }
        #expect(try WritableFormats.coders.info(data).size == PixelSize(width: 4_000, height: 2_629))
    }

    @Test(
        "Formats with loss keep to a number of bytes; without loss it is an error that says what may help",
        .capability("COD-25"),
        arguments: WritableFormats.all)
    func maximumBytes(format: ImageFormat) throws {
        var generator = SeededRandom(seed: 11)
        let source = try RasterSamples.image(64, 64) { x, y in
            SIMD4(UInt8.random(in: 0...255, using: &generator), UInt8(x * 4), UInt8(y * 4), 255)
        }
        let full = try WritableFormats.encode(source, as: format) { $0.quality = 1 }
        let tooSmall = try failure { try WritableFormats.encode(source, as: format) { $0.maximumBytes = 60 } }
        #expect(tooSmall.code == .encodeFailed && tooSmall.reason.contains("smaller image"))
        let limit = full.count * 2 / 3
        if WritableFormats.withLoss.contains(format) || format == .gif {
            let fitting = try WritableFormats.encode(source, as: format) {
                $0.quality = 1
                $0.maximumBytes = .bytes(limit)
            }
            #expect(fitting.count <= limit && fitting.count > limit / 4)
        } else {
            #expect(
                try failure { try WritableFormats.encode(source, as: format) { $0.maximumBytes = .bytes(limit) } }.code
                    == .encodeFailed)
        }
        guard [.webp, .avif, .jxl].contains(format) else { return }
        let lossless = try failure {
            try WritableFormats.encode(source, as: format) {
                $0.lossless = true
                $0.maximumBytes = 500
            }
        }
        #expect(lossless.reason.contains("lossy"))
    }

    @Test("Encoding that nobody waits for ends between frames and between tries", arguments: WritableFormats.all)
    func cancellation(format: ImageFormat) throws {
        let source = try animation(40)
        let asked = Lock(0)
        let context = ProcessingContext(isCancelled: {
            asked.withLock { count in
                count += 1
                return count > 1
            }
        })
        var options = EncodeOptions(quality: 1)
        // Where there are no frames, there are further tries.
        if [.jpeg, .heic].contains(format) { options.maximumBytes = 700 }
        let error = try failure {
            try WritableFormats.coders.encode(source, as: format, options: options, context: context)
        }
        #expect(error.code == .cancelled && error.stage == .encode)
        #expect(asked.withLock { $0 } < 4)
        let dead = ProcessingContext(isCancelled: { true })
        #expect(
            try failure { try WritableFormats.coders.encode(source, as: format, options: options, context: dead) }.code
                == .cancelled)
    }

    @Test("A WebP of one frame is given up in the middle")
    func cancelledFrame() throws {
        let asked = Lock(0)
        let context = ProcessingContext(isCancelled: {
            asked.withLock { count in
                count += 1
                return count > 4
            }
        })
        var options = EncodeOptions()
        options.webp.method = 6
        let source = try RasterSamples.gradient(256, 256)
        let error = try failure { try WebPCoder().encode(source, as: .webp, options: options, context: context) }
        #expect(error.code == .cancelled)
    }

    typealias WrongSetting = (ImageFormat, String, (inout EncodeOptions) -> Void)

    @Test("Settings out of their ranges are refused by name")
    func ranges() throws {
        let source = try RasterSamples.gradient(8, 8)
        let cases: [WrongSetting] = [
            (.jpeg, "jpeg.restartRows", { $0.jpeg.restartRows = -1 }),
            (.png, "png.compressionLevel", { $0.png.compressionLevel = 10 }),
            (.gif, "gif.maximumColors", { $0.gif.maximumColors = 1 }),
            (.gif, "gif.maximumColors", { $0.gif.maximumColors = 257 }),
            (.avif, "avif.speed", { $0.avif.speed = 11 }),
            (.avif, "avif.alphaQuality", { $0.avif.alphaQuality = .nan }),
            (.jxl, "jxl.effort", { $0.jxl.effort = 0 }),
            (.jxl, "jxl.distance", { $0.jxl.distance = 16 }),
        ]
        for (format, name, change) in cases where WritableFormats.all.contains(format) {
            let error = try failure { try WritableFormats.encode(source, as: format, change) }
            #expect(error.code == .encodeFailed && error.reason.contains(name), "\(error)")
        }
    }

    // MARK: Settings of formats

    @Test("JPEG: resolution of color, Huffman codes and restarts", arguments: [true, false])
    func jpegSettings(isProgressive: Bool) throws {
        let source = try RasterSamples.gradient(64, 64)
        func encode(_ change: (inout EncodeOptions) -> Void) throws -> Data {
            let data = try WritableFormats.encode(source, as: .jpeg) {
                $0.progressive = isProgressive
                change(&$0)
            }
            #expect(RasterSamples.psnr(try WritableFormats.decode(data).pixels, source.pixels) > 30)
            return data
        }
        for (subsampling, factors) in [(ChromaSubsampling.full, UInt8(0x11)), (.halfAcross, 0x21), (.half, 0x22)] {
            let data = try encode { $0.jpeg.subsampling = subsampling }
            let frame = try #require(data.firstRange(of: [0xFF, isProgressive ? 0xC2 : 0xC0]))
            #expect(data[frame.lowerBound + 11] == factors)
        }
        let plain = try encode { _ in }
        let optimized = try encode { $0.jpeg.optimizesHuffmanCodes = true }
        #expect(isProgressive ? optimized == plain : optimized.count < plain.count)
        let restarting = try encode { $0.jpeg.restartRows = 1 }
        #expect(restarting.firstRange(of: [0xFF, 0xDD]) != nil && restarting.firstRange(of: [0xFF, 0xD0]) != nil)
        #expect(plain.firstRange(of: [0xFF, 0xDD]) == nil)
    }

    @Test("PNG: effort and filter change the size, never a pixel")
    func pngSettings() throws {
        let source = try RasterSamples.gradient(96, 64)
        var sizes: [Int] = []
        for filter in PNGEncodeOptions.Filter.allCases {
            for level in [0, 9] {
                let data = try WritableFormats.encode(source, as: .png) {
                    $0.png.filter = filter
                    $0.png.compressionLevel = level
                }
                #expect(try WritableFormats.decode(data).pixels == source.pixels)
                sizes.append(data.count)
            }
        }
        #expect(sizes[0] > sizes[1] && Set(sizes).count > 5)
        // What is too large with little effort is tried with all.
        let small = try WritableFormats.encode(source, as: .png) {
            $0.png.compressionLevel = 0
            $0.maximumBytes = .bytes(sizes[1])
        }
        #expect(small.count == sizes[1])
    }

    @Test("GIF: error diffusion comes closer on the average, at any number of colors")
    func dithering() throws {
        let source = try RasterSamples.gradient(128, 96)
        /// The mean difference of blocks of 8 × 8 pixels, which is what is seen from afar.
        func error(dithers: Bool?) throws -> Double {
            let result = try WritableFormats.decode(
                WritableFormats.encode(source, as: .gif) {
                    $0.gif.dithers = dithers
                    $0.gif.maximumColors = 16
                })
            #expect(Set(result.pixels.allColors).count <= 16)
            let box = PixelSize(width: 16, height: 12)
            return RasterSamples.psnr(try result.pixels.resized(to: box), try source.pixels.resized(to: box))
        }
        let (plain, dithered) = (try error(dithers: false), try error(dithers: true))
        #expect(dithered > plain + 3)
        #expect(try error(dithers: nil) == dithered)
    }

    @Test("GIF: dithering leaves holes alone, and animations unless it is asked for")
    func ditheringKeeps() throws {
        let holes = try RasterSamples.image(64, 64, hasAlpha: true) { x, y in
            x < 20 ? clear : SIMD4(UInt8(x * 4), UInt8(y * 4), UInt8((x ^ y) * 4), 255)
        }
        let result = try WritableFormats.decode(WritableFormats.encode(holes, as: .gif))
        #expect((0..<64).allSatisfy { y in (0..<64).allSatisfy { x in (result.pixels[x, y].w == 0) == (x < 20) } })
        let frames = try (0..<2).map { index in
            ImageFrame(pixels: try RasterSamples.gradient(64, 64).pixels, duration: .milliseconds(100 * (index + 1)))
        }
        var properties = Image.Properties()
        properties.hasAlpha = false
        let moving = try #require(Image(frames: frames, properties: properties))
        let plain = try WritableFormats.encode(moving, as: .gif) { $0.gif.dithers = false }
        #expect(try WritableFormats.encode(moving, as: .gif) == plain)
        #expect(try WritableFormats.encode(moving, as: .gif) { $0.gif.dithers = true } != plain)
    }
}

extension PixelBuffer {
    fileprivate var allColors: [SIMD4<UInt8>] {
        (0..<height).flatMap { y in (0..<width).map { x in self[x, y] } }
    }
}
