#if HEIF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("HEIF", .timeLimited)
struct HEIFCoderTests {
    let coder = HEIFCoder()

    private func encode(_ image: Image, quality: Double = 0.9) throws -> Data {
        try coder.encode(image, as: .heic, options: EncodeOptions(quality: quality))
    }

    @Test("The picture comes back closely, with its transparency, and quality costs bytes")
    func roundTrip() throws {
        let image = try RasterSamples.gradient(96, 64)
        let (low, high) = (try encode(image, quality: 0.2), try encode(image, quality: 0.95))
        #expect(low.count < high.count)
        let decoded = try coder.decode(high)
        #expect(decoded.format == .heic && !decoded.hasAlpha && decoded.size == image.size)
        #expect(RasterSamples.psnr(decoded.pixels, image.pixels) > 38)
        let faded = try coder.decode(
            try encode(try RasterSamples.image(64, 64, hasAlpha: true) { x, _ in x < 32 ? red : clear }))
        #expect(faded.hasAlpha && faded.pixels[60, 30].w < 10 && faded.pixels[4, 30].w > 245)
        var options = EncodeOptions(maximumBytes: .bytes((low.count + high.count) / 2))
        #expect(try coder.encode(image, as: .heic, options: options).count <= (low.count + high.count) / 2)
        options.maximumBytes = 50
        expectCode(.encodeFailed) { try coder.encode(image, as: .heic, options: options) }
    }

    @Test("A quality gives about the bytes that it does in JPEG, and 0 and 100 are the ends of libheif's own scale")
    func qualities() throws {
        let picture = try RasterSamples.gradient(256, 256)
        let (heic, jpeg) = (
            try encode(picture, quality: 0.85), try JPEGCoder().encode(picture, as: .jpeg, options: EncodeOptions())
        )
        #expect(heic.count < jpeg.count * 2)
        #expect(HEIFEncoder.coderQuality(0) == 0 && HEIFEncoder.coderQuality(100) == 100)
        for quality in 1...100 {
            #expect(HEIFEncoder.coderQuality(quality) >= HEIFEncoder.coderQuality(quality - 1))
        }
    }

    @Test("Lossless is the best that the encoder can do")
    func lossless() throws {
        let image = try RasterSamples.gradient(64, 64)
        var options = EncodeOptions()
        options.lossless = true
        let data = try coder.encode(image, as: .heic, options: options)
        #expect(RasterSamples.psnr(try coder.decode(data).pixels, image.pixels) > 45)
    }

    @Test("An image that is no larger than a thumbnail gets none", .capability("COD-26"))
    func smallWithThumbnail() throws {
        for (width, height) in [(64, 48), (320, 200), (200, 320), (320, 320), (1_920, 11), (640, 3), (3, 1_000)] {
            let image = try RasterSamples.gradient(width, height)
            var options = EncodeOptions()
            let plain = try coder.encode(image, as: .heic, options: options)
            options.embedsThumbnail = true
            #expect(try coder.encode(image, as: .heic, options: options).count == plain.count)
        }
    }

    @Test("A thin picture comes back with its transparency, although it is coded with a wide margin")
    func thinTransparency() throws {
        for (width, height) in [(2_000, 1), (1, 2_000), (4_000, 8)] {
            let image = try RasterSamples.image(width, height, hasAlpha: true) { _, _ in clear }
            let decoded = try coder.decode(try encode(image))
            #expect(decoded.size == image.size && decoded.hasAlpha)
        }
    }

    @Test("A picture that is too thin for the HEVC encoder is refused in words that say so")
    func tooThin() throws {
        let image = try RasterSamples.gradient(8_000, 4)
        let error = #expect(throws: ImageError.self) { try coder.encode(image, as: .heic, options: EncodeOptions()) }
        #expect(error?.code == .encodeFailed && error?.reason.contains("as thin as 8000x4") == true, "\(error as Any)")
    }

    @Test("The header can be read before the rest of the file is there")
    func headerOfBeginning() throws {
        let data = try encode(try RasterSamples.gradient(128, 64))
        let info = try coder.info(Data(data.prefix(data.count * 2 / 3)))
        #expect(info.size == PixelSize(width: 128, height: 64) && !info.isComplete && info.format == .heic)
        #expect(try coder.info(data).isComplete)
        expectCode(.truncatedImage) { try coder.info(Data(data.prefix(40))) }
    }

    @Test("An image without a width is refused by its header too")
    func emptySize() throws {
        var data = try encode(try RasterSamples.gradient(64, 64))
        let sizes = try #require(data.range(of: Data("ispe".utf8)))
        // Four bytes of version and flags, then the width.
        data.replaceSubrange(sizes.upperBound + 4..<sizes.upperBound + 8, with: [0, 0, 0, 0])
        expectCode(.corruptImage) { try coder.info(data) }
        expectCode(.corruptImage) { try coder.decode(data) }
    }

    @Test("Thumbnails fit the box")
    func thumbnails() throws {
        try TraitCoderChecks.expectThumbnails(coder, try encode(try RasterSamples.gradient(150, 90)))
    }

    @Test("Limits and cancellation are kept, and a file that is cut says so")
    func refusals() throws {
        let data = try encode(try RasterSamples.gradient(64, 64))
        TraitCoderChecks.expectLimits(coder, data)
        TraitCoderChecks.expectTruncation(coder, data)
    }

    @Test("Damage ends in an image or an error")
    func damage() throws {
        try coder.survives(damageTo: try encode(try RasterSamples.gradient(64, 64)), cases: 300, seed: 21)
    }

    @Test(
        "Nobody sees in a small thumbnail that the edges of blocks were not smoothed", arguments: [0.3, 0.6, 0.9],
        [false, true])
    func loopFilters(quality: Double, isDrawing: Bool) throws {
        let picture =
            isDrawing
            ? try RasterSamples.image(640, 480) { x, y in
                [UInt8(x * 3 & 255), UInt8((y * 5 + x) & 255), (x / 20 + y / 20) & 1 == 0 ? 40 : 220, 255]
            } : try RasterSamples.gradient(640, 480)
        let data = try coder.encode(picture, as: .heic, options: EncodeOptions(quality: quality))
        let whole = try coder.decode(data)
        func decibels(_ side: Int) throws -> Double {
            let small = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: side, height: side) }
            return RasterSamples.psnr(small.pixels, try whole.pixels.resized(to: small.size))
        }
        // The filters are left out from a seventh on: a picture that is a pixel larger than that is closer to the whole.
        let (tenth, seventh, larger) = (try decibels(64), try decibels(91), try decibels(92))
        #expect(tenth > 48 && seventh > 44, "\(tenth) and \(seventh)")
        #expect(seventh < larger - 3, "\(seventh) instead of \(larger)")
    }
}
#endif
