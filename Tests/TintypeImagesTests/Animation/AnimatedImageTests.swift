import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("Animations whose frames are decoded when they are due", .timeLimited)
struct AnimatedImageTests {
    @Test(
        "An animation knows its header and its first frame; bytes that are none are an error",
        .capability("ANI-01", "ANI-02"))
    func header() throws {
        let coder = NumberedFramesCoder([.milliseconds(40), .milliseconds(60)], loopCount: 3)
        let image = try coder.image()
        #expect(image.frameCount == 2 && image.isAnimated && image.loopCount == 3 && image.info.format == .numbered)
        #expect(image.duration == .milliseconds(100) && image.size == PixelSize(width: 4, height: 4))
        #expect(image.poster.pixels[0, 0].x == 0 && !image.poster.isAnimated)
        #expect(image.memoryCost == NumberedFramesCoder.bytes.count + NumberedFramesCoder.frameBytes)
        #expect(image.description == "numbered 4x4, 2 frames in 0.1 seconds")
        let coders = ImageCoders([coder])
        for data in [Data(), Data("nothing".utf8)] {
            #expect(throws: ImageError.self) { try coders.decode(data) }
        }
        var options = DecodeOptions()
        options.firstFrameOnly = true
        #expect(try !coders.decode(NumberedFramesCoder.bytes, options: options).isAnimated)
    }

    @Test("Any frame can be had; there is none outside", .capability("ANI-06"))
    func frames() async throws {
        let coder = NumberedFramesCoder(count: 6)
        let image = try coder.image()
        for index in [4, 0, 5, 5, 1] {
            let frame = try await image.frame(at: index)
            #expect(frame?.pixels[0, 0].x == UInt8(index) && frame?.duration == .milliseconds(100))
        }
        for index in [-1, 6, .max] { #expect(try await image.frame(at: index) == nil) }
        // One after the other, each is decoded once.
        coder.state.withLock { $0.decodes = [:] }
        for index in 0..<6 { _ = try await image.frame(at: index) }
        #expect(coder.mostDecodes == 1)
        #expect(try await NumberedFramesCoder(count: 1).image().frame(at: 0)?.pixels[0, 0].x == 0)
    }

    @Test("A frame that can't be decoded is an error of its own", .capability("COD-44"))
    func damage() async throws {
        let coder = NumberedFramesCoder(count: 4)
        coder.state.withLock { $0.damaged = [2] }
        let image = try coder.image()
        let error = await #expect(throws: ImageError.self) { try await image.frame(at: 2) }
        #expect(error?.code == .corruptImage)
        #expect(try await image.frame(at: 3)?.pixels[0, 0].x == 3)
    }

    @Test("All frames can be decoded before they are needed, and released", .capability("ANI-05"))
    func preload() async throws {
        let coder = NumberedFramesCoder(count: 30)
        let image = try coder.image()
        #expect(!image.isPreloaded)
        try await image.preload()
        #expect(image.isPreloaded && image.framePool().statistics.frames == 30)
        let decodes = coder.decodes
        var driver = PlaybackDriver(AnimatedImagePlayer(image))
        await driver.show(60)
        #expect(coder.decodes == decodes)
        image.unload()
        #expect(!image.isPreloaded)
        let limits = DecodeLimits(maximumBytes: ByteCount(20 * 64))
        let large = try #require(
            try coder.decode(
                NumberedFramesCoder.bytes, options: DecodeOptions(), context: ProcessingContext(limits: limits)
            )
            .animation)
        let error = await #expect(throws: ImageError.self) { try await large.preload() }
        #expect(error?.code == .limitExceeded)
    }

    @Test(
        "Of two calls that decode all frames, one that is canceled leaves the frames to the other",
        .capability("ANI-05"))
    func canceledPreload() async throws {
        let coder = NumberedFramesCoder(count: 30)
        let image = try coder.image()
        let gate = ThreadGate()
        coder.state.withLock { ($0.gate, $0.decodes) = (gate, [:]) }
        let first = Task { try await image.preload() }
        while coder.decodes.isEmpty { await Task.yield() }
        let second = Task { try await image.preload() }
        second.cancel()
        let error = await #expect(throws: ImageError.self) { try await second.value }
        #expect(error?.isCancellation == true)
        gate.open()
        try await first.value
        #expect(image.isPreloaded)
    }

    @Test("An animation made of decoded frames is preloaded, unless they are transformed", .capability("ANI-05"))
    func decodedFrames() async throws {
        var frames: [ImageFrame] = []
        try NumberedFramesCoder(count: 3).image().forEachFrame { frames.append($0) }
        let image = try #require(AnimatedImage(frames: frames))
        #expect(image.isPreloaded)
        try await image.preload()
        image.unload()
        #expect(image.isPreloaded && image.framePool().statistics.frames == 0)
        let small = try #require(try Image(image).resized(to: PixelSize(width: 2, height: 2)).animation)
        #expect(!small.isPreloaded)
        try await small.preload()
        #expect(small.isPreloaded && small.framePool().statistics.frames == 3)
    }

    @Test("Animations of the same bytes and options are equal", .capability("ANI-01"))
    func equality() throws {
        let coder = NumberedFramesCoder(count: 3)
        let image = try coder.image()
        #expect(try image == coder.image() && image.hashValue == coder.image().hashValue)
        let options = DecodeOptions(thumbnailSize: PixelSize(width: 2, height: 2))
        #expect(try image != coder.decode(NumberedFramesCoder.bytes, options: options).animation)
        let halves = try (0..<2).map { _ in try Image(image).resized(to: PixelSize(width: 2, height: 2)).animation }
        #expect(halves[0] != halves[1] && halves[0] == halves[0], "work without a key may be any work")
        #expect(image != image.repeated(2) && image.data == NumberedFramesCoder.bytes)
    }

    @Test("A frame of another size is the decoder's fault, with a transformer, too")
    func otherSize() async throws {
        let coder = NumberedFramesCoder(count: 4)
        let image = try coder.image()
        coder.state.withLock { $0.smaller = [2] }
        for animation in [image, image.transformed(Unchanging(), poster: image.poster)] {
            let error = await #expect(throws: ImageError.self) { try await animation.frame(at: 2) }
            #expect(error?.code == .corruptImage && error?.reason.contains("2x2") == true)
            #expect(try await animation.frame(at: 3)?.pixels.size.width == 4)
        }
    }
}

private struct Unchanging: ImageTransformer {
    var key: String { "unchanging" }
    func transform(_ image: Image) throws -> Image { image }
}
