import FoundationEssentials
import TestSupport
import Testing
import TintypeCodecs
import TintypeImages
import TintypeTesting

@Suite("GIF: encoding", .timeLimited)
struct GIFEncodingTests {
    let coder = GIFCoder()

    private func roundTrip(_ image: Image, _ options: EncodeOptions = EncodeOptions()) throws -> Image {
        try coder.decode(try coder.encode(image, as: .gif, options: options))
    }

    @Test("A picture of up to 256 colors comes back exactly", arguments: [2, 16, 256])
    func exact(colors: Int) throws {
        // Long enough for the dictionary to fill, more than once.
        var generator = SeededRandom(seed: 7)
        let pixels = try RasterSamples.pixels(200, 150) { _, _ in
            let value = UInt8(Int.random(in: 0..<colors, using: &generator))
            return SIMD4(value, 255 - value, value / 2, 255)
        }
        #expect(try roundTrip(makeImage(pixels, hasAlpha: false)).pixels == pixels)
    }

    @Test("Runs of one color come back exactly")
    func runs() throws {
        let pixels = try RasterSamples.pixels(300, 300) { _, y in y < 200 ? red : blue }
        #expect(try roundTrip(makeImage(pixels, hasAlpha: false)).pixels == pixels)
    }

    @Test("A picture of many colors stays close")
    func quantized() throws {
        let pixels = try RasterSamples.pixels(64, 64) { x, y in SIMD4(UInt8(x * 4), UInt8(y * 4), 128, 255) }
        let result = try roundTrip(makeImage(pixels, hasAlpha: false)).pixels
        var worst = 0
        for y in 0..<64 {
            for x in 0..<64 {
                for c in 0..<4 { worst = max(worst, abs(Int(pixels[x, y][c]) - Int(result[x, y][c]))) }
            }
        }
        #expect(worst > 0 && worst <= 16)
    }

    @Test("Black and white bars stay black and white beside a gradient, in spite of its dithering")
    func ditheredBars() throws {
        let black: SIMD4<UInt8> = [0, 0, 0, 255]
        func bar(_ x: Int) -> SIMD4<UInt8> { x < 32 ? black : white }
        // The gradient starts and ends near both, and has too many colors for a palette.
        let pixels = try RasterSamples.pixels(64, 64) { x, y in
            guard y >= 16 else { return bar(x) }
            let value = (y - 16) * 240 / 47
            return SIMD4(UInt8(value + 9), UInt8(value + 7), UInt8(value + x / 8), 255)
        }
        let result = try roundTrip(makeImage(pixels, hasAlpha: false)).pixels
        #expect((0..<16).allSatisfy { y in (0..<64).allSatisfy { x in result[x, y] == bar(x) } })
    }

    @Test("Alpha is divided at half")
    func alpha() throws {
        let pixels = try RasterSamples.pixels(3, 1) { x, _ in
            [[255, 0, 0, 255], [128, 0, 0, 128], [127, 0, 0, 127]][x]
        }
        let result = try roundTrip(makeImage(pixels)).pixels
        #expect((0..<3).map { result[$0, 0] } == [red, red, clear])
    }

    @Test(
        "Frames, delays and loop count of an animation come back", .capability("COD-46", "COD-21"),
        arguments: [0, 1, 4])
    func animation(loopCount: Int) throws {
        let frames = try [red, green, blue].enumerated().map { index, color in
            ImageFrame(
                pixels: try RasterSamples.pixels(8, 6) { x, y in x == index && y == 2 ? color : [1, 2, 3, 255] },
                duration: .milliseconds([20, 125, 1_000][index]))
        }
        var properties = Image.Properties()
        properties.loopCount = loopCount
        properties.hasAlpha = false
        let image = try #require(Image(frames: frames, properties: properties))
        let result = try roundTrip(image)
        #expect(result.frames.map(\.pixels) == frames.map(\.pixels))
        #expect(result.frames.map(\.duration) == [.milliseconds(20), .milliseconds(130), .milliseconds(1_000)])
        #expect(result.loopCount == loopCount)
        var options = EncodeOptions()
        options.firstFrameOnly = true
        #expect(try !roundTrip(image, options).isAnimated)
    }

