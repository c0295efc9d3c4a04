import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs
import TintypeTesting

@Suite("PNG decoding", .timeLimited)
struct PNGDecodeTests {
    let coder = PNGCoder()
    let context = ProcessingContext()

    private func decode(_ data: Data, _ options: DecodeOptions = DecodeOptions()) throws -> Image {
        try coder.decode(data, options: options, context: context)
    }

    @Test("16 bits are rounded to the nearest of 8", .capability("COD-52"))
    func sixteenBits() throws {
        let values: [UInt16] = [0, 127, 128, 129, 385, 386, 32_767, 32_768, 65_407, 65_535]
        let file = HandmadePNG(
            width: values.count, height: 1, bitDepth: 16, colorType: 0,
            rows: [values.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }])
        let image = try decode(file.data)
        for (x, value) in values.enumerated() {
            let wanted = UInt8((Double(value) * 255 / 65_535).rounded())
            #expect(image.pixels[x, 0] == SIMD4(wanted, wanted, wanted, 255))
        }
        #expect(image.properties.bitsPerComponent == 16)
        #expect(!image.hasAlpha)
    }

    @Test("A palette with transparency gives premultiplied colors", .capability("COD-50"))
    func palette() throws {
        let file = HandmadePNG(
            width: 4, height: 1, bitDepth: 2, colorType: 3,
            chunks: [
                ("PLTE", [255, 0, 0, 0, 255, 0, 0, 0, 255, 200, 100, 50]), ("tRNS", [255, 128, 0]),
            ], rows: [[0b00_01_10_11]])
        let image = try decode(file.data)
        #expect(image.pixels[0, 0] == RasterSamples.red)
        #expect(image.pixels[1, 0] == SIMD4(0, 128, 0, 128))
        #expect(image.pixels[2, 0] == RasterSamples.clear)
        #expect(image.pixels[3, 0] == SIMD4(200, 100, 50, 255))
        #expect(image.hasAlpha)
        #expect(image.properties.bitsPerComponent == 8)
    }

    @Test(
        "A window that is stated too small for the distances of the file doesn't matter", arguments: [0x08, 0x18, 0x38])
    func smallWindow(method: Int) throws {
        // Rows that repeat after sixteen others.
        var generator = SeededRandom(seed: 7)
        let noise = (0..<64 * 16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let image = try makeImage(
            RasterSamples.pixels(64, 64) { x, y in
                SIMD4(noise[x + 64 * (y % 16)], 0, noise[x + 64 * (y % 16)], 255)
            }, hasAlpha: false)
        let file = try coder.encode(image, as: .png)
        let place = try #require(file.range(of: Data("IDAT".utf8))).upperBound
        let length = try #require(file.withUnsafeBytes { $0.bigEndian32(at: place - 8) })
        var contents = [UInt8](file[place..<place + length])
        contents[0] = UInt8(method)
        contents[1] = UInt8(31 - method * 256 % 31)
        let odd = file[..<(place - 8)] + HandmadePNG.chunk("IDAT", contents) + file[(place + contents.count + 4)...]
        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        try decoder.append(odd)
        for decoded in [try coder.decode(odd), try decoder.finish()] { #expect(decoded.pixels == image.pixels) }
    }

    @Test("Gray of 1 to 8 bits covers the whole range", arguments: [1, 2, 4, 8])
    func gray(bits: Int) throws {
        let high = UInt8(truncatingIfNeeded: (1 << bits) - 1) << UInt8(8 - bits)
        let file = HandmadePNG(width: 1, height: 2, bitDepth: UInt8(bits), colorType: 0, rows: [[high], [0]])
        let image = try decode(file.data)
        #expect(image.pixels[0, 0] == RasterSamples.white)
        #expect(image.pixels[0, 1] == SIMD4(0, 0, 0, 255))
    }

    @Test("Gray with alpha, and one transparent gray")
    func grayAlpha() throws {
        let alpha = HandmadePNG(width: 2, height: 1, colorType: 4, rows: [[200, 128, 50, 255]])
        #expect(try decode(alpha.data).pixels[0, 0] == SIMD4(100, 100, 100, 128))
        let key = HandmadePNG(
            width: 2, height: 1, colorType: 0, chunks: [("tRNS", [0, 200])], rows: [[200, 50]])
        let image = try decode(key.data)
        #expect(image.pixels[0, 0] == RasterSamples.clear)
        #expect(image.pixels[1, 0] == SIMD4(50, 50, 50, 255))
        #expect(image.hasAlpha)
    }

    @Test(
        "Each eXIf orientation is turned upright, wherever the chunk stands", .capability("COD-31"),
        arguments: Orientation.allCases)
    func orientation(_ orientation: Orientation) throws {
        let source = try RasterSamples.quarters(6, 4)
        let rows = (0..<4).map { y in (0..<6).flatMap { x in (0..<3).map { source.pixels[x, y][$0] } } }
        let chunk = ("eXIf", RasterSamples.exif(orientation.rawValue, littleEndian: true))
        let before = HandmadePNG(width: 6, height: 4, colorType: 2, chunks: [chunk], rows: rows)
        let behind = HandmadePNG(width: 6, height: 4, colorType: 2, rows: rows, trailing: [chunk])
        for file in [before, behind] {
            let image = try decode(file.data)
            #expect(image.size == orientation.display(source.size))
            #expect(RasterSamples.corners(image.pixels) == RasterSamples.upright[orientation])
        }
    }

    @Test("A thumbnail of an interlaced file is that of the plain one")
    func interlacedThumbnail() throws {
        let source = try RasterSamples.translucent(60, 44)
        var encoding = EncodeOptions()
        let plain = try coder.encode(source, as: .png, options: encoding)
        encoding.progressive = true
        let interlaced = try coder.encode(source, as: .png, options: encoding)
        #expect(try decode(interlaced).pixels == source.pixels)
        let options = DecodeOptions(thumbnailSize: PixelSize(width: 20, height: 20))
        let thumbnail = try decode(interlaced, options)
        #expect(thumbnail.size == PixelSize(width: 20, height: 15))
        #expect(try decode(plain, options).pixels == thumbnail.pixels)
    }

    @Test(
        "A file that is cut is an error, or its part that is there, marked as partial", .capability("3.8"),
        arguments: [true, false])
    func truncated(interlaced: Bool) throws {
        var encoding = EncodeOptions()
        encoding.progressive = interlaced
        let source = try RasterSamples.gradient(90, 90)
        let data = try coder.encode(source, as: .png, options: encoding)
        var partial = DecodeOptions()
        partial.allowsPartialImage = true
        for tenth in 0..<10 {
            let cut = Data(data.prefix(data.count * tenth / 10))
            expectCode(.truncatedImage) { try decode(cut) }
            guard tenth >= 4 else { continue }
            let image = try decode(cut, partial)
            #expect(image.isPartial)
            #expect(image.pixels[3, 3].w == 255)
            if !interlaced {
                #expect(image.pixels[3, 3] == source.pixels[3, 3])
                #expect(image.pixels[3, 89] == RasterSamples.clear)
                #expect(image.hasAlpha)
            }
        }
    }

    @Test("A wrong checksum is damage in a critical chunk, and passed over in an ancillary one")
    func checksums() throws {
        let file = HandmadePNG(
            width: 2, height: 1, colorType: 0, chunks: [("gAMA", [0, 0, 0xB1, 0x8F])], rows: [[10, 20]])
        func breaking(_ type: String) throws -> Data {
            var data = file.data
            let chunk = try #require(data.firstRange(of: Array(type.utf8)))
            let length = Int(data[chunk.lowerBound - 1])
            data[chunk.upperBound + length] ^= 1
            return data
        }
        expectCode(.corruptImage) { try decode(breaking("IDAT")) }
        expectCode(.corruptImage) { try decode(breaking("IHDR")) }
        #expect(try decode(breaking("gAMA")).pixels[1, 0] == SIMD4(20, 20, 20, 255))
    }

    @Test("A size over the limit is refused before memory is taken", .capability("3.1"))
    func limits() throws {
        let file = HandmadePNG(width: 2_000_000_000, height: 2_000_000_000, colorType: 6, rows: [[0]])
        let pool = PixelBufferPool(limit: 0)
        expectCode(.limitExceeded) {
            try coder.decode(file.data, options: DecodeOptions(), context: ProcessingContext(pool: pool))
        }
        #expect(pool.statistics.allocated == 0)
        expectCode(.corruptImage) {
            try decode(HandmadePNG(width: 0, height: 1, colorType: 6, rows: [[0]]).data)
        }
    }

    @Test("An interlaced image counts with its full bitmap, even for a thumbnail")
    func interlacedLimit() throws {
        var encoding = EncodeOptions()
        encoding.progressive = true
        let data = try coder.encode(RasterSamples.gradient(64, 64), as: .png, options: encoding)
        var limits = DecodeLimits()
        limits.maximumBytes = 10_000
        expectCode(.limitExceeded) {
            try coder.decode(
                data, options: DecodeOptions(thumbnailSize: PixelSize(width: 8, height: 8)),
                context: ProcessingContext(limits: limits))
        }
    }

    @Test("Damaged bytes give the image that the header describes, or an error of the format", .capability("3.8"))
    func damage() throws {
        var generator = SeededRandom(seed: 5)
        let still = try coder.encode(RasterSamples.translucent(24, 20), as: .png, options: EncodeOptions())
        let moving = HandmadeAnimation(frames: [
            .init(color: RasterSamples.red, width: 4, height: 4, disposal: 2),
            .init(color: RasterSamples.blue, x: 1, y: 1, width: 2, height: 2, disposal: 1, blend: 1),
        ]).data
        var context = context
        context.limits.maximumPixels = 1 << 20
        var options = DecodeOptions()
        var outcomes: [ImageError.Code: Int] = [:]
        var readable = 0
        for round in 0..<300 {
            let data = (round % 2 == 0 ? still : moving).damaged(1 + round % 4, from: 8, using: &generator)
            options.allowsPartialImage = round % 3 == 0
            let info = try? coder.info(of: data, context: context)
            do throws(ImageError) {
                let image = try coder.decode(data, options: options, context: context)
                #expect(image.size == info?.displaySize, "round \(round)")
                #expect(!image.isPartial || options.allowsPartialImage, "round \(round)")
                #expect(image.isPartial || image.animation?.frameCount ?? 1 == info?.frameCount, "round \(round)")
                _ = try image.decodingAllFrames()
                readable += 1
            } catch {
                outcomes[error.code, default: 0] += 1
            }
        }
        #expect(Set(outcomes.keys).isSubset(of: [.corruptImage, .truncatedImage, .limitExceeded]), "\(outcomes)")
        // Nearly all of the file is under a checksum; of the rest, much cuts the file off.
        #expect(readable > 0 && outcomes[.corruptImage] ?? 0 > 100 && outcomes[.truncatedImage] ?? 0 > 0, "\(outcomes)")
    }

    @Test("The header tells size, depth, alpha and the profile's name")
    func info() throws {
        let profile = Array("Wide\0".utf8) + [0, 1, 2, 3]
        let file = HandmadePNG(
            width: 3, height: 2, bitDepth: 16, colorType: 4, chunks: [("iCCP", profile)],
            rows: Array(repeating: [UInt8](repeating: 0, count: 12), count: 2))
        let info = try coder.info(of: file.data, context: context)
        #expect(
            info
                == ImageInfo(
                    format: .png, size: PixelSize(width: 3, height: 2), hasAlpha: true, bitsPerComponent: 16,
                    colorProfile: "Wide"))
        expectCode(.truncatedImage) {
            try coder.info(of: Data(file.data.prefix(20)), context: context)
        }
        #expect(try !coder.info(of: Data(file.data.prefix(60)), context: context).isComplete)
        // The profile is broken, and so it is as if it were not there.
        #expect(try decode(file.data).colorSpace == .sRGB)
    }

    @Test("XMP is handed on")
    func xmp() throws {
        let text = Array("XML:com.adobe.xmp\0\0\0\0\0<x/>".utf8)
        let file = HandmadePNG(width: 1, height: 1, colorType: 0, chunks: [("iTXt", text)], rows: [[1]])
        #expect(try decode(file.data).metadata.xmp == Data("<x/>".utf8))
    }

    @Test("Work that nobody wants any more ends")
    func cancellation() throws {
        let data = try coder.encode(RasterSamples.gradient(8, 200), as: .png, options: EncodeOptions())
        expectCode(.cancelled) {
            try coder.decode(data, options: DecodeOptions(), context: ProcessingContext(isCancelled: { true }))
        }
    }
}
