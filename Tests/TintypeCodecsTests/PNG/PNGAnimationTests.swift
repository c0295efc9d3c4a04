import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("Animated PNG", .timeLimited)
struct PNGAnimationTests {
    typealias Frame = HandmadeAnimation.Frame
    let coder = PNGCoder()
    let context = ProcessingContext()

    private func decode(_ animation: HandmadeAnimation, _ options: DecodeOptions = DecodeOptions()) throws -> Image {
        try coder.decode(animation.data, options: options, context: context)
    }

    private static let twoFrames = HandmadeAnimation(frames: [
        Frame(color: RasterSamples.red, width: 4, height: 4, milliseconds: 70),
        Frame(color: RasterSamples.blue, x: 1, y: 1, width: 2, height: 2, milliseconds: 5),
    ])

    @Test(
        "Frames, loops and delays are known from the chunks; delays under 11 ms are 100 ms",
        .capability("COD-42", "COD-43"))
    func info() throws {
        var animation = Self.twoFrames
        let info = try coder.info(of: animation.data, context: context)
        #expect(info.frameCount == 2)
        #expect(info.loopCount == 0)
        #expect(info.frameDurations == [.milliseconds(70), .milliseconds(100)])
        animation.plays = 7
        #expect(try coder.info(of: animation.data, context: context).loopCount == 7)
        #expect(try decode(animation).loopCount == 7)
    }

    @Test("A frame changes its part of the canvas")
    func region() throws {
        let image = try decode(Self.twoFrames)
        #expect(image.frames.map(\.duration) == [.milliseconds(70), .milliseconds(100)])
        #expect(image.frames[0].pixels[2, 2] == RasterSamples.red)
        #expect(image.frames[1].pixels[2, 2] == RasterSamples.blue)
        #expect(image.frames[1].pixels[3, 3] == RasterSamples.red)
    }

    @Test(
        "Disposal leaves, clears or restores a frame's part",
        arguments: [
            (UInt8(0), RasterSamples.blue), (UInt8(1), RasterSamples.clear), (UInt8(2), RasterSamples.red),
        ])
    func disposal(operation: UInt8, wanted: SIMD4<UInt8>) throws {
        var animation = Self.twoFrames
        animation.frames[1].disposal = operation
        animation.frames.append(Frame(color: RasterSamples.green, x: 3, y: 3, width: 1, height: 1))
        let last = try decode(animation).frames[2].pixels
        #expect(last[1, 1] == wanted)
        #expect(last[0, 0] == RasterSamples.red)
        #expect(last[3, 3] == RasterSamples.green)
    }

    @Test("Restoring what was before the first frame clears it")
    func disposalOfFirst() throws {
        var animation = Self.twoFrames
        animation.frames[0].disposal = 2
        #expect(try decode(animation).frames[1].pixels[0, 0] == RasterSamples.clear)
    }

    @Test("A frame replaces what is under it, or is laid over it")
    func blending() throws {
        var animation = Self.twoFrames
        // Half of green over red; the file's colors are straight.
        animation.frames[1].color = SIMD4(0, 255, 0, 128)
        #expect(try decode(animation).frames[1].pixels[1, 1] == SIMD4(0, 128, 0, 128))
        animation.frames[1].blend = 1
        #expect(try decode(animation).frames[1].pixels[1, 1] == SIMD4(127, 128, 0, 255))
    }

    @Test("A default image before the first frame control is not a frame")
    func hiddenDefault() throws {
        var animation = Self.twoFrames
        animation.hiddenDefault = RasterSamples.green
        let image = try decode(animation)
        #expect(image.frames.count == 2)
        #expect(image.frames[0].pixels[0, 0] == RasterSamples.red)
    }

    @Test("Only the first frame, if no more is wanted", .capability("COD-10"))
    func firstFrameOnly() throws {
        var options = DecodeOptions()
        options.firstFrameOnly = true
        let image = try decode(Self.twoFrames, options)
        #expect(!image.isAnimated)
        #expect(image.pixels[1, 1] == RasterSamples.red)
    }

    @Test(
        "Frames come one by one at the size that is wanted, and again after going back",
        .capability("COD-03", "COD-04", "3.5"))
    func frameByFrame() throws {
        let options = DecodeOptions(thumbnailSize: PixelSize(width: 2, height: 2))
        let decoder = try coder.frameDecoder(for: Self.twoFrames.data, options: options, context: context)
        #expect(decoder.outputSize == PixelSize(width: 2, height: 2))
        let first = try #require(try decoder.nextFrame())
        let second = try #require(try decoder.nextFrame())
        #expect(first.pixels.size == decoder.outputSize)
        #expect(first.pixels[0, 0] == RasterSamples.red)
        #expect(second.pixels != first.pixels)
        #expect(try decoder.nextFrame() == nil)
        try decoder.rewind()
        #expect(try decoder.nextFrame() == first)
        #expect(try decoder.nextFrame() == second)
    }

    @Test("A still PNG is an animation of one frame", .capability("ANI-03"))
    func still() throws {
        let data = try coder.encode(RasterSamples.gradient(5, 5), as: .png, options: EncodeOptions())
        let decoder = try coder.frameDecoder(for: data, options: DecodeOptions(), context: context)
        #expect(decoder.info.frameCount == 1)
        #expect(try decoder.nextFrame() != nil)
        #expect(try decoder.nextFrame() == nil)
    }

