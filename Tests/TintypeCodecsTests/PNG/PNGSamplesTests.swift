import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("PNG of gray and of few colors", .timeLimited)
struct PNGSamplesTests {
    let coder = PNGCoder()

    /// Color type and bits of a sample, as the header has them.
    private func kind(_ file: Data) -> [UInt8] { [file[file.startIndex + 25], file[file.startIndex + 24]] }

    private func encode(_ image: Image, isInterlaced: Bool = false) throws -> Data {
        try coder.encode(image, as: .png, options: EncodeOptions(progressive: isInterlaced))
    }

    /// A picture of colors in any order, each of which it has if it is as wide.
    private func picture(
        _ width: Int, _ height: Int, _ colors: [SIMD4<UInt8>], hasAlpha: Bool, seed: UInt64 = 1
    ) throws -> Image {
        var generator = SeededRandom(seed: seed)
        return try RasterSamples.image(width, height, hasAlpha: hasAlpha) { x, y in
            y == 0 && x < colors.count ? colors[x] : colors[Int.random(in: 0..<colors.count, using: &generator)]
        }
    }

    private func grays(_ levels: some Sequence<Int>) -> [SIMD4<UInt8>] {
        levels.map { level -> SIMD4<UInt8> in SIMD4<UInt8>(SIMD3<UInt8>(repeating: UInt8(level)), 255) }
    }

    private func colors(_ count: Int) -> [SIMD4<UInt8>] {
        (0..<count).map { index -> SIMD4<UInt8> in
            let (red, green, blue) = (UInt8(index / 2), UInt8(255 - index / 3), UInt8(index % 2))
            return SIMD4<UInt8>(red, green, blue, 255)
        }
    }

    @Test(
        "Few colors come back exactly, of every width, and never take more bytes than all components",
        .capability("COD-50"), arguments: [false, true], [false, true])
    func exact(hasAlpha: Bool, isGray: Bool) throws {
        var generator = SeededRandom(seed: hasAlpha ? 7 : 8)
        for width in 1...20 {
            for count in [1, 2, 3, 4, 5, 16, 17, 256, 400] {
                let source = try RasterSamples.translucentNoise(count, 1, seed: UInt64(width * 1_000 + count))
                let palette = (0..<count).map { index -> SIMD4<UInt8> in
                    var color = source[index, 0]
                    if !hasAlpha { color.w = 255 }
                    if isGray { (color.x, color.z) = (color.y, color.y) }
                    return color
                }
                let height = Int.random(in: 1...20, using: &generator)
                let image = try picture(width, height, palette, hasAlpha: hasAlpha, seed: generator.next())
                // One transparent pixel is gray, too.
                let isAllGray = image.pixels.isGray
                for isInterlaced in [false, true] {
                    let name: Comment = "\(width)×\(height), \(count) colors, interlaced: \(isInterlaced)"
                    let file = try encode(image, isInterlaced: isInterlaced)
                    let decoded = try coder.decode(file)
                    #expect(decoded.pixels == image.pixels && decoded.hasAlpha == hasAlpha, name)
                    let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
                    try decoder.append(file)
                    #expect(try decoder.finish().pixels == image.pixels, name)
                    let components = PNGPicture(
                        pixels: image.pixels, area: .init(size: image.size),
                        samples: PNGSamples(.rgba8, hasAlpha: hasAlpha, isGray: isAllGray), isSRGB: true,
                        isInterlaced: isInterlaced, compressionLevel: 6, filter: .adaptive, context: ProcessingContext()
                    )
                    #expect(try file.count <= components.file().count, name)
                    let color: UInt8 = (isAllGray ? 0 : 2) + (hasAlpha ? 4 : 0)
                    let written = kind(file)
                    let isExpected = written[0] == 3 || written == [color, 8] || isAllGray && written[0] == 0
                    #expect(isExpected, name)
                }
            }
        }
    }

    @Test("A picture has as few bits as its colors and grays need", .capability("COD-50"))
    func kinds() throws {
        let sixteen = grays((0..<16).map { $0 * 17 })
        let spotted = grays(0..<256) + [red]
        let cases: [([SIMD4<UInt8>], [UInt8])] = [
            (grays([0, 255]), [0, 1]), (grays([255]), [0, 1]), (grays([0, 85, 255]), [0, 2]),
            (sixteen, [0, 4]), (grays([0, 100]), [3, 1]), (grays([1, 2, 3]), [3, 2]),
            (grays([0, 1, 2, 3, 255]), [3, 4]), (grays(0..<17), [0, 8]), (grays(0..<256), [0, 8]),
            (colors(2), [3, 1]), (colors(3), [3, 2]), (colors(4), [3, 2]), (colors(5), [3, 4]), (colors(16), [3, 4]),
            (colors(17), [3, 8]), (colors(256), [3, 8]), (colors(257), [2, 8]), (spotted, [2, 8]),
        ]
        for (palette, expected) in cases {
            let image = try picture(300, 240, palette, hasAlpha: false)
            for isInterlaced in [false, true] {
                let file = try encode(image, isInterlaced: isInterlaced)
                #expect(kind(file) == expected, "\(palette.count) colors from \(palette[0])")
                #expect(try coder.decode(file).pixels == image.pixels)
            }
        }
        #expect(try kind(encode(RasterSamples.gradient(300, 240))) == [2, 8])
        #expect(try kind(encode(RasterSamples.translucent(300, 240))) == [6, 8])
        // Alpha that an image has stays, also if every pixel is opaque.
        for (palette, expected) in [(colors(2), 1), (colors(2) + [clear], 2)] as [([SIMD4<UInt8>], UInt8)] {
            let image = try picture(300, 240, palette, hasAlpha: true)
            let file = try encode(image)
            #expect(kind(file) == [3, expected])
            let decoded = try coder.decode(file)
            #expect(decoded.hasAlpha && decoded.pixels == image.pixels)
        }
        let veils = try RasterSamples.image(300, 240, hasAlpha: true) { x, y in
            let alpha = UInt8(min(255, x))
            return SIMD4(SIMD3(repeating: UInt8(y) < alpha ? UInt8(y) : alpha), alpha)
        }
        #expect(try kind(encode(veils)) == [4, 8])
        #expect(try coder.decode(encode(veils)).pixels == veils.pixels)
    }

