import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs
import TintypeTesting

@Suite("JPEG decoding", .timeLimited)
struct JPEGDecodeTests {
    let coder = JPEGCoder()
    let context = ProcessingContext()

    private func encoded(_ image: Image, quality: Double = 1, progressive: Bool = false) throws -> Data {
        var options = EncodeOptions(quality: quality)
        options.progressive = progressive
        return try coder.encode(image, as: .jpeg, options: options)
    }

    private func withExif(_ data: Data, _ orientation: Int, littleEndian: Bool = false) -> Data {
        data.addingSegment(
            0xE1, Array("Exif\0\0".utf8) + RasterSamples.exif(orientation, littleEndian: littleEndian))
    }

    @Test(
        "Each Exif orientation is turned upright, in both byte orders", .capability("COD-31", "MET-26"),
        arguments: Orientation.allCases, [true, false])
    func orientation(_ orientation: Orientation, littleEndian: Bool) throws {
        let data = withExif(
            try encoded(RasterSamples.quarters(32, 48)), orientation.rawValue, littleEndian: littleEndian)
        let image = try coder.decode(data, options: DecodeOptions(), context: context)
        #expect(image.size == orientation.display(PixelSize(width: 32, height: 48)))
        #expect(RasterSamples.corners(image.pixels) == RasterSamples.upright[orientation])
        #expect(image.properties.sourceOrientation == orientation)
        #expect(image.properties.sourceSize == image.size)
        #expect(try coder.info(of: data, context: context).orientation == orientation)
    }

    @Test("With JFIF and Exif the orientation is applied once", .capability("COD-51"))
    func jfifAndExif() throws {
        // The encoder writes JFIF; the Exif segment is put before it, and behind it.
        let plain = try encoded(RasterSamples.quarters(32, 48))
        let before = withExif(plain, 6)
        let behind = plain.prefix(20) + withExif(Data([0xFF, 0xD8]), 6).dropFirst(2) + plain.dropFirst(20)
        for data in [before, Data(behind)] {
            let image = try coder.decode(data, options: DecodeOptions(), context: context)
            #expect(RasterSamples.corners(image.pixels) == "BRWG")
        }
    }

    @Test("The orientation of XMP counts where Exif has none")
    func orientationFromXMP() throws {
        let packet = Array("http://ns.adobe.com/xap/1.0/\0<x tiff:Orientation=\"3\"/>".utf8)
        let data = try encoded(RasterSamples.quarters(32, 48)).addingSegment(0xE1, packet)
        let image = try coder.decode(data, options: DecodeOptions(), context: context)
        #expect(RasterSamples.corners(image.pixels) == "WBGR")
        #expect(image.metadata.xmp.map { String(decoding: $0, as: UTF8.self) } == "<x tiff:Orientation=\"3\"/>")
    }

    @Test(
        "5250×3450 fits into 400×300 as 400×263, and a turned photo into the box as it is shown",
        .capability("COD-30", "D13"))
    func thumbnailGeometry() throws {
        let data = HandmadeJPEG(width: 5250, height: 3450, values: [200]).data
        let options = DecodeOptions(thumbnailSize: PixelSize(width: 400, height: 300))
        let image = try coder.decode(data, options: options, context: context)
        #expect(image.size == PixelSize(width: 400, height: 263))
        #expect(image.isThumbnail)
        #expect(image.pixels[200, 130] == SIMD4(200, 200, 200, 255))

        let turned = try coder.decode(withExif(data, 6), options: options, context: context)
        #expect(turned.size == PixelSize(width: 197, height: 300))
        #expect(turned.properties.sourceSize == PixelSize(width: 3450, height: 5250))
    }

    @Test("A thumbnail shows what the full image shows")
    func thumbnailContent() throws {
        let source = try RasterSamples.gradient(320, 200)
        let data = try encoded(source)
        let options = DecodeOptions(thumbnailSize: PixelSize(width: 40, height: 40))
        let thumbnail = try coder.decode(data, options: options, context: context)
        let reference = try source.pixels.resized(to: PixelSize(width: 40, height: 25))
        #expect(thumbnail.size == reference.size)
        #expect(RasterSamples.psnr(thumbnail.pixels, reference) > 38)
    }

