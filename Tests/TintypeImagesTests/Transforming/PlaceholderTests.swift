import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Placeholders", .timeLimited)
struct PlaceholderTests {
    /// A picture of waves in 8 bits, as `scripts/lib/placeholder_references.py` draws it.
    private func picture(_ width: Int, _ height: Int) throws -> Image {
        var pixels = try MutablePixelBuffer(size: PixelSize(width: width, height: height))
        let bytesPerRow = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    let values = [x * 7 + y * 3, x * x / 4 + y * 5, x * 2 + y * y / 3, 255]
                    for (index, value) in values.enumerated() {
                        bytes[y * bytesPerRow + x * 4 + index] = UInt8(truncatingIfNeeded: value)
                    }
                }
            }
        }
        return Image(pixels: pixels.freeze()).with { $0.hasAlpha = false }
    }

    // MARK: BlurHash

    /// The hashes were made by the reference implementation in C of the algorithm's authors.
    @Test(
        "A BlurHash equals that of the reference implementation",
        arguments: [
            (40, 30, "LdG+BgID0,,sm%EMwMy6j:W@t5R-"), (31, 47, "LQH_uc6x5nxGQk4a=bk*I+xCyRD."),
            (90, 12, "LXGSACVBD@VaxUWEV_WWjcaybGbG"), (16, 100, "LdGlhbt7jItQVFI;SyWC1?R*wKWV"),
            (1, 1, "L00000fQfQfQfQfQfQfQfQfQfQfQ"),
        ])
    func blurHash(width: Int, height: Int, expected: String) throws {
        let hash = try BlurHash(try picture(width, height))
        #expect(hash.string == expected)
        #expect(try BlurHash(expected) == hash)
        #expect(hash.xComponents == 4 && hash.yComponents == 3)
    }

    @Test("81 components, one component, and other formats")
    func blurHashComponents() throws {
        let image = try picture(90, 12)
        let all = try BlurHash(image, xComponents: 9, yComponents: 9)
        #expect(all.string.hasPrefix("|dGSACVCEAVa1Ni|=bTGxpxUWEWEWWSgxEj@X6WDjbay"))
        #expect(all.string.utf8.count == 166)
        let one = try BlurHash(image, xComponents: 1, yComponents: 1)
        #expect(one.string == "00" + all.string.dropFirst(2).prefix(4))
        let color = one.averageColor
        let drawn = try one.image(size: PixelSize(width: 3, height: 2))
        #expect(drawn.color(x: 2, y: 1)?.hex == color.hex)
        let deep = Image(pixels: try image.pixels.converted(to: .rgba16))
        #expect(try BlurHash(deep) == BlurHash(image))
    }

    /// The colors are those that the reference implementation in C draws.
    @Test("A BlurHash is drawn as by the reference implementation")
    func blurHashPictures() throws {
        let vectors: [(String, [(x: Int, y: Int, color: [Int])])] = [
            (
                "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
                [
                    (0, 0, [135, 164, 177]), (15, 0, [138, 166, 181]), (7, 6, [157, 124, 110]),
                    (15, 11, [134, 142, 147]),
                ]
            ),
            (
                "LlMF%n00%#MwS|WCWEM{R*bbWBbH",
                [(0, 0, [91, 67, 0]), (15, 0, [246, 241, 234]), (7, 6, [178, 110, 92]), (0, 11, [158, 112, 66])]
            ),
        ]
        for (string, colors) in vectors {
            let image = try BlurHash(string).image(size: PixelSize(width: 16, height: 12))
            #expect(!image.hasAlpha)
            for (x, y, color) in colors {
                let pixel = image.pixels[x, y]
                for index in 0..<3 { #expect(abs(Int(pixel[index]) - color[index]) <= 1, "\(string) \(x) \(y)") }
            }
        }
        let strong = try BlurHash(vectors[0].0).image(size: PixelSize(width: 16, height: 12), punch: 2)
        let flat = try BlurHash(vectors[0].0).image(size: PixelSize(width: 16, height: 12), punch: 0)
        #expect(flat.pixels[0, 0] == flat.pixels[15, 11] && strong.pixels[7, 6] != flat.pixels[7, 6])
    }

    @Test(
        "Malformed hashes are errors",
        arguments: [
            "", "L", "LEHV6", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnjx",
            "LEHV6nWB2yk8pyo0adR*.7kCMdn\"",
            "~~~~~~", "00~~~~", "1000" + "00~~", String(repeating: "0", count: 10_000), "LEHV6nWB2yk8pyo0adR*.7kCMdnä",
        ])
    func malformedBlurHash(string: String) {
        do {
            _ = try BlurHash(string)
            Issue.record("\(string.prefix(40)) has to fail")
        } catch {
            #expect(error.code == .corruptImage)
        }
    }

    @Test("Impossible sizes and counts are errors")
    func hashParameters() throws {
        let image = try picture(4, 4)
        #expect(throws: ImageError.self) { try BlurHash(image, xComponents: 0) }
        #expect(throws: ImageError.self) { try BlurHash(image, yComponents: 10) }
        let hash = try BlurHash(image)
        for size in [PixelSize.zero, PixelSize(width: .max, height: 1), PixelSize(width: 1, height: .min)] {
            #expect(throws: ImageError.self) { try hash.image(size: size) }
        }
        #expect(throws: ImageError.self) { try hash.image(size: PixelSize(width: 1, height: 1), punch: .nan) }
        #expect(throws: ImageError.self) { try image.dominantColors(count: 0) }
        #expect(throws: ImageError.self) { try image.dominantColors(count: .max) }
    }

    // MARK: ThumbHash

    @Test(
        "A ThumbHash equals that of an independent implementation",
        arguments: [
            (40, 30, "nAgKNYoDmIUxp4WFead3dQd9rMCG"), (31, 47, "nwgKJQg1dwGZNrdVaIiIdygOPNB3"),
            (90, 12, "XAgKOYZAJbV2d4eHT3n3l4g="), (16, 100, "XugJCQ52VBeGkIV4Zw91yAY="),
        ])
    func thumbHash(width: Int, height: Int, expected: String) throws {
        let hash = try ThumbHash(try picture(width, height))
        #expect(hash.base64 == expected)
        #expect(try ThumbHash(base64: expected) == hash)
        #expect(!hash.hasAlpha)
        #expect((hash.aspectRatio > 1) == (width > height))
    }

    @Test("A ThumbHash is drawn as by an independent implementation")
    func thumbHashPictures() throws {
        let vectors: [(String, PixelSize, [[Float]])] = [
            (
                "3OcRJYB4d3h/iIeHeEh3eIhw+j2w", PixelSize(width: 32, height: 23),
                [[0.4895, 0.5371, 0.6245], [0.3481, 0.3958, 0.4408], [0.3991, 0.4468, 0.2222]]
            ),
            (
                "1QcSHQRnh493V4dIh4eXh1h4kJUI", PixelSize(width: 23, height: 32),
                [[0.2528, 0.3051, 0.4447], [0.3382, 0.2859, 0.2575], [0, 0.0369, 0.122]]
            ),
            (
                "XAgKOYZAJbV2d4eHT3n3l4g=", PixelSize(width: 32, height: 5),
                [[0.24, 0.0765, 0], [0.3639, 0.4827, 0.7636], [0.6504, 0.5897, 0.4273]]
            ),
        ]
        for (string, size, colors) in vectors {
            let image = try ThumbHash(base64: string).image()
            #expect(image.size == size)
            let places = [(0, 0), (size.width - 1, size.height / 2), (size.width / 3, size.height - 1)]
            for (place, color) in zip(places, colors) {
                let pixel = image.pixels.component(x: place.0, y: place.1)
                for index in 0..<3 { #expect(abs(pixel[index] - color[index]) < 0.004, "\(string) \(place)") }
            }
        }
    }

    @Test("A ThumbHash keeps alpha and the average color")
    func thumbHashAlpha() throws {
        let slope = try Image.of(
            Grid(width: 40, height: 30) { x, y in x < 13 + y * y / 40 ? SIMD4(0.8, 0.4, 0.2, 1) : .zero })
        let hash = try ThumbHash(slope)
        #expect(hash.base64 == "HcuCBIBHAAAAAAAAAAAAAADweFeoh3eHCA==")
        #expect(hash.hasAlpha)
        let image = try hash.image()
        #expect(image.size == PixelSize(width: 32, height: 26) && image.hasAlpha)
        #expect(abs(image.pixels.component(x: 31, y: 0).w - 0) < 0.004)
        let average = hash.averageColor
        #expect(abs(average.red - 0.8) < 0.03 && abs(average.green - 0.4) < 0.03 && abs(average.alpha - 0.44) < 0.05)
    }

    @Test("Malformed ThumbHashes are errors")
    func malformedThumbHash() throws {
        let good = try ThumbHash(base64: "3OcRJYB4d3h/iIeHeEh3eIhw+j2w").bytes
        for count in 0..<good.count {
            #expect(throws: ImageError.self) { try ThumbHash(bytes: good.prefix(count)) }
        }
        #expect(throws: ImageError.self) { try ThumbHash(bytes: good + [0]) }
        for string in ["", "!!!!", "3OcR", String(repeating: "A", count: 100_000)] {
            #expect(throws: ImageError.self) { try ThumbHash(base64: string) }
        }
        // A header without components of the shorter side.
        #expect(throws: ImageError.self) { try ThumbHash(bytes: Data(repeating: 0, count: 21)) }
        // Any bytes of the right length are drawn.
        var state: UInt64 = 3
        for _ in 0..<200 {
            var bytes = good
            for index in bytes.indices {
                state = state &* 6_364_136_223_846_793_005 &+ 1
                bytes[index] = UInt8(truncatingIfNeeded: state >> 40)
            }
            for count in 5...40 {
                guard let hash = try? ThumbHash(bytes: bytes.prefix(count)) else { continue }
                let image = try hash.image()
                #expect(max(image.size.width, image.size.height) == 32)
            }
        }
    }
}
