#if AVIF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("AVIF", .timeLimited)
struct AVIFCoderTests {
    let coder = AVIFCoder()

    private func encode(_ image: Image, lossless: Bool = true, quality: Double = 0.85) throws -> Data {
        var options = EncodeOptions(quality: quality)
        options.lossless = lossless
        return try coder.encode(image, as: .avif, options: options)
    }

    private func animation() throws -> Image {
        let frames = try [50, 70, 120].enumerated().map { index, duration in
            ImageFrame(
                pixels: try RasterSamples.pixels(32, 16) { x, _ in x / 8 == index ? blue : x < 16 ? red : green },
                duration: .milliseconds(duration))
        }
        return try #require(Image(frames: frames)).with { $0.hasAlpha = false }
    }

    @Test("Without loss every pixel comes back, also the translucent ones")
    func lossless() throws {
        try TraitCoderChecks.expectLossless(coder, .avif)
    }

    @Test("With loss the picture is close over the borders of bands, quality costs bytes, and a limit of bytes is kept")
    func lossy() throws {
        try TraitCoderChecks.expectLossy(
            coder, .avif, try RasterSamples.gradient(120, 300), psnr: 40, tooFew: 50)
    }

    @Test("A sequence's frames and durations come back, again after going back to the first")
    func sequence() throws {
        let image = try animation()
        let data = try encode(image)
        let info = try coder.info(data)
        #expect(info.frameCount == 3 && info.loopCount == 0)
        #expect(info.frameDurations == image.frames.map(\.duration))
        #expect(try coder.decode(data).frames == image.frames)
        #expect(try coder.decode(data) { $0.firstFrameOnly = true }.frames == [ImageFrame(pixels: image.pixels)])
        let decoder = try coder.frameDecoder(for: data, options: DecodeOptions(), context: ProcessingContext())
        _ = try decoder.nextFrame()
        try decoder.rewind()
        for frame in image.frames { #expect(try decoder.nextFrame() == frame) }
        #expect(try decoder.nextFrame() == nil)
    }

    @Test("The depth of a sequence is not its transparency")
    func depth() throws {
        let frames = try (0..<3).map { _ in
            ImageFrame(
                pixels: try RasterSamples.image(32, 16, hasAlpha: true) { x, _ in x < 9 ? red : clear }.pixels,
                duration: .milliseconds(40))
        }
        var data = try encode(try #require(Image(frames: frames)))
        #expect(try coder.info(data).hasAlpha && coder.decode(data).pixels[20, 3].w == 0)
        // The name of the kind of pictures, in the description of the second track.
        let alpha = Data("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha".utf8)
        while let name = data.range(of: alpha) {
            data.replaceSubrange(name, with: Data("urn:mpeg:mpegB:cicp:systems:auxiliary:depth".utf8))
        }
        #expect(try !coder.info(data).hasAlpha)
        let image = try coder.decode(data)
        #expect(image.frames.count == 3 && image.frames.allSatisfy { $0.pixels[20, 3].w == 255 })
    }

    @Test(
        "The number of times that a sequence is played is written and read, and moves no frame",
        .capability("COD-42", "COD-46"), arguments: [1, 2, 7, 65_536])
    func loopCount(_ count: Int) throws {
        let image = try animation().with { $0.loopCount = count }
        let data = try encode(image)
        #expect(try data.count == encode(animation()).count + 44)
        #expect(try coder.info(data).loopCount == count)
        let decoded = try coder.decode(data)
        #expect(decoded.loopCount == count && decoded.frames == image.frames)

        var translucent = image
        translucent = try #require(
            Image(
                frames: try image.frames.map {
                    ImageFrame(
                        pixels: try RasterSamples.pixels(32, 16) { x, y in
                            SIMD4(UInt8(x), UInt8(y), 0, 128)
                        }, duration: $0.duration)
                })
        ).with { $0.loopCount = count }
        let withAlpha = try encode(translucent)
        #expect(try coder.info(withAlpha).loopCount == count)
        #expect(try coder.decode(withAlpha).frames.count == 3)
        #expect(AVIFEditList.adding(loopCount: .max, to: withAlpha) == nil, "the duration is too long")
    }

    @Test("A file that is cut or has no track gets no edit list, and doesn't crash")
    func noTrack() throws {
        let data = try encode(try animation())
        for count in 0..<data.count { _ = AVIFEditList.adding(loopCount: 3, to: Data(data.prefix(count))) }
        #expect(AVIFEditList.adding(loopCount: 3, to: try encode(try RasterSamples.gradient(20, 10))) == nil)
    }

    @Test(
        "A damaged frame of a sequence leaves the one before it, if a part is allowed", .capability("COD-44"))
    func damagedFrame() throws {
        let image = try animation()
        var data = try encode(image)
        // The last frame's bytes are at the end of the file.
        for index in data.indices.suffix(12) { data[index] = 0xFF }
        guard (try? coder.decode(data)) == nil else { return }
        let part = try coder.decode(data) { $0.allowsPartialImage = true }
        #expect(part.isPartial && part.frames.count == 3)
        #expect(part.frames[2].pixels == image.frames[1].pixels && part.frames[2].duration == .milliseconds(120))
    }

    @Test("A sequence that is cut has the frames whose bytes are there, and plays them alone", .capability("AIV-05"))
    func cutSequence() throws {
        let image = try animation()
        let data = try encode(image)
        var counts: Set<Int> = []
        for length in stride(from: data.count / 2, to: data.count, by: 7) {
            let decoded = try? coder.decode(data.prefix(length)) { $0.allowsPartialImage = true }
            guard let part = decoded else { continue }
            let count = part.frames.count
            #expect(part.isPartial && count < 3)
            #expect(part.frames.map(\.pixels) == image.frames.prefix(count).map(\.pixels))
            counts.insert(count)
            expectCode(.truncatedImage) { try coder.decode(data.prefix(length)) }
        }
        #expect(counts.isSuperset(of: [1, 2]))
    }

    @Test("A track that isn't played takes no frame from a sequence that is cut", .capability("AIV-05"))
    func cutSequenceBesideAnotherTrack() throws {
        let frames = try [UInt8]([128, 64, 192]).map { alpha in
            ImageFrame(
                pixels: try RasterSamples.pixels(32, 16) { x, y in SIMD4(UInt8(x), UInt8(y), 0, alpha) },
                duration: .milliseconds(40))
        }
        var data = try encode(try #require(Image(frames: frames)))
        #expect(try coder.decode(data).frames.count == 3)
        // The second track becomes auxiliary to no other, and its samples lie far behind the file.
        let reference = try #require(data.range(of: Data("auxl".utf8), options: .backwards)).upperBound
        data.replaceSubrange(reference..<reference + 4, with: [0, 0, 0, 77])
        let places = try #require(data.range(of: Data("stco".utf8), options: .backwards)).upperBound + 8
        data.replaceSubrange(places..<places + 4, with: [0x0F, 0, 0, 0])
        let part = try coder.decode(Data(data.dropLast())) { $0.allowsPartialImage = true }
        #expect(part.isPartial && part.frames.count == 2)
    }

    @Test("The header can be read before the rest of the file is there")
    func headerOfBeginning() throws {
        let data = try encode(try RasterSamples.gradient(200, 100))
        let info = try coder.info(Data(data.prefix(data.count / 2)))
        #expect(info.size == PixelSize(width: 200, height: 100) && !info.isComplete)
        #expect(try coder.info(data).isComplete)
        expectCode(.truncatedImage) { try coder.info(Data(data.prefix(40))) }
    }

    @Test("Thumbnails fit the box")
    func thumbnails() throws {
        try TraitCoderChecks.expectThumbnails(coder, try encode(try RasterSamples.gradient(150, 280)))
    }

    @Test("Limits and cancellation are kept, and a file that is cut says so")
    func refusals() throws {
        let data = try encode(try RasterSamples.gradient(64, 64))
        TraitCoderChecks.expectLimits(coder, data)
        TraitCoderChecks.expectTruncation(coder, data)
        var context = ProcessingContext()
        context.limits.maximumFrames = 2
        let sequence = try encode(try animation())
        expectCode(.limitExceeded) { try coder.decode(sequence, options: DecodeOptions(), context: context) }
    }

    @Test("A picture without a size is damaged, also for who asks for its header only")
    func withoutSize() throws {
        var data = try encode(try RasterSamples.translucent(40, 30))
        let list = try #require(data.firstRange(of: Data("ipma".utf8))).lowerBound + 15
        try #require(data[list] == 1)
        // The property of transparency, with which libavif doesn't demand that of a size.
        data[list] = 7
        expectCode(.corruptImage) { try coder.info(data) }
        expectCode(.corruptImage) { try coder.decode(data) }
    }

    @Test("Damage ends in an image or an error")
    func damage() throws {
        try coder.survives(damageTo: try encode(try RasterSamples.translucent(40, 30)), cases: 300, seed: 11)
        try coder.survives(damageTo: try encode(try animation()), cases: 100, seed: 12)
    }

    @Test("Stills of 8, 10 and 12 bits, sequences and thumbnails, with alpha, through libavif", .capability("PLG-02"))
    func all() throws {
        let translucent = makeImage(try RasterSamples.translucentNoise(40, 30, seed: 9))
        #expect(try coder.decode(try encode(translucent)).pixels == translucent.pixels)
        let box = try coder.decode(try encode(translucent)) { $0.thumbnailSize = PixelSize(width: 20, height: 20) }
        #expect(box.size == PixelSize(width: 20, height: 15) && box.hasAlpha && box.isThumbnail)
        let moving = try animation()
        #expect(try coder.decode(try encode(moving)).frames == moving.frames)
        let small = try coder.decode(try encode(moving)) { $0.thumbnailSize = PixelSize(width: 16, height: 16) }
        #expect(small.frames.map(\.pixels.size) == Array(repeating: PixelSize(width: 16, height: 8), count: 3))
        for (bits, steps) in [(10, 1_023.0), (12, 4_095.0)] {
            var pixels = try MutablePixelBuffer(size: PixelSize(width: 32, height: 32), format: .rgba16)
            pixels.withUnsafeMutableBytes { bytes in
                let components = bytes.assumingMemoryBound(to: UInt16.self)
                for place in components.indices {
                    let step = Double(place % 1_021) / 1_020 * steps
                    components[place] = place % 4 == 3 ? .max : UInt16((step.rounded() * 65_535 / steps).rounded())
                }
            }
            let deep = Image(pixels: pixels.freeze()).with {
                $0.bitsPerComponent = bits
                $0.hasAlpha = false
            }
            let data = try encode(deep)
            #expect(try coder.info(data).bitsPerComponent == bits)
            #expect(try coder.decode(data) { $0.decodeToHDR = true }.pixels == deep.pixels, "\(bits) bits")
        }
    }

    @Test("The library that decodes can be chosen", .capability("PLG-02"), arguments: AVIFCoder.Decoder.allCases)
    func decoders(decoder: AVIFCoder.Decoder) throws {
        let chosen = AVIFCoder(decoder: decoder)
        let pixels = try RasterSamples.translucentNoise(48, 40, seed: 4)
        #expect(try chosen.decode(try encode(makeImage(pixels))).pixels == pixels)
        let moving = try animation()
        #expect(try chosen.decode(try encode(moving)).frames == moving.frames)
        let frames = try chosen.frameDecoder(
            for: encode(moving), options: DecodeOptions(), context: ProcessingContext())
        #expect(try frames.frame(at: 2) == moving.frames[2])
    }

    @Test("The library that encodes can be chosen", .capability("PLG-02"), arguments: AVIFEncodeOptions.Codec.allCases)
    func encoders(codec: AVIFEncodeOptions.Codec) throws {
        let image = try RasterSamples.gradient(128, 96)
        var options = EncodeOptions(quality: 0.9)
        options.avif.codec = codec
        options.avif.speed = 9
        let data = try coder.encode(image, as: .avif, options: options)
        #expect(RasterSamples.psnr(try coder.decode(data).pixels, image.pixels) > 36)
        var others = options
        others.avif.codec = codec == .rav1e ? .aom : .rav1e
        #expect(try coder.encode(image, as: .avif, options: others) != data, "each writes its own bytes")
        options.lossless = true
        if codec == .rav1e {
            expectCode(.encodeFailed) { try coder.encode(image, as: .avif, options: options) }
        } else {
            #expect(try coder.decode(try coder.encode(image, as: .avif, options: options)).pixels == image.pixels)
        }
    }

    @Test("A color profile is written, and converted to sRGB when it is read")
    func profile() throws {
        let profile = try #require(CodePoints(primaries: 12, transfer: 13).profile)
        let orange = SIMD4<UInt8>(200, 100, 50, 255)
        let image = Image(pixels: try RasterSamples.pixels(16, 16) { _, _ in orange }).with {
            $0.colorSpace = ColorSpace(name: "Display P3", profile: profile)
            $0.hasAlpha = false
        }
        let data = try encode(image)
        #expect(try coder.info(data).colorProfile == "Display P3")
        let kept = try coder.decode(data) { $0.keepsColorSpace = true }
        #expect(kept.pixels[3, 3] == orange && kept.colorSpace.profile == profile)
        // Display P3 is wider: the same numbers are a stronger color.
        let converted = try coder.decode(data).pixels[3, 3]
        #expect(converted.x > 205 && converted.z < 45)
    }
}
#endif