    @Test(
        "The scale has two and a half times the target's sides where the source has", .capability("3.1"),
        arguments: [
            (PixelSize(width: 4000, height: 3000), PixelSize(width: 200, height: 150), 1),
            (PixelSize(width: 4000, height: 3000), PixelSize(width: 201, height: 151), 2),
            (PixelSize(width: 4000, height: 3000), PixelSize(width: 400, height: 300), 2),
            (PixelSize(width: 4000, height: 3000), PixelSize(width: 800, height: 600), 4),
            (PixelSize(width: 4000, height: 3000), PixelSize(width: 801, height: 601), 8),
            (PixelSize(width: 100, height: 100), PixelSize(width: 200, height: 200), 8),
        ])
    func scale(source: PixelSize, target: PixelSize, eighths: Int) {
        #expect(
            JPEGScale.eighths(from: source, to: target, samplings: [], isFast: false, isProgressive: false) == eighths)
    }

    @Test(
        "Colors that libjpeg would reduce below the target are decoded at a larger scale", .capability("COD-12"),
        arguments: [(1, 1, 1), (2, 2, 1), (2, 1, 1), (4, 1, 2), (1, 4, 2)])
    func colorScale(horizontal: Int, vertical: Int, eighths: Int) {
        let color = JPEGSampling(horizontal: 1, vertical: 1)
        #expect(
            JPEGScale.eighths(
                from: PixelSize(width: 4000, height: 3000), to: PixelSize(width: 200, height: 150),
                samplings: [JPEGSampling(horizontal: horizontal, vertical: vertical), color, color], isFast: false,
                isProgressive: false) == eighths)
        // A fast thumbnail's brightness may be half as large: 400 x 300 of 4:1:1 has colors of 200 x 300 at a quarter.
        #expect(
            JPEGScale.eighths(
                from: PixelSize(width: 4000, height: 3000), to: PixelSize(width: 200, height: 150),
                samplings: [JPEGSampling(horizontal: horizontal, vertical: vertical), color, color], isFast: true,
                isProgressive: false) == eighths)
    }

    @Test("Samplings that libjpeg can't enlarge are named as such, and no damage")
    func fractionalSampling() throws {
        var data = try encoded(RasterSamples.gradient(32, 32))
        // Behind the size come the number of components, and for each its number, sampling, and table (T.81, B.2.2).
        let frame = try #require(data.firstRange(of: [0xFF, 0xC0])).upperBound
        data[frame + 9] = 0x31
        data[frame + 12] = 0x21
        expectCode(.formatNotEnabled) {
            try coder.decode(data, options: DecodeOptions(), context: context)
        }
    }

    @Test("A fast thumbnail is decoded at its size at least, of a baseline file")
    func fastScale() {
        let source = PixelSize(width: 4000, height: 3000)
        let target = PixelSize(width: 500, height: 375)
        #expect(JPEGScale.eighths(from: source, to: target, samplings: [], isFast: true, isProgressive: false) == 1)
        #expect(JPEGScale.eighths(from: source, to: target, samplings: [], isFast: true, isProgressive: true) == 2)
        let larger = PixelSize(width: 501, height: 376)
        #expect(JPEGScale.eighths(from: source, to: larger, samplings: [], isFast: true, isProgressive: false) == 2)
    }

    @Test("Gray is decoded to RGB", .capability("COD-52"))
    func gray() throws {
        let image = try coder.decode(
            HandmadeJPEG(values: [77]).data, options: DecodeOptions(), context: context)
        #expect(image.pixels[3, 3] == SIMD4(77, 77, 77, 255))
        #expect(!image.hasAlpha)
    }

    @Test("CMYK is decoded to RGB, inverted as Adobe writes it, also without Adobe's marker", .capability("COD-52"))
    func cmyk() throws {
        // No cyan, full magenta and yellow, no black: red.
        let adobe = HandmadeJPEG(values: [255, 0, 0, 255], segments: [HandmadeJPEG.adobe(transform: 0)])
        let plain = HandmadeJPEG(values: [255, 0, 0, 255])
        for file in [adobe, plain] {
            let image = try coder.decode(file.data, options: DecodeOptions(), context: context)
            #expect(RasterSamples.distance(image.pixels[4, 4], RasterSamples.red) <= 1)
        }
    }

    @Test("YCCK is decoded to RGB")
    func ycck() throws {
        let file = HandmadeJPEG(values: [200, 128, 128, 255], segments: [HandmadeJPEG.adobe(transform: 2)])
        let image = try coder.decode(file.data, options: DecodeOptions(), context: context)
        // libjpeg turns Y of 200 into inverted inks of 55 each, which is light again once inverted.
        let pixel = image.pixels[4, 4]
        #expect(pixel.x == pixel.y && pixel.y == pixel.z && pixel.w == 255)
    }

    @Test("A size over the limit is refused before memory is taken", .capability("3.1"))
    func limits() throws {
        let data = HandmadeJPEG(width: 65_500, height: 65_500, values: []).header
        let pool = PixelBufferPool(limit: 0)
        expectCode(.limitExceeded) {
            try coder.decode(data, options: DecodeOptions(), context: ProcessingContext(pool: pool))
        }
        #expect(pool.statistics.allocated == 0)
    }

    @Test("The limit for bytes also bounds what a progressive file needs for its coefficients")
    func progressiveMemory() throws {
        let data = try encoded(RasterSamples.gradient(640, 640), progressive: true)
        var limits = DecodeLimits()
        limits.maximumBytes = 150_000
        let options = DecodeOptions(thumbnailSize: PixelSize(width: 20, height: 20))
        expectCode(.limitExceeded) {
            try coder.decode(data, options: options, context: ProcessingContext(limits: limits))
        }
        #expect(try coder.decode(data, options: options, context: context).size.width == 20)
    }

    @Test(
        "A file that is cut is an error, or its part that is there, marked as partial", .capability("MET-06", "3.8"),
        arguments: [true, false])
    func truncated(progressive: Bool) throws {
        let data = try encoded(RasterSamples.gradient(160, 160), progressive: progressive)
        var partial = DecodeOptions()
        partial.allowsPartialImage = true
        for tenth in 0..<10 {
            let cut = Data(data.prefix(data.count * tenth / 10))
            #expect(throws: ImageError.self) {
                try coder.decode(cut, options: DecodeOptions(), context: context)
            }
            if let image = try? coder.decode(cut, options: partial, context: context) {
                #expect(image.isPartial)
                #expect(image.size == PixelSize(width: 160, height: 160))
            } else {
                #expect(tenth < 5)
            }
        }
    }

    @Test("Of a baseline file that is cut, the rows that are there are right and the others transparent")
    func truncatedRows() throws {
        let source = try RasterSamples.gradient(160, 160)
        let data = try encoded(source)
        var options = DecodeOptions()
        options.allowsPartialImage = true
        let image = try coder.decode(Data(data.prefix(data.count * 3 / 4)), options: options, context: context)
        #expect(image.hasAlpha)
        #expect(RasterSamples.distance(image.pixels[80, 40], source.pixels[80, 40]) < 6)
        #expect(image.pixels[80, 159] == RasterSamples.clear)
    }

    @Test("A cut file has the code truncatedImage")
    func truncationCode() throws {
        let data = try encoded(RasterSamples.gradient(64, 64))
        for count in [data.count / 2, data.count - 40, 100] {
            expectCode(.truncatedImage) {
                try coder.decode(Data(data.prefix(count)), options: DecodeOptions(), context: context)
            }
        }
    }

    @Test("Bytes behind the end, and a missing end marker, do no harm")
    func trailingBytes() throws {
        let data = try encoded(RasterSamples.gradient(64, 64))
        let whole = try coder.decode(data, options: DecodeOptions(), context: context)
        for other in [data + [1, 2, 3, 0xFF, 0xD8], data.dropLast(2)] {
            let image = try coder.decode(Data(other), options: DecodeOptions(), context: context)
            #expect(image.pixels == whole.pixels)
            #expect(!image.isPartial)
        }
    }

    @Test("A progressive file that is cut between two scans shows the scans before, at once and as it arrives")
    func cutBetweenScans() throws {
        let data = try encoded(RasterSamples.gradient(160, 160), progressive: true)
        let first = try #require(data.firstRange(of: [0xFF, 0xDA])).upperBound
        let table = try #require(data[first...].firstRange(of: [0xFF, 0xC4])).lowerBound
        var partial = DecodeOptions()
        partial.allowsPartialImage = true
        for count in 0..<24 {
            let cut = Data(data.prefix(table + count))
            expectCode(.truncatedImage) { try coder.decode(cut, options: DecodeOptions(), context: context) }
            let image = try coder.decode(cut, options: partial, context: context)
            #expect(image.isPartial && image.pixels[80, 80].w == 255, "\(count) bytes of the table")
            let decoder = try coder.progressiveDecoder(options: partial, context: context)
            for start in stride(from: 0, to: cut.count, by: 700) {
                try decoder.append(cut[start..<min(start + 700, cut.count)])
            }
            #expect(try decoder.finish().pixels == image.pixels)
        }
    }

    @Test("A height that follows the picture is an error that says so")
    func unsupportedFrames() throws {
        var data = HandmadeJPEG(values: [90]).data
        let frame = try #require(data.firstRange(of: [0xFF, 0xC0])).lowerBound
        (data[frame + 5], data[frame + 6]) = (0, 0)
        expectCode(.formatNotEnabled) { try coder.decode(data, options: DecodeOptions(), context: context) }
    }

    @Test(
        "A process that is not supported is named in the error",
        arguments: [
            (UInt8(0xC3), UInt8(8), "lossless"), (0xF7, 8, "JPEG-LS"), (0xC5, 8, "hierarchical"), (0xC1, 12, "12 bits"),
        ])
    func unsupportedProcess(marker: UInt8, bits: UInt8, name: String) throws {
        var data = HandmadeJPEG(values: [90]).data
        let frame = try #require(data.firstRange(of: [0xFF, 0xC0])).lowerBound
        data[frame + 1] = marker
        data[frame + 4] = bits
        #expect {
            try coder.decode(data, options: DecodeOptions(), context: context)
        } throws: {
            let error = $0 as? ImageError
            return error?.code == .formatNotEnabled && error?.reason.contains(name) == true
        }
        let decoder = try FormatSample.coders.progressiveDecoder(options: DecodeOptions(), context: context)
        try decoder.append(data)
        expectCode(.formatNotEnabled) { try decoder.finish() }
    }

    @Test(
        "A thumbnail shows all of the picture and nothing else, whatever its sides", .capability("COD-30"),
        arguments: [
            (1593, 1193, 100, false), (1593, 1193, 100, true), (807, 601, 40, false), (401, 799, 99, false),
            (1600, 1200, 100, false),
        ])
    func thumbnailOfOddSides(width: Int, height: Int, side: Int, isProgressive: Bool) throws {
        // Waves that a thumbnail can show, and shifts by a fraction of a pixel.
        let source = try RasterSamples.image(width, height) { x, y in
            func wave(_ place: Int, _ length: Int) -> Double { sin(Double(place) * 2 * .pi / Double(length)) }
            let unit = max(width, height) / side
            let one = 128 + 55 * wave(x, unit * 10) + 55 * wave(y, unit * 14)
            let other = 128 + 90 * wave(x + 2 * y, unit * 24)
            return SIMD4(UInt8(one), UInt8(other), UInt8(255 - one), 255)
        }
        let data = try encoded(source, progressive: isProgressive)
        let options = DecodeOptions(thumbnailSize: PixelSize(width: side, height: side))
        let thumbnail = try coder.decode(data, options: options, context: context)
        let full = try coder.decode(data, options: DecodeOptions(), context: context)
        let closeness = RasterSamples.psnr(thumbnail.pixels, try full.pixels.resized(to: thumbnail.size))
        #expect(closeness >= 50, "\(closeness) dB")
    }

    @Test(
        "Damaged bytes give an image of the size that the header says, or an error of the format", .capability("3.8"),
        arguments: [false, true])
    func damage(progressive: Bool) throws {
        var generator = SeededRandom(seed: progressive ? 7 : 11)
        let data = withExif(try encoded(RasterSamples.gradient(48, 40), progressive: progressive), 5)
        var options = DecodeOptions()
        var (readable, truncated) = (0, 0)
        for round in 0..<200 {
            var damaged = data.damaged(1 + round % 5, from: 2, using: &generator)
            if round % 4 == 1 { damaged = damaged.prefix(Int.random(in: 2..<damaged.count, using: &generator)) }
            options.allowsPartialImage = round % 2 == 0
            options.thumbnailSize = round % 3 == 0 ? PixelSize(width: 12, height: 12) : nil
            var context = context
            context.limits.maximumPixels = 1 << 20
            let info = try? coder.info(of: damaged, context: context)
            do throws(ImageError) {
                let image = try coder.decode(damaged, options: options, context: context)
                #expect(image.size == info.map { options.outputSize(for: $0.displaySize) }, "round \(round)")
                #expect(!image.isPartial || options.allowsPartialImage, "round \(round)")
                readable += 1
            } catch {
                #expect(
                    [.corruptImage, .truncatedImage, .limitExceeded, .formatNotEnabled].contains(error.code),
                    "round \(round): \(error)")
                truncated += error.code == .truncatedImage ? 1 : 0
            }
        }
        #expect(readable > 50 && truncated > 0, "\(readable) readable, \(truncated) truncated")
    }

    @Test("Work that nobody wants any more ends", arguments: [false, true])
    func cancellation(progressive: Bool) throws {
        let data = try encoded(RasterSamples.gradient(64, 600), progressive: progressive)
        expectCode(.cancelled) {
            try coder.decode(data, options: DecodeOptions(), context: ProcessingContext(isCancelled: { true }))
        }
    }

    @Test("The header tells size, profile and depth; without it the error says that bytes are missing")
    func info() throws {
        let data = try encoded(RasterSamples.gradient(64, 48))
        let info = try coder.info(of: data, context: context)
        #expect(info == ImageInfo(format: .jpeg, size: PixelSize(width: 64, height: 48), hasAlpha: false))
        expectCode(.truncatedImage) {
            try coder.info(of: Data(data.prefix(30)), context: context)
        }
        expectCode(.corruptImage) {
            try coder.info(of: Data([0xFF, 0xD8, 0xFF, 0xD9]), context: context)
        }
    }

    @Test("The options and the scale stand in the properties", .capability("COD-11", "MET-05", "MET-09"))
    func properties() throws {
        var options = DecodeOptions(thumbnailSize: PixelSize(width: 16, height: 16))
        options.scale = 2
        let image = try coder.decode(
            try encoded(RasterSamples.gradient(64, 64)), options: options, context: context)
        #expect(image.scale == 2)
        #expect(image.properties.decodeOptions == options)
        #expect(image.format == .jpeg)
        #expect(image.colorSpace == .sRGB)
    }
}

extension HandmadeJPEG {
    /// A file with one component whose data is not there.
    var header: Data {
        var file = self
        file.width = 8
        file.height = 8
        file.values = [128]
        var data = file.data
        guard let frame = data.firstRange(of: [0xFF, 0xC0]) else { return data }
        let sides = [height >> 8, height & 0xFF, width >> 8, width & 0xFF].map(UInt8.init)
        data.replaceSubrange(frame.lowerBound + 5..<frame.lowerBound + 9, with: sides)
        return data
    }
}
