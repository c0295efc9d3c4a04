#if JXL
import CJXL
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("JPEG XL", .timeLimited)
struct JXLCoderTests {
    let coder = JXLCoder()

    private func encode(_ image: Image, lossless: Bool = true, quality: Double = 0.85) throws -> Data {
        var options = EncodeOptions(quality: quality)
        options.lossless = lossless
        return try coder.encode(image, as: .jxl, options: options)
    }

    private func animation(loopCount: Int = 0) throws -> Image {
        let frames = try [50, 70, 120].enumerated().map { index, duration in
            ImageFrame(
                pixels: try RasterSamples.pixels(20, 10) { x, _ in
                    x / 4 == index ? [0, 64, 0, 128] : x < 10 ? red : clear
                },
                duration: .milliseconds(duration))
        }
        return try #require(Image(frames: frames)).with { $0.loopCount = loopCount }
    }

    @Test("Without loss every pixel comes back, also the translucent ones")
    func lossless() throws {
        try TraitCoderChecks.expectLossless(coder, .jxl)
    }

    @Test("A frame larger than the image is cropped, and counts in the limits")
    func largeFrame() throws {
        let data = try Self.cropped()
        let image = try coder.decode(data)
        #expect(image.size == PixelSize(width: 16, height: 16))
        // The image begins at column 100 and row 50 of the frame.
        #expect(image.pixels[0, 0] == [100, 50, 7, 255] && image.pixels[15, 15] == [115, 65, 7, 255])
        var context = ProcessingContext()
        context.limits.maximumPixels = 256 * 200
        #expect(throws: Never.self) { try coder.decode(data, options: DecodeOptions(), context: context) }
        context.limits.maximumPixels -= 1
        expectCode(.limitExceeded) { try coder.decode(data, options: DecodeOptions(), context: context) }
    }

    /// An image of 16x16 pixels in a frame of 256x200.
    private static func cropped() throws -> Data {
        let encoder = try #require(JxlEncoderCreate(nil))
        defer { JxlEncoderDestroy(encoder) }
        var info = JxlBasicInfo()
        JxlEncoderInitBasicInfo(&info)
        (info.xsize, info.ysize, info.bits_per_sample, info.num_color_channels) = (16, 16, 8, 3)
        info.uses_original_profile = 1
        try #require(JxlEncoderSetBasicInfo(encoder, &info) == JXL_ENC_SUCCESS)
        var color = JxlColorEncoding()
        JxlColorEncodingSetToSRGB(&color, 0)
        try #require(JxlEncoderSetColorEncoding(encoder, &color) == JXL_ENC_SUCCESS)
        let settings = try #require(JxlEncoderFrameSettingsCreate(encoder, nil))
        try #require(JxlEncoderSetFrameLossless(settings, 1) == JXL_ENC_SUCCESS)
        var header = JxlFrameHeader()
        JxlEncoderInitFrameHeader(&header)
        header.layer_info.have_crop = 1
        (header.layer_info.crop_x0, header.layer_info.crop_y0) = (-100, -50)
        (header.layer_info.xsize, header.layer_info.ysize) = (256, 200)
        try #require(JxlEncoderSetFrameHeader(settings, &header) == JXL_ENC_SUCCESS)
        var pixels: [UInt8] = []
        for y in 0..<200 { for x in 0..<256 { pixels += [UInt8(x), UInt8(y), 7] } }
        var format = JxlPixelFormat(num_channels: 3, data_type: JXL_TYPE_UINT8, endianness: JXL_NATIVE_ENDIAN, align: 0)
        try #require(JxlEncoderAddImageFrame(settings, &format, pixels, pixels.count) == JXL_ENC_SUCCESS)
        JxlEncoderCloseInput(encoder)
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let written = try bytes.withUnsafeMutableBufferPointer { buffer in
            var (next, room) = (buffer.baseAddress, buffer.count)
            try #require(JxlEncoderProcessOutput(encoder, &next, &room) == JXL_ENC_SUCCESS)
            return buffer.count - room
        }
        return Data(bytes.prefix(written))
    }

    @Test("With loss the picture is close, quality costs bytes, and a limit of bytes is kept")
    func lossy() throws {
        try TraitCoderChecks.expectLossy(
            coder, .jxl, try RasterSamples.gradient(120, 90), psnr: 38, tooFew: 20)
    }

