#if RAW
import Foundation
import TestSupport
import Testing
import TintypeCodecs
import TintypeImages
import TintypeTesting

@Suite("RAW", .timeLimited)
struct RAWCoderTests {
    let coder = RAWCoder()

    private func quarters(_ change: (inout SampleDNG) throws -> Void = { _ in }) throws -> Data {
        var file = SampleDNG(picture: try RasterSamples.quarters(128, 96).pixels)
        try change(&file)
        return file.data
    }

    private func preview(_ width: Int, _ height: Int) throws -> (data: Data, size: PixelSize) {
        let image = try RasterSamples.image(width, height) { _, _ in SIMD4(200, 100, 50, 255) }
        let data = try JPEGCoder().encode(image, as: .jpeg, options: EncodeOptions(quality: 0.95))
        return (data, image.size)
    }

    private func isPreview(_ image: Image) -> Bool {
        let color = image.pixels[image.size.width / 2, image.size.height / 2]
        return (190...210).contains(color.x) && (90...110).contains(color.y) && (40...60).contains(color.z)
    }

    @Test("A camera file is developed, in its own colors", .capability("COD-49"))
    func develop() throws {
        let data = try quarters()
        let info = try coder.info(data)
        #expect(info.format == .raw && info.size == PixelSize(width: 128, height: 96))
        #expect(info.bitsPerComponent == 16 && !info.hasAlpha && info.orientation == .up)
        let image = try coder.decode(data)
        #expect(image.format == .raw && image.size == info.size && !image.isPartial && !image.hasAlpha)
        #expect(RasterSamples.corners(image.pixels) == "RGBW")
        let middle = image.pixels[32, 24]
        #expect(middle.x > 240 && middle.y < 30 && middle.z < 30 && middle.w == 255)
    }

