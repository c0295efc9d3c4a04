import CLCMS2
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs
import TintypeTesting

@Suite("Color profiles", .timeLimited)
struct ColorConversionTests {
    let context = ProcessingContext()

    /// A picture in a wide space: pure red there is out of reach of sRGB, a soft one becomes stronger.
    private func wideImage(hasAlpha: Bool = false) throws -> Image {
        let profile = try ProfileSamples.wide()
        return try RasterSamples.image(32, 32, hasAlpha: hasAlpha) { _, _ in SIMD4(180, 100, 100, 255) }
            .with { $0.colorSpace = ColorSpace(name: "wide", profile: profile) }
    }

    private var coders: [(any ImageCoder, ImageFormat)] { [(JPEGCoder(), .jpeg), (PNGCoder(), .png)] }

    @Test("A profile is embedded, and converted to sRGB when the image is read", .capability("3.16"))
    func conversion() throws {
        for (coder, format) in coders {
            let data = try coder.encode(try wideImage(), as: format, options: EncodeOptions(quality: 1))
            #expect(try coder.info(of: data, context: context).colorProfile != nil)
            let image = try coder.decode(data, options: DecodeOptions(), context: context)
            let pixel = image.pixels[16, 16]
            #expect(pixel.x > 186 && pixel.x < 200)
            #expect(pixel.y < 100 && pixel.w == 255)
            #expect(image.colorSpace == .sRGB)
        }
    }

    @Test("A thumbnail, which is converted after it was made, has the same colors", .capability("3.16"))
    func thumbnail() throws {
        for (coder, format) in coders {
            let data = try coder.encode(try wideImage(), as: format, options: EncodeOptions(quality: 1))
            let full = try coder.decode(data, options: DecodeOptions(), context: context)
            let small = try coder.decode(
                data, options: DecodeOptions(thumbnailSize: PixelSize(width: 8, height: 8)), context: context)
            #expect(RasterSamples.distance(full.pixels[16, 16], small.pixels[4, 4]) <= 1)
        }
    }

    @Test("The numbers stay on demand, and say what they are")
    func kept() throws {
        let source = try wideImage(hasAlpha: true)
        let data = try PNGCoder().encode(source, as: .png, options: EncodeOptions())
        var options = DecodeOptions()
        options.keepsColorSpace = true
        let image = try PNGCoder().decode(data, options: options, context: context)
        #expect(image.pixels == source.pixels)
        #expect(image.colorSpace.profile == source.colorSpace.profile)
        #expect(!image.colorSpace.name.isEmpty)
    }

    @Test(
        "Pixels with a profile that gives their numbers no meaning are written and decoded as sRGB, in every format",
        .capability("3.16", "3.8"), arguments: WritableFormats.all)
    func meaninglessProfile(format: ImageFormat) throws {
        var damaged = try ProfileSamples.wide()
        let curve = try #require(damaged.firstRange(of: Data("rTRC".utf8)))
        damaged.replaceSubrange(curve, with: Data("zzzz".utf8))
        #expect(try ColorConversion.isUsable(ProfileSamples.wide()) && ColorConversion.isUsable(ProfileSamples.sRGB()))
        #expect(ColorConversion.keptColorSpace(damaged) == nil)
        for profile in [damaged, try ProfileSamples.linearGray(), Data(), Data([1, 2, 3])] {
            let image = try RasterSamples.gradient(16, 16).with {
                $0.colorSpace = ColorSpace(name: "damaged", profile: profile)
            }
            let data = try WritableFormats.encode(image, as: format)
            #expect(data == (try WritableFormats.encode(try RasterSamples.gradient(16, 16), as: format)))
        }
    }

