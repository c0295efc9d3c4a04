import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("Settings of WebP", .timeLimited)
struct WebPEncodeOptionsTests {
    /// A picture with something for every setting: smooth and noisy parts, edges, and perhaps transparency.
    private func picture(hasAlpha: Bool = false, side: Int = 128) throws -> Image {
        var generator = SeededRandom(seed: 29)
        return try RasterSamples.image(side, side, hasAlpha: hasAlpha) { x, y in
            let noise = UInt8.random(in: 0...60, using: &generator)
            let edge: UInt8 = (x / 16 + y / 16) % 2 == 0 ? 0 : 120
            let alpha = hasAlpha ? UInt8(60 + x * 37 % 150) : 255
            func component(_ value: UInt8) -> UInt8 { UInt8(Int(value) * Int(alpha) / 255) }
            return SIMD4(
                component(edge &+ noise), component(UInt8(x * 255 / side)), component(UInt8(y * 255 / side)), alpha)
        }
    }

    private func file(
        _ image: Image, _ change: (inout WebPEncodeOptions) -> Void, lossless: Bool = false
    ) throws -> Data {
        try WritableFormats.encode(image, as: .webp) {
            $0.lossless = lossless
            $0.quality = 0.6
            change(&$0.webp)
        }
    }

    struct Knob: Sendable, CustomTestStringConvertible {
        let name: String
        var lossless = false
        var hasAlpha = false
        var base: @Sendable (inout WebPEncodeOptions) -> Void = { _ in }
        let change: @Sendable (inout WebPEncodeOptions) -> Void
        var testDescription: String { name }
    }

    static let knobs: [Knob] = [
        Knob(name: "method") { $0.method = 0 },
        Knob(name: "pass", base: { $0.targetPSNR = 34 }) { $0.passes = 1 },
        Knob(name: "preprocessing: segment smoothing", base: { $0.method = 6 }) {
            $0.preprocessing = 1
        },
        Knob(name: "preprocessing: dithering") { $0.preprocessing = 2 },
        Knob(name: "targetPSNR") { $0.targetPSNR = 45 },
        Knob(name: "segments") { $0.segments = 1 },
        Knob(name: "snsStrength") { $0.snsStrength = 100 },
        Knob(name: "filterStrength") { $0.filterStrength = 0 },
        Knob(name: "filterSharpness") { $0.filterSharpness = 7 },
        Knob(name: "filterType") { $0.usesStrongFilter = false },
        Knob(name: "autofilter") { $0.autoFilter = true },
        Knob(name: "alphaCompression", hasAlpha: true) { $0.compressesAlpha = false },
        Knob(name: "alphaFiltering", hasAlpha: true, base: { $0.method = 0 }) { $0.alphaFiltering = 0 },
        Knob(name: "alphaQuality", hasAlpha: true) { $0.alphaQuality = 10 },
        Knob(name: "partitions", base: { $0.method = 1 }) { $0.partitions = 3 },
        Knob(name: "useSharpYUV") { $0.usesSharpYUV = true },
        Knob(name: "preset: text") { $0.preset = .text },
        Knob(name: "preset: photo") { $0.preset = .photo },
        Knob(name: "preset: picture") { $0.preset = .picture },
        Knob(name: "preset: drawing") { $0.preset = .drawing },
        Knob(name: "preset: icon") { $0.preset = .icon },
        Knob(name: "lossless effort", lossless: true) { $0.losslessEffort = 0 },
        Knob(name: "lossless method", lossless: true) { $0.method = 0 },
        Knob(name: "nearLossless", lossless: true) { $0.nearLossless = 20 },
    ]

    @Test(
        "A setting reaches libwebp: the file is another, and the picture still the same", .capability("PLG-01"),
        arguments: knobs)
    func knob(_ knob: Knob) throws {
        let image = try picture(hasAlpha: knob.hasAlpha)
        let plain = try file(image, knob.base, lossless: knob.lossless)
        let changed = try file(
            image,
            {
                knob.base(&$0)
                knob.change(&$0)
            }, lossless: knob.lossless)
        #expect(changed != plain)
        #expect(RasterSamples.psnr(try WritableFormats.decode(changed).pixels, image.pixels) > 20)
    }