    @Test("All eight orientations are applied", .capability("COD-49"), arguments: Orientation.allCases)
    func orientation(_ orientation: Orientation) throws {
        let data = try quarters { $0.orientation = orientation }
        let info = try coder.info(data)
        #expect(info.orientation == orientation && info.size == PixelSize(width: 128, height: 96))
        let image = try coder.decode(data)
        #expect(image.size == info.displaySize)
        #expect(RasterSamples.corners(image.pixels) == RasterSamples.upright[orientation])
        let small = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 30, height: 30) }
        #expect(RasterSamples.corners(small.pixels) == RasterSamples.upright[orientation])
    }

    @Test(
        "A picture with an orientation that doesn't exist is not turned", .capability("COD-49"),
        arguments: [0, 9, 10] as [UInt8])
    func senselessOrientation(number: UInt8) throws {
        var data = try quarters()
        let entry = try #require(data.range(of: Data([0x12, 1, 3, 0, 1, 0, 0, 0, 1, 0])))
        data[entry.upperBound - 2] = number
        #expect(try coder.info(data).orientation == .up)
        #expect(RasterSamples.corners(try coder.decode(data).pixels) == "RGBW")
    }

    @Test(
        "A DNG is a TIFF unless a hint says what it is; other camera files have signs of their own",
        .capability("COD-49", "FMT-12"))
    func hints() throws {
        let data = try quarters()
        #expect(ImageFormat(sniffing: data) == .tiff)
        let coders = ImageCoders([coder])
        #expect(throws: ImageError.self) { try coders.info(of: data, context: ProcessingContext()) }
        #expect(try coders.info(of: data, hint: .raw, context: ProcessingContext()).format == .raw)
        var options = DecodeOptions()
        options.formatHint = .raw
        #expect(try coders.decode(data, options: options, context: ProcessingContext()).format == .raw)
    }

    #if TIFF
    @Test(
        "With a hint the image is developed, without it the first picture of the TIFF is shown", .capability("COD-49"))
    func hintOrPreview() throws {
        // A TIFF that is no camera file, called one: the hint costs nothing.
        let plain = try TIFFCoder().encode(try RasterSamples.gradient(40, 30), as: .tiff, options: EncodeOptions())
        let coders = ImageCoders([TIFFCoder(), coder])
        var options = DecodeOptions()
        options.formatHint = .raw
        #expect(try coders.decode(plain, options: options, context: ProcessingContext()).format == .tiff)
        let camera = try quarters { $0.preview = try preview(128, 96) }
        #expect(try coders.decode(camera, options: options, context: ProcessingContext()).format == .raw)
        // Without a hint the first directory is a TIFF of the sensor's numbers, which only a camera's coder can read.
        options.formatHint = nil
        expectCode(.formatNotEnabled) { try coders.info(of: camera, context: ProcessingContext()) }
        expectCode(.formatNotEnabled) { try coders.decode(camera, options: options, context: ProcessingContext()) }
        // As cameras write it: the first directory is that of a small picture.
        var first = HandmadeTIFF(8, 6)
        first.photometric = 2
        let small = first.data(Array(repeating: [200, 100, 50], count: 48))
        let shown = try coders.decode(small, options: options, context: ProcessingContext())
        #expect(shown.format == .tiff && isPreview(shown))
    }
    #endif

    #if TIFF
    @Test("A camera file that is cut, or over a limit, is an error and not its preview", .capability("COD-49", "3.1"))
    func errorInsteadOfPreview() throws {
        let data = try quarters {
            $0.preview = try preview(64, 48)
            $0.startsWithPreview = true
        }
        let coders = ImageCoders([TIFFCoder(), coder])
        let options = DecodeOptions(formatHint: .raw)
        var context = ProcessingContext()
        #expect(try coders.decode(data, options: options, context: context).format == .raw)
        #expect(isPreview(try coders.decode(data, options: DecodeOptions(), context: context)))
        // Before and within the directory of the sensor's picture, before the picture, and within it.
        let start = data.count - 128 * 96 * 2
        for count in [start - 394, start - 300, start - 100, start, data.count - 2] {
            let cut = Data(data.prefix(count))
            expectCode(.truncatedImage) { try coders.decode(cut, options: options, context: context) }
        }
        context.limits.maximumPixels = 100 * 80
        expectCode(.limitExceeded) { try coders.decode(data, options: options, context: context) }
        #expect(isPreview(try coders.decode(data, options: DecodeOptions(), context: context)))
    }
    #endif

    @Test("A picture of another format that is called a camera file is shown", .capability("COD-15"))
    func wrongHint() throws {
        let image = try RasterSamples.gradient(1, 1)
        let coders = ImageCoders([JPEGCoder(), PNGCoder(), GIFCoder(), coder])
        for format in [ImageFormat.jpeg, .png, .gif] {
            let data = try coders.encode(image, as: format, options: EncodeOptions())
            let shown = try coders.decode(
                data, options: DecodeOptions(formatHint: .raw), context: ProcessingContext())
            #expect(shown.format == format)
        }
    }

    @Test("A camera file of its own signature that libraw can't read is damaged, not of another format")
    func damagedByItself() {
        let data = Data("FUJIFILMCCD-RAW 0201FF383501".utf8) + Data(count: 60_000)
        for hint in [nil, ImageFormat.raw] {
            expectCode(.corruptImage) { try coder.decode(data) { $0.formatHint = hint } }
        }
    }

    @Test("A thumbnail is made of the camera's preview if that is large enough and of the same shape")
    func previews() throws {
        let box = PixelSize(width: 64, height: 64)
        let large = try quarters { $0.preview = try preview(128, 96) }
        #expect(isPreview(try coder.decode(large) { $0.thumbnailSize = box }))
        #expect(!isPreview(try coder.decode(large)))
        let turned = try quarters {
            $0.preview = try preview(80, 60)
            $0.orientation = .right
        }
        let upright = try coder.decode(turned) { $0.thumbnailSize = box }
        #expect(isPreview(upright) && upright.size == PixelSize(width: 48, height: 64))
        for (width, height) in [(48, 36), (80, 80), (60, 80)] {
            let data = try quarters { $0.preview = try preview(width, height) }
            let image = try coder.decode(data) { $0.thumbnailSize = box }
            #expect(!isPreview(image) && image.size == PixelSize(width: 64, height: 48), "\(width)x\(height)")
        }
        let broken = try quarters {
            let whole = try preview(128, 96)
            $0.preview = (whole.data.prefix(whole.data.count / 2), whole.size)
        }
        #expect(!isPreview(try coder.decode(broken) { $0.thumbnailSize = box }))
    }

    @Test("A preview that cannot be read costs nothing: the image itself is developed", arguments: [36, 0])
    func unreadablePreview(back: Int) throws {
        let jpeg = try preview(128, 96)
        var data = try quarters { $0.preview = jpeg }
        // The length of the preview's only strip, or three entries before that its place: far behind the end.
        let length = withUnsafeBytes(of: UInt32(jpeg.data.count).littleEndian) { Data($0) }
        let entry = try #require(data.range(of: Data([0x17, 1, 4, 0, 1, 0, 0, 0]) + length))
        let value = entry.lowerBound + 8 - back
        data.replaceSubrange(value..<value + 4, with: [0, 0, 0, 0x7F])
        let image = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 64, height: 64) }
        #expect(RasterSamples.corners(image.pixels) == "RGBW")
    }

    @Test("A file that ends before the picture of the sensor is no black image", arguments: [false, true])
    func cutBeforePicture(allowsPartialImage: Bool) throws {
        let data = try quarters()
        let start = data.count - 128 * 96 * 2
        for count in [start, start - 1, start + 1] {
            expectCode(.truncatedImage) {
                try coder.decode(Data(data.prefix(count))) { $0.allowsPartialImage = allowsPartialImage }
            }
        }
    }

    @Test("Thumbnails have the size of the box, whether developed at half the size or not, and are not enlarged")
    func thumbnails() throws {
        let data = SampleDNG(picture: try RasterSamples.gradient(160, 120).pixels).data
        let full = try coder.decode(data)
        for side in [32, 79, 80, 81, 159] {
            let box = PixelSize(width: side, height: side)
            let small = try coder.decode(data) { $0.thumbnailSize = box }
            #expect(small.size == full.size.scaled(into: box) && small.isThumbnail)
            #expect(RasterSamples.psnr(small.pixels, try full.pixels.resized(to: small.size)) > 28, "\(side)")
        }
        #expect(try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 500, height: 500) }.size == full.size)
    }

    @Test("Limits and cancellation are kept, and a file that is cut says so")
    func refusals() throws {
        let data = try quarters()
        TraitCoderChecks.expectLimits(coder, data)
        TraitCoderChecks.expectTruncation(coder, data)
        // libraw gives nothing of a file without compression whose end is missing.
        expectCode(.truncatedImage) {
            try coder.decode(Data(data.prefix(data.count * 3 / 4))) { $0.allowsPartialImage = true }
        }
        // 60,000 × 60,000 pixels of a few kilobytes.
        let huge = try quarters { $0.claimedSize = PixelSize(width: 60_000, height: 60_000) }
        #expect(throws: ImageError.self) { try coder.decode(huge) }
        #expect(throws: ImageError.self) { try coder.info(Data("no camera file, but text".utf8)) }
    }

    @Test("Damage ends in an image or an error")
    func damage() throws {
        try coder.survives(damageTo: try quarters { $0.preview = try preview(64, 48) }, cases: 200, seed: 53)
    }
}
#endif