    @Test("A profile that states an unknown rendering intent is used like any other", .capability("3.16"))
    func unknownIntent() throws {
        let wide = try ProfileSamples.wide()
        let colors: [SIMD4<UInt8>] = [[200, 30, 60, 255], [10, 220, 90, 255], [128, 128, 128, 255]]
        func converted(_ profile: Data) throws -> [SIMD4<UInt8>] {
            var pixels = colors
            let conversion = try #require(ColorConversion(profile: profile, source: .rgb))
            pixels.withUnsafeMutableBytes { if let base = $0.baseAddress { conversion.convert(base, count: 3) } }
            return pixels
        }
        for intent: [UInt8] in [[0, 0, 0, 4], [0, 0, 0, 9], [0, 0, 0, 255], [255, 255, 255, 255]] {
            var profile = wide
            profile.replaceSubrange(profile.startIndex + 64..<profile.startIndex + 68, with: intent)
            #expect(ColorConversion.isUsable(profile), "\(intent)")
            #expect(ColorConversion.keptColorSpace(profile)?.profile == profile)
            #expect(try converted(profile) == converted(wide))
            let image = try RasterSamples.gradient(16, 16).with {
                $0.colorSpace = ColorSpace(name: "wide", profile: profile)
            }
            for format in WritableFormats.all {
                _ = try WritableFormats.decode(try WritableFormats.encode(image, as: format))
            }
        }
    }

    @Test("sRGB, also under another name, needs no conversion; a broken profile, or one for other pixels, gives none")
    func noConversion() throws {
        let sRGB = try ProfileSamples.sRGB()
        #expect(ColorConversion(profile: sRGB, source: .rgb) == nil)
        var renamed = sRGB
        while let name = renamed.firstRange(of: Data("s\0R\0G\0B".utf8)) {
            renamed.replaceSubrange(name, with: Data("q\0Q\0Q\0q".utf8))
        }
        #expect(ColorConversion(profile: renamed, source: .rgb) == nil)
        #expect(ColorConversion(profile: Data([1, 2, 3]), source: .rgb) == nil)
        #expect(try ColorConversion(profile: ProfileSamples.wide().prefix(300), source: .rgb) == nil)
        #expect(try ColorConversion(profile: ProfileSamples.wide(), source: .cmyk(inverted: false)) == nil)
        #expect(try ColorConversion(profile: ProfileSamples.linearGray(), source: .rgb) == nil)
    }

    @Test("Decodes share the last eight conversions, each of a profile for its pixels")
    func recent() throws {
        let recent = Lock(RecentConversions())
        func conversion(_ profile: Data, _ format: PixelFormat = .rgba8) -> ColorConversion? {
            RecentConversions.conversion(of: profile, .rgb, format, in: recent)
        }
        let wide = try ProfileSamples.wide()
        let first = try #require(conversion(wide))
        // Of a file, the profile is a part.
        #expect(conversion((Data([1, 2]) + wide).dropFirst(2)) === first)
        #expect(conversion(wide, .rgba16)?.format == .rgba16)
        #expect(RecentConversions.conversion(of: wide, .gray, in: recent) !== first)
        #expect(conversion(try ProfileSamples.sRGB()) == nil)
        for number in 0..<5 { _ = conversion(try ProfileSamples.linear(name: "linear \(number)")) }
        #expect(conversion(wide) !== first)
    }

    @Test("A conversion that decodes share gives each its colors")
    func sharing() async throws {
        let conversion = try #require(
            try ColorConversion(profile: ProfileSamples.wide(), source: .rgb, format: .rgbaFloat16))
        #expect(!conversion.usesTables)
        @Sendable func converted(_ seed: UInt64) -> [SIMD4<Float16>] {
            var generator = SeededRandom(seed: seed)
            var row = (0..<2_000).map { _ in SIMD4<Float16>.random(in: 0...1, using: &generator) }
            row.withUnsafeMutableBytes { bytes in
                if let base = bytes.baseAddress { conversion.convert(base, count: bytes.count / 8) }
            }
            return row
        }
        let expected = (0..<8).map { converted($0) }
        await withTaskGroup { group in
            for round in 0..<64 {
                group.addTask { #expect(converted(UInt64(round % 8)) == expected[round % 8]) }
            }
        }
    }

