import CLCMS2
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("PNG of 16 bits", .timeLimited)
struct DeepPNGTests {
    let coder = PNGCoder()

    private func decode(_ data: Data, _ change: (inout DecodeOptions) -> Void = { _ in }) throws -> Image {
        try coder.decode(data) {
            $0.decodeToHDR = true
            change(&$0)
        }
    }

    private func file(_ colorType: UInt8, chunks: [(type: String, contents: [UInt8])] = [], _ pixels: [[UInt16]])
        -> Data
    {
        HandmadePNG(
            width: pixels.count, height: 1, bitDepth: 16, colorType: colorType, chunks: chunks,
            rows: [pixels.flatMap { $0.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }]
        ).data
    }

    @Test(
        "Gray, RGB, alpha and one transparent color of 16 bits stay 16 bits, exactly", .capability("COD-50", "COD-18"))
    func exact() throws {
        let gray = try decode(file(0, [[0], [1], [32_768], [65_535]]))
        #expect(gray.pixels.format == .rgba16 && gray.properties.bitsPerComponent == 16 && !gray.hasAlpha)
        #expect((0..<4).map { DeepSamples.words(gray.pixels, $0, 0).x } == [0, 1, 32_768, 65_535])
        #expect(DeepSamples.words(gray.pixels, 1, 0) == [1, 1, 1, 65_535])
        let color = try decode(file(2, [[1, 256, 65_534], [500, 40_000, 7]]))
        #expect(DeepSamples.words(color.pixels, 0, 0) == [1, 256, 65_534, 65_535])
        #expect(DeepSamples.words(color.pixels, 1, 0) == [500, 40_000, 7, 65_535])
        let grayAlpha = try decode(file(4, [[40_000, 32_768], [40_000, 0]]))
        #expect(DeepSamples.words(grayAlpha.pixels, 0, 0) == [20_000, 20_000, 20_000, 32_768])
        #expect(DeepSamples.words(grayAlpha.pixels, 1, 0) == .zero)
        let alpha = try decode(file(6, [[65_535, 3, 1_000, 21_845], [9, 8, 7, 65_535]]))
        #expect(DeepSamples.words(alpha.pixels, 0, 0) == [21_845, 1, 333, 21_845])
        #expect(DeepSamples.words(alpha.pixels, 1, 0) == [9, 8, 7, 65_535] && alpha.hasAlpha)
        // The key differs from the second color in the low byte alone.
        let key: [(type: String, contents: [UInt8])] = [("tRNS", [0x12, 0x34, 0, 1, 0, 2])]
        let keyed = try decode(file(2, chunks: key, [[0x1234, 1, 2], [0x1235, 1, 2]]))
        #expect(DeepSamples.words(keyed.pixels, 0, 0) == .zero)
        #expect(DeepSamples.words(keyed.pixels, 1, 0) == [0x1235, 1, 2, 65_535] && keyed.hasAlpha)
    }