    @Test(
        "Frames, durations and the loop count come back, again after going back", .capability("COD-42"),
        arguments: [0, 1, 7])
    func animationRoundTrip(loopCount: Int) throws {
        let image = try animation(loopCount: loopCount)
        let data = try encode(image)
        let info = try coder.info(data)
        #expect(info.frameCount == 3 && info.loopCount == loopCount && info.isComplete)
        #expect(info.frameDurations == image.frames.map(\.duration))
        let decoded = try coder.decode(data)
        #expect(decoded.frames == image.frames && decoded.loopCount == loopCount)
        let decoder = try coder.frameDecoder(for: data, options: DecodeOptions(), context: ProcessingContext())
        _ = try decoder.nextFrame()
        try decoder.rewind()
        for frame in image.frames { #expect(try decoder.nextFrame() == frame) }
        #expect(try decoder.nextFrame() == nil)
    }

    @Test("The frames before the one in which an animation is cut are given, and that one is an error")
    func partialAnimation() throws {
        let image = try animation()
        let data = try encode(image)
        for missing in [1, 4] {
            let cut = Data(data.dropLast(missing))
            // The header of the last frame is there.
            #expect(try coder.info(cut).frameCount == 3 && !coder.info(cut).isComplete)
            expectCode(.truncatedImage) { try coder.decode(cut) }
            let partial = try coder.decode(cut) { $0.allowsPartialImage = true }
            #expect(partial.isPartial && partial.animation?.frameCount == 2)
            let decoder = try coder.frameDecoder(for: cut)
            for frame in image.frames.dropLast() { #expect(try decoder.nextFrame() == frame) }
            expectCode(.truncatedImage) { _ = try decoder.nextFrame() }
        }
    }

    /// A file whose boxes hold parts of a codestream.
    /// - Parameter isOpen: true if the last box has no size, and goes to the end of the file.
    private func boxed(_ parts: [Data], isOpen: Bool) -> Data {
        func number(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }
        let signature = number(12) + Data("JXL ".utf8) + number(0x0D0A_870A)
        let type = number(20) + Data("ftypjxl ".utf8) + number(0) + Data("jxl ".utf8)
        return parts.enumerated().reduce(signature + type) { file, part in
            let isLast = part.offset == parts.count - 1
            return file + number(isLast && isOpen ? 0 : UInt32(part.element.count + 12)) + Data("jxlp".utf8)
                + number(UInt32(part.offset) | (isLast ? 1 << 31 : 0)) + part.element
        }
    }

    @Test(
        "An animation in boxes whose last frame is cut says so, whichever box ends early", arguments: [1, 2, 5],
        [false, true])
    func cutBoxes(count: Int, isOpen: Bool) throws {
        let codestream = try encode(try animation())
        try #require(codestream.starts(with: [0xFF, 0x0A]))
        // Each box but the first has three bytes, so the last frame goes on from one to the next.
        let end = codestream.count
        let bounds = [0] + (1..<count).map { end - 3 * (count - $0) } + [end]
        let data = boxed(zip(bounds, bounds.dropFirst()).map { codestream[$0..<$1] }, isOpen: isOpen)
        #expect(try coder.info(data).isComplete && coder.decode(data).animation?.frameCount == 3)
        for missing in [1, 2, 3, 8, 15, 16] {
            let cut = Data(data.dropLast(missing))
            #expect(try coder.info(cut).frameCount == 3 && !coder.info(cut).isComplete, "\(missing)")
            expectCode(.truncatedImage) { try coder.decode(cut) }
            #expect(try coder.decode(cut) { $0.allowsPartialImage = true }.animation?.frameCount == 2)
        }
    }

    @Test("A file with more boxes than are looked through counts as whole")
    func manyBoxes() throws {
        var data = boxed([try encode(try animation())], isOpen: false)
        let fillers = repeatElement(ByteBuilder.box("free", Data()), count: TopLevelBoxes.maximumCount)
        data.insert(contentsOf: fillers.joined(), at: 32)
        #expect(try coder.info(data).isComplete && coder.decode(data).animation?.frameCount == 3)
    }

    @Test("An animation of which only the first frame is there is no whole image")
    func firstFrameOfAnimation() throws {
        let image = try animation()
        let data = try encode(image)
        let header = try #require((1...data.count).first { (try? coder.info(data.prefix($0)).frameCount) == 2 })
        let cut = Data(data.prefix(header - 1))
        #expect(try coder.info(cut).frameCount == 1)
        expectCode(.truncatedImage) { try coder.decode(cut) }
        let partial = try coder.decode(cut) { $0.allowsPartialImage = true }
        #expect(partial.isPartial && partial.pixels == image.frames[0].pixels)
        #expect(try !coder.decode(cut) { $0.firstFrameOnly = true }.isPartial)
    }

    /// Noise of several groups, of which libjxl decodes the eighth of the resolution first.
    private func large() throws -> Image {
        var generator = SeededRandom(seed: 3)
        return try RasterSamples.image(700, 520) { x, y in
            SIMD4(UInt8(x / 3), UInt8(y / 3), UInt8.random(in: 0...255, using: &generator), 255)
        }
    }

    @Test("Of a still image that is cut there is a partial image, without rests of other images", .capability("3.8"))
    func partialStill() throws {
        let data = try encode(try large(), lossless: false)
        let cut = Data(data.prefix(data.count * 2 / 3))
        expectCode(.truncatedImage) { try coder.decode(cut) }
        let whole = try coder.decode(data)
        let partial = try coder.decode(cut) { $0.allowsPartialImage = true }
        #expect(partial.isPartial && partial.size == whole.size)
        #expect(RasterSamples.psnr(partial.pixels, whole.pixels) > 10)
        // The same again in memory that held something else.
        let pool = PixelBufferPool(limit: .megabytes(50))
        for level in [UInt8(0x55), 0xAA] {
            var dirty = try MutablePixelBuffer(size: whole.size, pool: pool)
            dirty.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: level) }
            _ = dirty.freeze()
            var options = DecodeOptions()
            options.allowsPartialImage = true
            let again = try coder.decode(cut, options: options, context: ProcessingContext(pool: pool))
            #expect(again.pixels == partial.pixels && pool.statistics.reused > 0)
        }
    }