    @Test("A gray profile is applied to gray pixels")
    func gray() throws {
        let conversion = try #require(try ColorConversion(profile: ProfileSamples.linearGray(), source: .gray))
        var row: [SIMD4<UInt8>] = [SIMD4(0, 0, 0, 255), SIMD4(55, 55, 55, 9), SIMD4(255, 255, 255, 255)]
        row.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { conversion.convert(base, count: 3) }
        }
        // 55/255 of the light is 0.502 in sRGB.
        #expect(RasterSamples.distance(row[1], SIMD4(128, 128, 128, 9)) <= 1)
        #expect(row[0] == SIMD4(0, 0, 0, 255))
        #expect(row[2] == SIMD4(255, 255, 255, 255))
    }

    @Test("The tables give what LittleCMS gives, within one step, and leave alpha")
    func tables() throws {
        let data = try ProfileSamples.wide()
        let conversion = try #require(ColorConversion(profile: data, source: .rgb))
        #expect(conversion.usesTables)
        var generator = SeededRandom(seed: 9)
        let colors = (0..<20_000).map { _ in
            SIMD4<UInt8>.random(in: 0...255, using: &generator)
        }
        var converted = colors
        converted.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { conversion.convert(base, count: colors.count) }
        }
        let reference = try ProfileSamples.convertedToSRGB(colors, from: data)
        let worst = zip(converted, reference).map { RasterSamples.distance($0, $1) }.max()
        #expect(try #require(worst) <= 1)
        #expect(converted != colors)
    }

    @Test("A profile is judged by its colors, not by its name")
    func names() throws {
        let linear = try ProfileSamples.linear(name: "sRGB linear")
        let conversion = try #require(ColorConversion(profile: linear, source: .rgb))
        var pixel = SIMD4<UInt8>(64, 64, 64, 255)
        withUnsafeMutableBytes(of: &pixel) { if let base = $0.baseAddress { conversion.convert(base, count: 1) } }
        #expect(RasterSamples.distance(pixel, [137, 137, 137, 255]) <= 1)
        let wide = try ProfileSamples.rgb(
            gamma: 2.2, [0.680, 0.320], [0.265, 0.690], [0.150, 0.060], name: "sRGB P3")
        #expect(ColorConversion(profile: wide, source: .rgb) != nil)
    }

    @Test("16 bits are converted exactly, and sRGB is left as it is")
    func deep() throws {
        var generator = SeededRandom(seed: 17)
        let colors = (0..<20_000).map { _ in SIMD4<UInt16>.random(in: 0...65_535, using: &generator) }
        let spaces: [(String, Double, SIMD2<Double>, SIMD2<Double>, SIMD2<Double>)] = [
            ("P3", 2.2, [0.680, 0.320], [0.265, 0.690], [0.150, 0.060]),
            ("BT.2020", 2.4, [0.708, 0.292], [0.170, 0.797], [0.131, 0.046]),
            ("ProPhoto", 1.8, [0.7347, 0.2653], [0.1596, 0.8404], [0.0366, 0.0001]),
            ("linear", 1, [0.64, 0.33], [0.30, 0.60], [0.15, 0.06]),
        ]
        for (name, gamma, red, green, blue) in spaces {
            let profile = try ProfileSamples.rgb(gamma: gamma, red, green, blue, name: name)
            let conversion = try #require(ColorConversion(profile: profile, source: .rgb, format: .rgba16))
            #expect(conversion.usesTables, "\(name)")
            var converted = colors
            converted.withUnsafeMutableBytes {
                if let base = $0.baseAddress { conversion.convert(base, count: colors.count) }
            }
            let exact = try ProfileSamples.convertedExactly(colors, from: profile)
            let worst =
                zip(converted, exact).map { one, other in
                    (0..<3).map { abs(Int(one[$0]) - Int(other[$0])) }.max() ?? 0
                }.max() ?? 0
            // One step of 8 bits; LittleCMS's own tables are up to 16 steps off.
            #expect(worst <= 257, "\(name): \(worst) of 65535")
            #expect(zip(converted, colors).allSatisfy { $0.w == $1.w })
        }
        #expect(try ColorConversion(profile: ProfileSamples.sRGB(), source: .rgb, format: .rgba16) == nil)
        let gray = try #require(
            ColorConversion(profile: try ProfileSamples.linearGray(), source: .gray, format: .rgba16))
        var grays = (0...4_095).map { number -> SIMD4<UInt16> in
            let gray = UInt16(number * 16)
            return SIMD4(gray, gray, gray, 5)
        }
        let numbers = grays
        grays.withUnsafeMutableBytes { if let base = $0.baseAddress { gray.convert(base, count: numbers.count) } }
        for (number, gray) in zip(numbers, grays) {
            let expected = encoded(Double(number.x) / 65_535) * 65_535
            #expect(abs(Double(gray.y) - expected) <= 40 && gray.w == 5)
        }
    }

    @Test("Below zero, half precision has the curve of sRGB mirrored, and far above white it isn't cut off")
    func outsideGamut() throws {
        let profile = try #require(CodePoints(primaries: 12, transfer: 13).profile)
        let conversion = try #require(ColorConversion(profile: profile, source: .rgb, format: .rgbaFloat16))
        var numbers: [Float] = [0, 1, 0, 0.5, 1, 1, 1, 1, 20, 20, 20, 0.25]
        let buffer = try MutablePixelBuffer(size: PixelSize(width: 3, height: 1), format: .rgbaFloat16)
        HalfFloat.pack(numbers, to: buffer.row(0), pixels: 3)
        conversion.convert(buffer.row(0), count: 3)
        HalfFloat.unpack(buffer.row(0), to: &numbers, count: numbers.count)
        // The light of Display P3's green is -0.2250, 1.0421, -0.0786 in sRGB.
        let green = [-encoded(0.2250), encoded(1.0421), -encoded(0.0786), 0.5]
        for (number, expected) in zip(numbers, green + [1, 1, 1, 1, 20, 20, 20, 0.25]) {
            #expect(abs(Double(number) - expected) < 0.001 * max(1, expected))
        }
    }

    /// The curve of sRGB (IEC 61966-2-1).
    private func encoded(_ light: Double) -> Double {
        light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    @Test("Rounding to 8 bits gives the nearest number, for all of 16 bits")
    func rounding() {
        #expect((0...65_535).allSatisfy { DepthRounding.rounded(UInt16($0)) == UInt8((Double($0) / 257).rounded()) })
    }

    @Test(
        "A profile may announce more names than there is memory for: LittleCMS takes no block above a limit",
        .capability("3.1"))
    func announcedNames() throws {
        guard let context = ColorContext() else { return _ = Issue.record("no memory") }
        #expect(_cmsMalloc(context.handle, 32 << 20 + 1) == nil)
        let memory = try #require(_cmsMalloc(context.handle, 16 << 20))
        #expect(_cmsRealloc(context.handle, memory, 32 << 20 + 1) == nil)
        _cmsFree(context.handle, memory)

        let wide = try ProfileSamples.wide()
        let names = try #require(wide.firstRange(of: Array("mluc".utf8)))
        var announcing = wide
        announcing.replaceSubrange(names.upperBound + 4..<names.upperBound + 8, with: [2, 0, 0, 0])
        #expect(ColorConversion.name(of: announcing) == "ICC profile")
        let colors = try [wide, announcing].map { profile in
            var pixel: SIMD4<UInt8> = [180, 100, 100, 255]
            let conversion = try #require(ColorConversion(profile: profile, source: .rgb))
            withUnsafeMutableBytes(of: &pixel) { if let base = $0.baseAddress { conversion.convert(base, count: 1) } }
            return pixel
        }
        #expect(colors[0] == colors[1])
    }

    @Test("The processing elements of a profile, which may be thousands, aren't used", .capability("3.1"))
    func processingElements() throws {
        let wide = try ProfileSamples.wide()
        let dark = try ProfileSamples.withProcessingElements(300)
        #expect(dark.ranges(of: Data("D2B1".utf8)).count == 1 && dark.withoutProcessingElements != dark)
        #expect(wide.withoutProcessingElements == wide)
        for count in [0, 100, 131, 140] { #expect(dark.prefix(count).withoutProcessingElements.count == count) }
        let colors = try [wide, dark].map { profile in
            var pixel: SIMD4<UInt8> = [180, 100, 100, 255]
            let conversion = try #require(ColorConversion(profile: profile, source: .rgb))
            withUnsafeMutableBytes(of: &pixel) { if let base = $0.baseAddress { conversion.convert(base, count: 1) } }
            return pixel
        }
        #expect(colors[0] == colors[1])
    }

    @Test("Damaged profiles never crash, and a conversion that one gives leaves alpha and the number of pixels")
    func damage() throws {
        var generator = SeededRandom(seed: 2)
        let profile = try ProfileSamples.wide()
        var row = (0...255).map { SIMD4<UInt8>(UInt8($0), UInt8(255 - $0), 255, 255) }
        var conversions = 0
        for _ in 0..<200 {
            let damaged = profile.damaged(3, using: &generator)
            if let conversion = ColorConversion(profile: damaged, source: .rgb) {
                conversions += 1
                // A pixel more than is converted shows whether the conversion keeps to its count.
                let last = row[255]
                row.withUnsafeMutableBytes { bytes in
                    if let base = bytes.baseAddress { conversion.convert(base, count: bytes.count / 4 - 1) }
                }
                #expect(row[255] == last && row.allSatisfy { $0.w == 255 })
            }
            #expect(ColorConversion.name(of: damaged) != "")
        }
        // Most damage leaves a profile that can be read, and some does not.
        #expect((1..<200).contains(conversions))
    }
}

@Suite("Premultiplied alpha", .timeLimited)
struct PremultiplicationTests {
    @Test("Multiplying is exact for every color and alpha")
    func premultiply() {
        var row: [SIMD4<UInt8>] = []
        for alpha in 0...255 { for color in 0...255 { row.append(SIMD4(UInt8(color), 0, 255, UInt8(alpha))) } }
        // One more than the loop takes at a time.
        row.append(SIMD4(200, 100, 255, 128))
        let straight = row
        row.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { Premultiplication.premultiply(base, count: straight.count) }
        }
        let isExact = zip(straight, row).allSatisfy { before, after in
            let alpha = Double(before.w)
            return after.x == UInt8((Double(before.x) * alpha / 255).rounded()) && after.z == before.w
                && after.y == UInt8((Double(before.y) * alpha / 255).rounded()) && after.w == before.w
        }
        #expect(isExact)
    }

    @Test("Dividing is exact for every premultiplied color, and multiplying gives it back")
    func unpremultiply() {
        var row: [SIMD4<UInt8>] = []
        for alpha in 0...255 { for color in 0...alpha { row.append(SIMD4(UInt8(color), 0, 0, UInt8(alpha))) } }
        var result = [SIMD4<UInt8>](repeating: .zero, count: row.count)
        row.withUnsafeBytes { source in
            result.withUnsafeMutableBytes { target in
                if let from = source.baseAddress, let to = target.baseAddress {
                    Premultiplication.unpremultiply(from, into: to, count: row.count)
                }
            }
        }
        let isExact = zip(row, result).allSatisfy { before, after in
            before.w == 0
                ? after == .zero
                : after.x == UInt8((Double(before.x) * 255 / Double(before.w)).rounded()) && after.w == before.w
        }
        #expect(isExact)
        result.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { Premultiplication.premultiply(base, count: row.count) }
        }
        #expect(result == row)
    }
}
