import FoundationEssentials
import TestSupport
import Testing
import TintypeCodecs
import TintypeImages
import TintypeTesting

@Suite("WebP", .timeLimited)
struct WebPCoderTests {
    let coder = WebPCoder()

    func encode(_ image: Image, lossless: Bool = true, quality: Double = 0.85) throws -> Data {
        var options = EncodeOptions(quality: quality)
        options.lossless = lossless
        return try coder.encode(image, as: .webp, options: options)
    }

    func photo(_ width: Int, _ height: Int) throws -> Image {
        var generator = SeededRandom(seed: 5)
        return makeImage(
            try RasterSamples.pixels(width, height) { x, y in
                let noise = UInt8.random(in: 0...15, using: &generator)
                return SIMD4(UInt8(x * 200 / width) + noise, UInt8(y * 200 / height) + noise, 100 + noise, 255)
            }, hasAlpha: false)
    }

    func animation(loopCount: Int = 0, _ durations: [Int] = [50, 70, 120]) throws -> Image {
        let frames = try durations.enumerated().map { index, duration in
            ImageFrame(
                pixels: try RasterSamples.pixels(20, 10) { x, _ in
                    x / 4 == index ? [0, 64, 0, 128] : x < 10 ? red : clear
                },
                duration: .milliseconds(duration))
        }
        var properties = Image.Properties()
        properties.loopCount = loopCount
        return try #require(Image(frames: frames, properties: properties))
    }