    @Test(
        "While a large image arrives its previews come nearer, and the end is exactly the image", .capability("COD-02"),
        arguments: [false, true])
    func progressive(lossless: Bool) throws {
        let data = try encode(try large(), lossless: lossless)
        let whole = try coder.decode(data)
        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        var quality: [Double] = []
        for start in stride(from: 0, to: data.count, by: data.count / 10 + 1) {
            try decoder.append(data[start..<min(start + data.count / 10 + 1, data.count)])
            guard let preview = try decoder.preview() else { continue }
            #expect(preview.isPartial && preview.size == whole.size && !preview.isAnimated)
            quality.append(RasterSamples.psnr(preview.pixels, whole.pixels))
        }
        #expect(quality.count >= 5)
        #expect(zip(quality, quality.dropFirst()).allSatisfy { $0 <= $1 + 1 })
        #expect(quality[quality.count - 2] > quality[0])
        #expect(try decoder.finish().pixels == whole.pixels)
    }

    @Test("A color profile is written, and converted to sRGB when it is read", arguments: [true, false])
    func profile(lossless: Bool) throws {
        let profile = try #require(CodePoints(primaries: 12, transfer: 13).profile)
        let orange = SIMD4<UInt8>(200, 100, 50, 255)
        let image = Image(pixels: try RasterSamples.pixels(16, 16) { _, _ in orange }).with {
            $0.colorSpace = ColorSpace(name: "Display P3", profile: profile)
            $0.hasAlpha = false
        }
        let converted = try coder.decode(try encode(image, lossless: lossless, quality: 1)).pixels[3, 3]
        // Display P3 is wider: the same numbers are a stronger color.
        #expect(converted.x > 205 && converted.z < 45)
    }

    @Test(
        "A profile that libjxl cannot write is no error: the colors become sRGB", .capability("COD-46"),
        arguments: [true, false])
    func profileThatLibjxlRefuses(lossless: Bool) throws {
        let profile = try ProfileSamples.withoutGreen()
        #expect(!JXLEncoder.accepts(profile))
        let color = SIMD4<UInt8>(200, 100, 50, 255)
        let image = Image(pixels: try RasterSamples.pixels(16, 16) { _, _ in color }).with {
            $0.colorSpace = ColorSpace(name: "without green", profile: profile)
            $0.hasAlpha = false
        }
        let expected = try #require(try ProfileSamples.convertedToSRGB([color], from: profile).first)
        let decoded = try coder.decode(try encode(image, lossless: lossless, quality: 1))
        let pixel = decoded.pixels[3, 3]
        #expect((0..<4).allSatisfy { abs(Int(pixel[$0]) - Int(expected[$0])) <= (lossless ? 1 : 6) })
        #expect(decoded.colorSpace == .sRGB)
    }