    @Test("Chunks that contradict each other leave the default image")
    func broken() throws {
        var gap = Self.twoFrames
        gap.number = { $0 == 2 ? 5 : $0 }
        var outside = Self.twoFrames
        outside.frames[1].x = 3
        var disposal = Self.twoFrames
        disposal.frames[1].disposal = 3
        var small = Self.twoFrames
        small.frames[0].width = 2
        for animation in [gap, outside, disposal, small] {
            #expect(try coder.info(of: animation.data, context: context).frameCount == 1)
            let image = try decode(animation)
            #expect(!image.isAnimated)
            #expect(image.pixels[1, 1] == RasterSamples.red)
        }
    }

    @Test("An animation that announces no frames is its default image, also while it arrives")
    func noFrames() throws {
        var animation = Self.twoFrames
        animation.announcedFrames = 0
        let image = try decode(animation)
        #expect(!image.isAnimated && image.pixels[1, 1] == RasterSamples.red)
        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: context)
        for byte in animation.data { try decoder.append(Data([byte])) }
        _ = try decoder.preview()
        #expect(try decoder.finish().frames == image.frames)
        let frames = try coder.frameDecoder(for: animation.data, options: DecodeOptions(), context: context)
        #expect(try frames.nextFrame()?.pixels == image.pixels && frames.nextFrame() == nil)
    }

    @Test("Of an animation that is cut, the frames that are there are a partial image")
    func truncated() throws {
        var animation = Self.twoFrames
        animation.frames.append(Frame(color: RasterSamples.green, width: 4, height: 4))
        let data = animation.data
        let cut = Data(data.prefix(data.count - 60))
        #expect(try !coder.info(of: cut, context: context).isComplete)
        expectCode(.truncatedImage) {
            try coder.decode(cut, options: DecodeOptions(), context: context)
        }
        var options = DecodeOptions()
        options.allowsPartialImage = true
        let image = try coder.decode(cut, options: options, context: context)
        #expect(image.isPartial)
        #expect(image.frames.count == 2)
    }

    @Test("An animation that is cut right behind its first pixels is no whole image")
    func cutBehindFirst() throws {
        let data = Self.twoFrames.data
        // From the checksum of the pixels to the control of the next frame.
        let control = try #require(data.range(of: Data("fcTL".utf8), options: .backwards)).lowerBound
        for count in control - 8...control + 4 {
            let cut = Data(data.prefix(count))
            expectCode(.truncatedImage) { try coder.decode(cut, options: DecodeOptions(), context: context) }
            let image = try coder.decode(
                cut, options: DecodeOptions(allowsPartialImage: true), context: context)
            #expect(image.isPartial && image.pixels[1, 1] == RasterSamples.red)
            let first = try coder.decode(cut, options: DecodeOptions(firstFrameOnly: true), context: context)
            #expect(!first.isPartial)
        }
    }

    @Test(
        "An animation of which the end chunk alone is missing is whole, unlike one without its last pixel",
        .capability("3.8"))
    func missingEnd() throws {
        let data = Self.twoFrames.data
        let whole = try coder.decode(data, options: DecodeOptions(), context: context)
        for missing in 1...12 {
            let image = try coder.decode(data.dropLast(missing), options: DecodeOptions(), context: context)
            #expect(!image.isPartial && image.frames == whole.frames, "\(missing) bytes")
        }
        for missing in 13...30 {
            expectCode(.truncatedImage) {
                try coder.decode(data.dropLast(missing), options: DecodeOptions(), context: context)
            }
        }
        // The last frame has two chunks of data, and the file ends between them.
        let chunk = try #require(data.range(of: Data("fdAT".utf8), options: .backwards)).lowerBound - 4
        let contents = data[(chunk + 8)..<(data.count - 16)]
        let half = contents.prefix(contents.count / 2)
        var cut = Data(data.prefix(chunk))
        cut.append(contentsOf: HandmadePNG.bytes(half.count))
        cut.append(contentsOf: "fdAT".utf8)
        cut.append(half)
        cut.append(contentsOf: [0, 0, 0, 0])
        expectCode(.truncatedImage) { [cut] in
            try coder.decode(cut, options: DecodeOptions(), context: context)
        }
    }

    @Test("Two of equal chunks are kept for all frames, and too many chunks are over a limit", .capability("3.1"))
    func chunkCounts() throws {
        let data = HandmadePNG.file(
            width: 1, height: 1, bitDepth: 8, colorType: 0,
            chunks: Array(repeating: (type: "tRNS", contents: [0, 1]), count: 100),
            [HandmadePNG.deflated([0, 7])])
        #expect(try PNGChunks(data).sharedChunks.count == 2)
        #expect(try coder.decode(data).pixels[0, 0] == [7, 7, 7, 255])
        // The signature and the header, and empty chunks.
        let many = data.prefix(33) + ByteBuilder.repeated(Data(HandmadePNG.chunk("abCd", [])), 1 << 18)
        expectCode(.limitExceeded) { try PNGChunks(many) }
    }

    @Test("More frames, or more bytes of frames, than the limits allow are refused")
    func limits() throws {
        var limits = DecodeLimits()
        limits.maximumFrames = 1
        expectCode(.limitExceeded) {
            try coder.decode(Self.twoFrames.data, options: DecodeOptions(), context: ProcessingContext(limits: limits))
        }
        limits = DecodeLimits()
        limits.maximumBytes = 100
        expectCode(.limitExceeded) {
            try coder.decode(Self.twoFrames.data, options: DecodeOptions(), context: ProcessingContext(limits: limits))
        }
    }
}