    private func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) }
    }

    private func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(bytes.count, 4) + bytes + (bytes.count % 2 == 0 ? [] : [0])
    }

    /// The file in the extended format, with chunks added.
    private func extended(_ data: Data, _ size: PixelSize, flags: UInt8, _ chunks: [(String, [UInt8])]) -> Data {
        let header = [flags, 0, 0, 0] + little(size.width - 1, 3) + little(size.height - 1, 3)
        let before = chunks.filter { $0.0 == "ICCP" }.flatMap { chunk($0.0, $0.1) }
        let after = chunks.filter { $0.0 != "ICCP" }.flatMap { chunk($0.0, $0.1) }
        let body = Array("WEBP".utf8) + chunk("VP8X", header) + before + data.dropFirst(12) + after
        return Data(Array("RIFF".utf8) + little(body.count, 4) + body)
    }

    /// An animation of frames that are pictures of their own.
    private func animated(
        _ canvas: PixelSize, _ frames: [(image: Image, x: Int, y: Int, isCleared: Bool)]
    ) throws -> Data {
        var body = Array("WEBP".utf8)
        body += chunk("VP8X", [2, 0, 0, 0] + little(canvas.width - 1, 3) + little(canvas.height - 1, 3))
        body += chunk("ANIM", little(0, 6))
        for frame in frames {
            let place = little(frame.x / 2, 3) + little(frame.y / 2, 3)
            let size = little(frame.image.size.width - 1, 3) + little(frame.image.size.height - 1, 3)
            body += chunk(
                "ANMF",
                place + size + little(50, 3) + [frame.isCleared ? 1 : 0] + (try encode(frame.image).dropFirst(12)))
        }
        return Data(Array("RIFF".utf8) + little(body.count, 4) + body)
    }

    @Test("Alpha is stated where an area that was cleared is seen through")
    func clearedArea() throws {
        let canvas = PixelSize(width: 4, height: 2)
        let large = makeImage(try RasterSamples.pixels(4, 2) { _, _ in red }, hasAlpha: false)
        let small = makeImage(try RasterSamples.pixels(2, 2) { _, _ in blue }, hasAlpha: false)
        for isCleared in [true, false] {
            let data = try animated(canvas, [(large, 0, 0, isCleared), (small, 0, 0, false)])
            let image = try coder.decode(data)
            #expect(image.frames[1].pixels[3, 0] == (isCleared ? clear : red))
            #expect(image.hasAlpha == isCleared)
            #expect(try coder.info(data).hasAlpha == isCleared)
        }
    }

    @Test("A written animation with holes says that it has alpha, and one without that it has none")
    func statedAlpha() throws {
        for color in [clear, blue] {
            let frames = try (0..<3).map { index in
                ImageFrame(
                    pixels: try RasterSamples.pixels(20, 10) { x, _ in index > 0 && x >= 10 ? color : red },
                    duration: .milliseconds(50 + index))
            }
            let image = try #require(Image(frames: frames + [ImageFrame(pixels: frames[0].pixels)]))
            for isAnnotated in [false, true] {
                var options = EncodeOptions()
                options.lossless = true
                options.keepsMetadata = true
                let annotated = image.with { if isAnnotated { $0.metadata.xmp = HandmadeExif.xmp() } }
                let data = try coder.encode(annotated, as: .webp, options: options)
                #expect((data[20] & 0x10 != 0) == (color == clear))
                #expect(try coder.decode(data).hasAlpha == (color == clear))
            }
        }
    }

    @Test("A frame that is shown longer than WebP can say is shown as long as it can")
    func longDuration() throws {
        let frames = try [65_535_000, 50].enumerated().map { index, milliseconds in
            ImageFrame(
                pixels: try RasterSamples.pixels(2, 1) { x, _ in x == index ? red : blue },
                duration: .milliseconds(milliseconds))
        }
        let image = try #require(Image(frames: frames)).with { $0.hasAlpha = false }
        let durations = try coder.decode(encode(image)).frames.map(\.duration)
        #expect(durations == [.milliseconds(0xFF_FFFF), .milliseconds(50)])
    }

    @Test("Without loss every pixel comes back, also the translucent ones", .capability("PLG-01"))
    func lossless() throws {
        let pixels = try RasterSamples.translucentNoise(67, 41, seed: 1)
        let image = try coder.decode(try encode(makeImage(pixels)))
        #expect(image.pixels == pixels)
        #expect(image.hasAlpha && image.format == .webp && !image.isAnimated && image.loopCount == 0)
        let opaque = try photo(33, 20)
        let decoded = try coder.decode(try encode(opaque))
        #expect(decoded.pixels == opaque.pixels && !decoded.hasAlpha)
    }

    @Test(
        "Pixels that have alpha though the header says there is none are opaque, whole and while they arrive",
        .capability("3.8"))
    func hiddenAlpha() throws {
        let pixels = try RasterSamples.translucentNoise(67, 41, seed: 1)
        var data = try encode(makeImage(pixels))
        let stream = try #require(data.firstRange(of: Array("VP8L".utf8))).upperBound + 4
        // The signature, 2 times 14 bits of size, and alpha_is_used.
        data[stream + 4] &= 0xEF
        let image = try coder.decode(data)
        #expect(!image.hasAlpha)
        var solid: (x: Int, y: Int)?
        for y in 0..<41 {
            for x in 0..<67 {
                #expect(image.pixels[x, y].w == 255)
                if pixels[x, y].w == 255 { solid = (x, y) }
            }
        }
        let (x, y) = try #require(solid)
        #expect(image.pixels[x, y] == pixels[x, y])
        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        try decoder.append(data.prefix(data.count - 40))
        let preview = try #require(try decoder.preview())
        #expect(preview.pixels[0, 0] == image.pixels[0, 0])
    }

    @Test("With loss the picture is close, and quality costs bytes", .capability("COD-22", "PLG-01"))
    func lossy() throws {
        let image = try photo(64, 64)
        let low = try encode(image, lossless: false, quality: 0.2)
        let high = try encode(image, lossless: false, quality: 0.95)
        #expect(low.count < high.count)
        let pixels = try coder.decode(high).pixels
        var sum = 0
        for y in 0..<64 { for x in 0..<64 { sum += abs(Int(pixels[x, y].x) - Int(image.pixels[x, y].x)) } }
        #expect(sum / (64 * 64) < 8)
    }

    @Test(
        "Frames, durations and the loop count come back; 0 is for ever",
        .capability("COD-42", "COD-44", "COD-46", "MET-01", "PLG-01"),
        arguments: [0, 1, 7])
    func animationRoundTrip(loopCount: Int) throws {
        let image = try animation(loopCount: loopCount)
        let data = try encode(image)
        let result = try coder.decode(data)
        #expect(result.frames == image.frames)
        #expect(result.loopCount == loopCount)
        let info = try coder.info(data)
        #expect(info.loopCount == loopCount && info.frameCount == 3 && info.isComplete && info.hasAlpha)
        #expect(info.frameDurations == image.frames.map(\.duration))
    }

    @Test("Durations under 11 ms are shown for 100 ms", .capability("COD-43"))
    func shortDurations() throws {
        let image = try animation([5, 11, 10])
        let result = try coder.decode(try encode(image))
        #expect(result.frames.map(\.duration) == [.milliseconds(100), .milliseconds(11), .milliseconds(100)])
    }

    /// An animation by hand: frames at any place, with every blend and disposal.
    /// - Parameter stated: The size that the chunk of each frame states, instead of that of its picture.
    func container(
        _ frames: [(x: Int, y: Int, flags: UInt8, image: PixelBuffer)], stating stated: PixelSize? = nil
    ) throws -> Data {
        var body = Array("WEBPVP8X".utf8) + little(10, 4) + [0x12, 0, 0, 0] + little(3, 3) + little(3, 3)
        body += Array("ANIM".utf8) + little(6, 4) + [9, 9, 9, 255] + little(2, 2)
        for frame in frames {
            let image = [UInt8](try encode(makeImage(frame.image)).dropFirst(12))
            body += Array("ANMF".utf8) + little(16 + image.count, 4)
            body += little(frame.x / 2, 3) + little(frame.y / 2, 3)
            let size = stated ?? frame.image.size
            body += little(size.width - 1, 3) + little(size.height - 1, 3) + little(40, 3) + [frame.flags]
            body += image
        }
        return Data(Array("RIFF".utf8) + little(body.count, 4) + body)
    }

    @Test("Frames are blended or take the place, and are kept or cleared, as their flags say", .capability("PLG-01"))
    func composing() throws {
        let (dispose, replace): (UInt8, UInt8) = (1, 2)
        let half: SIMD4<UInt8> = [0, 128, 0, 128]
        let full = try RasterSamples.pixels(4, 4) { _, _ in red }
        let patch = try RasterSamples.pixels(2, 2) { x, _ in x == 0 ? half : clear }
        let blended = try coder.decode(try container([(0, 0, 0, full), (2, 2, 0, patch)])).frames[1].pixels
        #expect(blended[2, 2] == [127, 128, 0, 255] && blended[3, 3] == red && blended[0, 0] == red)
        let replaced = try coder.decode(try container([(0, 0, 0, full), (2, 2, replace, patch)])).frames[1].pixels
        #expect(replaced[2, 2] == half && replaced[3, 3] == clear && replaced[0, 0] == red)
        let cleared = try coder.decode(try container([(0, 0, dispose, full), (2, 2, 0, patch)]))
        #expect(cleared.frames[1].pixels[2, 2] == half && cleared.frames[1].pixels[0, 0] == clear)
        #expect(cleared.loopCount == 2)
        let part = try coder.decode(try container([(2, 0, 0, patch), (0, 0, 0, patch)]))
        #expect(part.frames[0].pixels[0, 0] == clear && part.frames[0].pixels[2, 0] == half)
    }

    @Test(
        "Frames on demand are those of the whole decode, and again after going back",
        .capability("COD-03", "COD-04", "COD-10", "3.5"))
    func onDemand() throws {
        let image = try animation()
        let data = try encode(image)
        let decoder = try coder.frameDecoder(for: data, options: DecodeOptions(), context: ProcessingContext())
        for _ in 0..<2 {
            var frames: [ImageFrame] = []
            while let frame = try decoder.nextFrame() { frames.append(frame) }
            #expect(frames == image.frames)
            try decoder.rewind()
        }
        let first = try coder.decode(data) { $0.firstFrameOnly = true }
        #expect(first.frames.count == 1 && first.loopCount == 0)
    }

    @Test("An Exif orientation is applied, and the chunks are kept", .capability("COD-31"), arguments: [1, 3, 6, 8])
    func orientation(value: Int) throws {
        let image = try photo(20, 10)
        let exif: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(value), 0, 0]
        let data = extended(
            try encode(image), image.size, flags: 0x0C, [("EXIF", exif), ("XMP ", Array("<x/>".utf8))])
        let orientation = try #require(Orientation(rawValue: value))
        let info = try coder.info(data)
        #expect(info.orientation == orientation && info.size == image.size)
        let result = try coder.decode(data)
        #expect(result.pixels == (try image.pixels.oriented(orientation)))
        #expect(result.metadata.exif == Data(exif) && result.metadata.xmp == Data("<x/>".utf8))
        #expect(result.properties.sourceOrientation == orientation)
        #expect(result.properties.sourceSize == orientation.display(image.size))
    }

    @Test("A color profile is written and named")
    func profile() throws {
        let profile = try ProfileSamples.wide()
        let image = try photo(8, 8).with { $0.colorSpace = ColorSpace(name: "x", profile: profile) }
        let name = try #require(try coder.info(try encode(image)).colorProfile)
        #expect(!name.isEmpty)
        let kept = try coder.decode(try encode(image)) { $0.keepsColorSpace = true }
        #expect(kept.colorSpace == ColorSpace(name: name, profile: profile))
        #expect(try coder.info(try encode(try photo(8, 8))).colorProfile == nil)
    }

    @Test("Colors of an embedded profile become sRGB, still and moving, unless their space is to be kept")
    func colorConversion() throws {
        let profile = try ProfileSamples.wide()
        let space = ColorSpace(name: "x", profile: profile)
        let color: SIMD4<UInt8> = [40, 200, 60, 255]
        let expected = try ProfileSamples.convertedToSRGB([color], from: profile)[0]
        let plain = try RasterSamples.pixels(30, 30) { x, _ in x < 15 ? color : clear }
        let opaque = try RasterSamples.pixels(30, 30) { _, _ in color }
        let moved = try RasterSamples.pixels(30, 30) { x, _ in x < 20 ? color : clear }
        let still = makeImage(plain).with { $0.colorSpace = space }
        let animation = try #require(
            Image(
                frames: [plain, moved].map { ImageFrame(pixels: $0, duration: .milliseconds(50)) },
                properties: still.properties))
        for image in [still, makeImage(opaque, hasAlpha: false).with { $0.colorSpace = space }, animation] {
            let data = try encode(image)
            let converted = try coder.decode(data)
            #expect(converted.frames.allSatisfy { RasterSamples.distance($0.pixels[2, 2], expected) <= 1 })
            #expect(converted.colorSpace == .sRGB && converted.frames.count == image.frames.count)
            #expect(try coder.decode(data) { $0.keepsColorSpace = true }.pixels[2, 2] == color)
            let small = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 6, height: 6) }
            // The filter rings where the color ends.
            #expect(RasterSamples.distance(small.pixels[1, 3], expected) < 12)
        }
    }

    @Test("A file cut anywhere is truncated, or a partial image where that is allowed", .capability("3.8"))
    func truncation() throws {
        for whole in [
            try encode(try photo(90, 90)), try encode(try photo(90, 90), lossless: false), try encode(try animation()),
        ] {
            var partial = 0
            for tenth in 1..<10 {
                let cut = whole.prefix(whole.count * tenth / 10)
                #expect { try coder.decode(cut) } throws: { ($0 as? ImageError)?.code == .truncatedImage }
                guard let image = try? coder.decode(cut, { $0.allowsPartialImage = true }) else { continue }
                #expect(image.isPartial && image.hasAlpha)
                partial += 1
            }
            #expect(partial >= 3)
        }
        #expect { try coder.info(Data("RIFF".utf8)) } throws: { ($0 as? ImageError)?.code == .truncatedImage }
        let header = try coder.info(try encode(try photo(90, 80), lossless: false).prefix(64))
        #expect(header.size == PixelSize(width: 90, height: 80) && !header.isComplete)
    }

    @Test("More pixels or frames than the limits allow are refused before memory is taken", .capability("3.1"))
    func limits() throws {
        let pool = PixelBufferPool(limit: 0)
        var context = ProcessingContext(pool: pool)
        context.limits.maximumPixels = 99
        let still = try encode(try photo(10, 10))
        #expect {
            try coder.decode(still, options: DecodeOptions(), context: context)
        } throws: {
            ($0 as? ImageError)?.code == .limitExceeded
        }
        context.limits = DecodeLimits()
        context.limits.maximumFrames = 2
        let moving = try encode(try animation())
        #expect {
            try coder.decode(moving, options: DecodeOptions(), context: context)
        } throws: {
            ($0 as? ImageError)?.code == .limitExceeded
        }
        var huge = extended(still, PixelSize(width: 65_535, height: 65_535), flags: 0, [])
        huge[4] = UInt8(truncatingIfNeeded: huge.count - 8)
        #expect(throws: ImageError.self) { try coder.decode(huge, options: DecodeOptions(), context: context) }
        #expect(pool.statistics.allocated == 0)
    }

    @Test("More than 10,000 chunks that aren't frames are over a limit, before libwebp keeps them", .capability("3.1"))
    func chunkCounts() throws {
        let still = try encode(try photo(10, 10))
        func info(_ count: Int) throws -> ImageInfo {
            let chunks = Array(repeating: ("abcd", [UInt8]()), count: count)
            let data = extended(still, PixelSize(width: 10, height: 10), flags: 0, chunks)
            return try coder.info(of: data, context: ProcessingContext())
        }
        #expect(try info(9_000).size == PixelSize(width: 10, height: 10))
        expectCode(.limitExceeded) { try info(10_000) }

        // Chunks behind the picture of a frame, which libwebp takes for chunks of the file.
        var data = try animated(PixelSize(width: 10, height: 10), [(try photo(10, 10), 0, 0, false)])
        let frame = try #require(data.firstRange(of: Array("ANMF".utf8))).upperBound
        data += (0...10_000).flatMap { _ in chunk("abcd", []) }
        data.replaceSubrange(frame..<frame + 4, with: little(data.count - frame - 4, 4))
        data.replaceSubrange(4..<8, with: little(data.count - 8, 4))
        expectCode(.limitExceeded) { try coder.info(of: data, context: ProcessingContext()) }
    }

    @Test("A limit of bytes costs quality, and is an error where nothing helps", .capability("COD-25", "COD-24"))
    func maximumBytes() throws {
        let image = try photo(128, 128)
        let full = try encode(image, lossless: false, quality: 0.95)
        var options = EncodeOptions(quality: 0.95, maximumBytes: .bytes(full.count / 3))
        let small = try coder.encode(image, as: .webp, options: options)
        #expect(small.count <= full.count / 3 && small.count > full.count / 8)
        options.maximumBytes = 20
        #expect {
            try coder.encode(image, as: .webp, options: options)
        } throws: {
            ($0 as? ImageError)?.code == .encodeFailed
        }
        options.maximumBytes = nil
        options.maximumSize = PixelSize(width: 32, height: 32)
        #expect(
            try coder.decode(try coder.encode(image, as: .webp, options: options)).size
                == PixelSize(width: 32, height: 32))
    }

    @Test("Damaged files never crash", .capability("3.8"))
    func fuzz() throws {
        try coder.survives(damageTo: try encode(try animation()), cases: 300, seed: 4)
        try coder.survives(damageTo: try encode(try photo(40, 40), lossless: false), cases: 300, seed: 5)
        try coder.survives(
            damageTo: try encode(makeImage(try RasterSamples.translucentNoise(20, 20, seed: 2))), cases: 200, seed: 6)
    }
}