    @Test("Without the option, and for fewer bits, pixels have 8 bits")
    func standard() throws {
        #expect(try coder.decode(file(0, [[40_000]])).pixels.format == .rgba8)
        let shallow = HandmadePNG(width: 1, height: 1, colorType: 0, rows: [[200]]).data
        let image = try decode(shallow)
        #expect(
            image.pixels.format == .rgba8 && !image.isHighDynamicRange && image.properties.decodeOptions.decodeToHDR)
    }

    @Test(
        "What is written with 16 bits comes back exactly, interlaced too", .capability("COD-50"),
        arguments: [false, true],
        [false, true])
    func roundTrip(hasAlpha: Bool, interlaced: Bool) throws {
        let image = try DeepSamples.noise(67, 41, hasAlpha: hasAlpha, seed: 3)
        var options = EncodeOptions()
        options.progressive = interlaced
        let data = try coder.encode(image, as: .png, options: options)
        #expect(try coder.info(data).bitsPerComponent == 16)
        let decoded = try decode(data)
        #expect(decoded.pixels == image.pixels && decoded.hasAlpha == hasAlpha)
        let shallow = try coder.decode(data)
        // Rounded before or after multiplying by alpha.
        #expect(DeepSamples.difference(shallow.pixels, try image.pixels.converted(to: .rgba8)) <= 1.01 / 255)
        if !hasAlpha { #expect(try shallow.pixels == image.pixels.converted(to: .rgba8)) }
    }

    @Test("Thumbnails of 16 bits are the full image made smaller, turned upright")
    func thumbnail() throws {
        let image = try DeepSamples.gradient(90, 60)
        let data = try coder.encode(image, as: .png, options: EncodeOptions())
        let small = try decode(data) { $0.thumbnailSize = PixelSize(width: 30, height: 30) }
        #expect(try small.pixels == image.pixels.resized(to: PixelSize(width: 30, height: 20)))
        let limited = try decode(data) { $0.maximumBytes = .bytes(90 * 60 * 4) }
        #expect(limited.pixels.size.pixelCount * 8 <= 90 * 60 * 4)
        var context = ProcessingContext()
        context.limits.maximumBytes = .bytes(90 * 60 * 8 - 1)
        var options = DecodeOptions()
        #expect(throws: Never.self) { try coder.decode(data, options: options, context: context) }
        options.decodeToHDR = true
        expectCode(.limitExceeded) { try coder.decode(data, options: options, context: context) }
    }

    @Test(
        "Previews of a progressive load have 8 bits, the finished image 16", .capability("COD-18"),
        arguments: [false, true])
    func progressive(interlaced: Bool) throws {
        let image = try DeepSamples.gradient(64, 300)
        var encoding = EncodeOptions()
        encoding.progressive = interlaced
        let data = try coder.encode(image, as: .png, options: encoding)
        var options = DecodeOptions()
        options.decodeToHDR = true
        let decoder = try coder.progressiveDecoder(options: options, context: ProcessingContext())
        try decoder.append(Data(data.prefix(data.count * 2 / 3)))
        let preview = try #require(try decoder.preview())
        #expect(preview.pixels.format == .rgba8 && preview.isPartial)
        try decoder.append(Data(data.dropFirst(data.count * 2 / 3)))
        let finished = try decoder.finish()
        #expect(finished.pixels == image.pixels && !finished.isPartial)
        #expect(finished.properties == (try decode(data)).properties)
    }

    @Test("Previews under a limit of bytes have the size of the image", .capability("3.15"), arguments: [false, true])
    func limitedPreviews(interlaced: Bool) throws {
        var encoding = EncodeOptions()
        encoding.progressive = interlaced
        let data = try coder.encode(DeepSamples.gradient(64, 300), as: .png, options: encoding)
        var options = DecodeOptions(maximumBytes: ByteCount(64 * 300 * 4))
        options.decodeToHDR = true
        let decoder = try coder.progressiveDecoder(options: options, context: ProcessingContext())
        try decoder.append(Data(data.prefix(data.count * 2 / 3)))
        let preview = try #require(try decoder.preview())
        try decoder.append(Data(data.dropFirst(data.count * 2 / 3)))
        #expect(try decoder.finish().size == preview.size)
    }

    @Test("A profile is converted with 16 bits, in full and in thumbnails", arguments: [false, true])
    func profile(hasAlpha: Bool) throws {
        let profile = try ProfileSamples.wide()
        let image = try DeepSamples.noise(40, 30, hasAlpha: hasAlpha, seed: 5).with {
            $0.colorSpace = ColorSpace(name: "wide", profile: profile)
        }
        let data = try coder.encode(image, as: .png, options: EncodeOptions())
        let kept = try decode(data) { $0.keepsColorSpace = true }
        #expect(kept.pixels == image.pixels && kept.colorSpace.profile == profile)
        let converted = try decode(data)
        #expect(converted.colorSpace == .sRGB)
        if !hasAlpha {
            for x in 0..<40 {
                let exact = try Self.converted(DeepSamples.words(image.pixels, x, 3), profile)
                let pixel = DeepSamples.words(converted.pixels, x, 3)
                for component in 0..<3 { #expect(abs(Double(pixel[component]) - exact[component] * 65_535) < 48) }
            }
        }
        let small = try decode(data) { $0.thumbnailSize = PixelSize(width: 10, height: 10) }
        #expect(small.pixels.format == .rgba16)
    }

    /// What LittleCMS makes of a color in floating point, within the range of sRGB.
    private static func converted(_ color: SIMD4<UInt16>, _ profile: Data) throws -> [Double] {
        let source = try #require(profile.withUnsafeBytes { cmsOpenProfileFromMem($0.baseAddress, UInt32($0.count)) })
        defer { cmsCloseProfile(source) }
        let target = try #require(cmsCreate_sRGBProfile())
        defer { cmsCloseProfile(target) }
        // TYPE_RGB_DBL
        let layout = UInt32(1 << 22 | 4 << 16 | 3 << 3)
        let transform = try #require(cmsCreateTransform(source, layout, target, layout, 1, UInt32(cmsFLAGS_NOOPTIMIZE)))
        defer { cmsDeleteTransform(transform) }
        let numbers = (0..<3).map { Double(color[$0]) / 65_535 }
        var result = [0.0, 0, 0]
        cmsDoTransform(transform, numbers, &result, 1)
        return result.map { min(max($0, 0), 1) }
    }

    @Test("A gray profile is converted with 16 bits")
    func grayProfile() throws {
        let linear = try ProfileSamples.linearGray()
        let conversion = try #require(ColorConversion(profile: linear, source: .gray, format: .rgba16))
        var pixels: [SIMD4<UInt16>] = [[0, 0, 0, 9], [13_107, 13_107, 13_107, 10], [65_535, 65_535, 65_535, 11]]
        pixels.withUnsafeMutableBytes { if let base = $0.baseAddress { conversion.convert(base, count: 3) } }
        #expect(pixels[0] == [0, 0, 0, 9] && pixels[2] == [65_535, 65_535, 65_535, 11])
        let exact = TransferCurves.sRGBValue(0.2) * 65_535
        #expect(abs(Double(pixels[1].x) - exact) < 200 && pixels[1].x == pixels[1].z && pixels[1].w == 10)
    }

    @Test("Damage ends in an image or an error")
    func damage() throws {
        let data = try coder.encode(
            try DeepSamples.noise(30, 20, hasAlpha: true, seed: 8), as: .png, options: EncodeOptions())
        try DeepCoder(coder: coder).survives(damageTo: data, cases: 300, seed: 71)
    }
}

/// A coder whose images keep their depth.
struct DeepCoder<Coder: ImageCoder>: ImageCoder {
    let coder: Coder

    var decodableFormats: Set<ImageFormat> { coder.decodableFormats }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try coder.info(of: data, context: context)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        var options = options
        options.decodeToHDR = true
        return try coder.decode(data, options: options, context: context)
    }
}