    @Test("Settings of work keep the picture", .capability("PLG-01"))
    func work() throws {
        let image = try picture(hasAlpha: true)
        let changes: [(inout WebPEncodeOptions) -> Void] = [
            { $0.usesThreads = true }, { $0.savesMemory = true }, { $0.showsCompressed = true },
            { $0.partitionLimit = 50 },
        ]
        for change in changes {
            #expect(RasterSamples.psnr(try WritableFormats.decode(file(image, change)).pixels, image.pixels) > 20)
        }
    }

    @Test("targetPSNR decides the quality, unless the limit of bytes would not be kept", .capability("PLG-01"))
    func target() throws {
        let image = try picture()
        func psnr(_ data: Data) throws -> Double {
            RasterSamples.psnr(try WritableFormats.decode(data).pixels, image.pixels)
        }
        let low = try file(image) { $0.targetPSNR = 28 }
        let high = try file(image) { $0.targetPSNR = 42 }
        #expect(try psnr(low) + 2 < psnr(high) && low.count < high.count)
        let limited = try WritableFormats.encode(image, as: .webp) {
            $0.webp.targetPSNR = 42
            $0.maximumBytes = .bytes(low.count)
        }
        #expect(limited.count <= low.count)
    }

    @Test("Settings of animations", .capability("PLG-01"))
    func animation() throws {
        let frames = try (0..<6).map { index in
            ImageFrame(
                pixels: try RasterSamples.pixels(48, 48) { x, y in
                    SIMD4(UInt8((x * 5 + index * 20) & 0xFF), UInt8((y * 5) & 0xFF), UInt8((x * y) & 0xFF), 255)
                }, duration: .milliseconds(40))
        }
        var properties = Image.Properties()
        properties.hasAlpha = false
        let image = try #require(Image(frames: frames, properties: properties))
        let plain = try file(image) { _ in }
        for change: (inout WebPEncodeOptions) -> Void in [
            { $0.minimizesAnimation = true }, { $0.mixesCompression = true }, { $0.keyframeDistance = 0...1 },
        ] {
            let data = try file(image, change)
            let result = try WritableFormats.decode(data)
            #expect(result.frames.count == 6 && RasterSamples.psnr(result.pixels, image.pixels) > 20)
        }
        #expect(try file(image) { $0.keyframeDistance = 0...1 } != plain)
    }

    static let wrong: [Knob] = [
        Knob(name: "webp.method") { $0.method = 7 }, Knob(name: "webp.passes") { $0.passes = 0 },
        Knob(name: "webp.targetPSNR") { $0.targetPSNR = .nan }, Knob(name: "webp.targetPSNR") { $0.targetPSNR = -1 },
        Knob(name: "webp.segments") { $0.segments = 5 }, Knob(name: "webp.snsStrength") { $0.snsStrength = 101 },
        Knob(name: "webp.filterStrength") { $0.filterStrength = -1 },
        Knob(name: "webp.filterSharpness") { $0.filterSharpness = 8 },
        Knob(name: "webp.alphaQuality") { $0.alphaQuality = 101 }, Knob(name: "webp.partitions") { $0.partitions = 4 },
        Knob(name: "webp.partitionLimit") { $0.partitionLimit = 101 },
        Knob(name: "webp.nearLossless") { $0.nearLossless = -1 },
        Knob(name: "webp.losslessEffort", lossless: true) { $0.losslessEffort = 10 },
        Knob(name: "webp.preprocessing") { $0.preprocessing = 3 },
        Knob(name: "webp.alphaFiltering") { $0.alphaFiltering = -1 },
        Knob(name: "webp.method") { $0.method = .max },
    ]

    @Test("A setting out of its range is refused by name", .capability("PLG-01"), arguments: wrong)
    func range(_ knob: Knob) throws {
        do {
            _ = try file(try picture(side: 16), knob.change, lossless: knob.lossless)
            Issue.record("\(knob.name) was taken")
        } catch let error as ImageError {
            #expect(error.code == .encodeFailed && error.reason.contains(knob.name))
        }
    }
}