    @Test("Holes of a frame show nothing of the one before")
    func transparentFrames() throws {
        let frames = try (0..<3).map { index in
            ImageFrame(
                pixels: try RasterSamples.pixels(3, 1) { x, _ in x == index ? red : clear }, duration: .milliseconds(50)
            )
        }
        let image = try #require(Image(frames: frames))
        #expect(try roundTrip(image).frames == frames)
    }

    @Test(
        "Holes of a frame show nothing of an opaque one before it",
        arguments: [[0, 1, 2], [1, 0, 2, 0], [0, 0, 1, 0]])
    func holesOverOpaque(kinds: [Int]) throws {
        // 0 and 2 are opaque, and differ in one pixel from each other and from one before them.
        let frames = try kinds.enumerated().map { index, kind in
            ImageFrame(
                pixels: try RasterSamples.pixels(4, 2) { x, y in
                    if kind == 1 { return x == 1 ? green : clear }
                    return x == index && y == 0 ? blue : red
                }, duration: .milliseconds(50))
        }
        let image = try #require(Image(frames: frames))
        #expect(try roundTrip(image).frames == frames)
    }

    @Test("An opaque frame that is cleared has a transparent index, which some viewers clear to")
    func clearedFrames() throws {
        // The first frame has 256 colors, of which one makes room.
        let frames = [
            try RasterSamples.pixels(16, 16) { x, y in [UInt8(x * 16), UInt8(y * 16), 7, 255] },
            try RasterSamples.pixels(16, 16) { x, _ in x == 1 ? green : clear },
        ].map { ImageFrame(pixels: $0, duration: .milliseconds(50)) }
        let data = try coder.encode(try #require(Image(frames: frames)), as: .gif, options: EncodeOptions())
        let controls = data.indices.filter { data[$0...].starts(with: [0x21, 0xF9, 4]) }.map { data[$0 + 3] }
        #expect(controls == [2 << 2 | 1, 1 << 2 | 1])
        let result = try coder.decode(data)
        #expect(RasterSamples.psnr(result.frames[0].pixels, frames[0].pixels) > 30 && result.frames[1] == frames[1])
    }

    @Test("A delay longer than GIF has is cut, and leaves the delays of later frames as they are")
    func longDelay() throws {
        let frames = try [700_000, 50, 50].enumerated().map { index, milliseconds in
            ImageFrame(
                pixels: try RasterSamples.pixels(2, 1) { x, _ in x == index % 2 ? red : blue },
                duration: .milliseconds(milliseconds))
        }
        let image = try #require(Image(frames: frames)).with { $0.hasAlpha = false }
        #expect(
            try roundTrip(image).frames.map(\.duration) == [
                .milliseconds(655_350), .milliseconds(50), .milliseconds(50),
            ])
    }

    @Test("Cancellation takes effect within a still picture")
    func cancellation() throws {
        let image = try RasterSamples.gradient(64, 300)
        func encode(cancelledAt check: Int) throws -> Int {
            let checks = Lock(0)
            let context = ProcessingContext(isCancelled: {
                checks.withLock { count in
                    count += 1
                    return count == check
                }
            })
            do throws(ImageError) {
                _ = try coder.encode(image, as: .gif, options: EncodeOptions(), context: context)
            } catch {
                #expect(error.code == .cancelled)
                return -1
            }
            return checks.withLock { $0 }
        }
        let count = try encode(cancelledAt: .max)
        // Five times 64 rows, and between the steps in front of them.
        #expect(count >= 7)
        for check in 1...count { #expect(try encode(cancelledAt: check) == -1, "\(check)") }
    }

    @Test("A limit of bytes costs colors, and is an error where nothing helps")
    func maximumBytes() throws {
        let pixels = try RasterSamples.pixels(64, 64) { x, y in
            SIMD4(UInt8(x * 4), UInt8(y * 4), UInt8((x ^ y) * 4), 255)
        }
        let image = makeImage(pixels, hasAlpha: false)
        let full = try coder.encode(image, as: .gif, options: EncodeOptions())
        let small = try coder.encode(image, as: .gif, options: EncodeOptions(maximumBytes: .bytes(full.count / 2)))
        #expect(small.count <= full.count / 2)
        #expect(try coder.decode(small).size == image.size)
        #expect {
            try coder.encode(image, as: .gif, options: EncodeOptions(maximumBytes: 50))
        } throws: {
            ($0 as? ImageError)?.code == .encodeFailed
        }
    }
}