    @Test("High dynamic range has the primaries and the white that the file states", .capability("COD-54"))
    func statedPrimaries() throws {
        let values = SIMD3<Double>(0.6, 0.4, 0.5)
        var file = HandmadeJXL(SIMD4(SIMD3<Float>(values), 1))
        file.color.transfer_function = JXL_TRANSFER_FUNCTION_PQ
        // ROMM RGB, with the white of D50 and with that of D65.
        file.color.primaries = JXL_PRIMARIES_CUSTOM
        file.color.primaries_red_xy = (0.7347, 0.2653)
        file.color.primaries_green_xy = (0.1596, 0.8404)
        file.color.primaries_blue_xy = (0.0366, 0.0001)
        for white in [SIMD2(0.3457, 0.3585), SIMD2(0.3127, 0.3290)] {
            file.color.white_point = JXL_WHITE_POINT_CUSTOM
            file.color.white_point_xy = (white.x, white.y)
            let image = try coder.decode(try file.data()) { $0.decodeToHDR = true }
            let columns = Chromaticities(
                red: [0.7347, 0.2653], green: [0.1596, 0.8404], blue: [0.0366, 0.0001], white: white
            ).columns(to: .bt709)
            let light = SIMD3<Float>((0..<3).map { Float(TransferCurves.pqLight(values[$0]) / 203) })
            let mixed = columns.0 * light.x + columns.1 * light.y + columns.2 * light.z
            let pixel = image.pixels.component(x: 8, y: 8)
            for index in 0..<3 {
                let number = TransferCurves.sRGBValue(Double(mixed[index].magnitude))
                #expect(abs(Double(pixel[index].magnitude) - number) < 0.003 * max(1, number))
                #expect(pixel[index].sign == mixed[index].sign)
            }
        }
        // The places of BT.2020's primaries are BT.2020, however they are stated.
        file.color.primaries_red_xy = (0.708, 0.292)
        file.color.primaries_green_xy = (0.170, 0.797)
        file.color.primaries_blue_xy = (0.131, 0.046)
        let stated = try file.data()
        file.color.primaries = JXL_PRIMARIES_2100
        file.color.white_point = JXL_WHITE_POINT_D65
        let named = try file.data()
        #expect(try coder.info(stated).colorProfile == "BT.2020 PQ" && coder.info(named).colorProfile == "BT.2020 PQ")
        #expect(try coder.decode(stated).pixels == coder.decode(named).pixels)
    }

    @Test("Primaries that can't be converted are BT.709's")
    func impossiblePrimaries() {
        for place in [SIMD2<Double>(0.3, 0), SIMD2(.nan, 0.3), SIMD2(0.6400, 0.3300)] {
            let points = CodePoints(
                Chromaticities(red: [0.64, 0.33], green: place, blue: [0.15, 0.06]), transfer: 16)
            #expect(points.chromaticities == .bt709 && points.isHighDynamicRange)
        }
    }

    @Test(
        "Light that is multiplied by alpha becomes sRGB that is, with loss and without",
        arguments: [true, false], [false, true])
    func premultipliedLight(isLossless: Bool, keepsColorSpace: Bool) throws {
        // With 16 bits, because light in 8 bits has few dark tones.
        var file = HandmadeJXL([0.25, 0.1, 0.05, 0.5])
        file.isLossless = isLossless
        file.isPremultiplied = true
        file.color.transfer_function = JXL_TRANSFER_FUNCTION_LINEAR
        let image = try coder.decode(try file.data()) { $0.keepsColorSpace = keepsColorSpace && !isLossless }
        // The light 0.5, 0.2, 0.1 is 188, 124, 89 in sRGB.
        #expect(RasterSamples.distance(image.pixels[8, 8], [94, 62, 45, 128]) <= 3)
        #expect(image.colorSpace == .sRGB)
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
        let moving = try encode(try animation())
        expectCode(.limitExceeded) { try coder.decode(moving, options: DecodeOptions(), context: context) }
    }

    @Test("Damage ends in an image or an error")
    func damage() throws {
        try coder.survives(damageTo: try encode(try RasterSamples.translucent(40, 30)), cases: 300, seed: 31)
        try coder.survives(damageTo: try encode(try animation()), cases: 200, seed: 32)
        let lossy = try encode(try RasterSamples.gradient(40, 40), lossless: false)
        try coder.survives(damageTo: lossy, cases: 200, seed: 33)
    }
}
#endif