    @Test(
        "Gray of 16 bits comes back exactly, with alpha and without", .capability("COD-50"), arguments: [false, true],
        [false, true])
    func deepGray(hasAlpha: Bool, isInterlaced: Bool) throws {
        for width in 1...20 {
            let noise = try DeepSamples.noise(width, 9, hasAlpha: hasAlpha, seed: UInt64(width)).pixels
            let pixels = try DeepSamples.pixels(width, 9) { x, y in
                let pixel = DeepSamples.words(noise, x, y)
                return SIMD4(SIMD3(repeating: pixel.y), pixel.w)
            }
            let file = try encode(DeepSamples.image(pixels, hasAlpha: hasAlpha), isInterlaced: isInterlaced)
            #expect(kind(file) == [hasAlpha ? 4 : 0, 16])
            let decoded = try coder.decode(file) { $0.decodeToHDR = true }
            #expect(decoded.pixels == pixels && decoded.hasAlpha == hasAlpha)
        }
        let color = try DeepSamples.noise(20, 9, hasAlpha: hasAlpha, seed: 3)
        #expect(try kind(encode(color, isInterlaced: isInterlaced)) == [hasAlpha ? 6 : 2, 16])
    }

    @Test("Pixels with a profile of three components aren't written as gray; a palette keeps the profile")
    func profile() throws {
        let profile = try ProfileSamples.wide()
        for (palette, expected) in [
            (grays(0..<256), [3, 8]), (grays([0, 255]), [3, 1]), (colors(9), [3, 4]), (colors(300), [2, 8]),
        ] as [([SIMD4<UInt8>], [UInt8])] {
            let image = try picture(301, 240, palette, hasAlpha: false).with {
                $0.colorSpace = ColorSpace(name: "wide", profile: profile)
            }
            let file = try encode(image)
            #expect(kind(file) == expected)
            let kept = try coder.decode(file) { $0.keepsColorSpace = true }
            #expect(kept.pixels == image.pixels && kept.colorSpace.profile == profile)
        }
        let deep = try DeepSamples.pixels(8, 8) { x, y in SIMD4(SIMD3(repeating: UInt16(x * 900 + y)), 65_535) }
        let image = DeepSamples.image(deep, hasAlpha: false).with {
            $0.colorSpace = ColorSpace(name: "wide", profile: profile)
        }
        #expect(try kind(encode(image)) == [2, 16])
    }

    @Test("Exif and XMP stand beside gray and palettes", arguments: [false, true])
    func metadata(isInterlaced: Bool) throws {
        let metadata = ImageMetadata(exif: HandmadeExif().data, xmp: HandmadeExif.xmp())
        for palette in [grays(0..<256), grays([0, 255]), colors(9)] {
            let image = try picture(300, 240, palette, hasAlpha: false).with { $0.metadata = metadata }
            var options = EncodeOptions(progressive: isInterlaced)
            options.keepsMetadata = true
            let decoded = try coder.decode(coder.encode(image, as: .png, options: options))
            #expect(decoded.pixels == image.pixels && decoded.metadata.xmp == metadata.xmp)
            #expect(decoded.metadata.exif != nil)
        }
    }

    @Test("Animations are written in color; their first frame alone isn't")
    func animations() throws {
        let frames = try [0, 255].map { level in
            ImageFrame(
                pixels: try RasterSamples.pixels(16, 12) { x, _ in x < 8 ? white : grays([level])[0] },
                duration: .milliseconds(50))
        }
        let image = try #require(Image(frames: frames)).with { $0.hasAlpha = false }
        let file = try encode(image)
        #expect(kind(file) == [2, 8])
        #expect(try coder.decode(file).frames == frames)
        let first = try coder.encode(image, as: .png, options: EncodeOptions(firstFrameOnly: true))
        #expect(kind(first)[0] == 0)
        #expect(try coder.decode(first).pixels == frames[0].pixels)
    }
}
