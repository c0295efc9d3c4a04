import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("Metadata in files that are written", .timeLimited)
struct MetadataEncodingTests {
    private func image(_ metadata: ImageMetadata, width: Int = 40, height: Int = 30) throws -> Image {
        try RasterSamples.gradient(width, height).with { $0.metadata = metadata }
    }

    /// Blocks are the same; in TIFF, where there is no block, their entries are.
    private func isSame(_ a: Data?, _ b: Data?, in format: ImageFormat) -> Bool {
        #if TIFF
        func tree(_ data: Data?) -> ExifTree? {
            data.flatMap { $0.withUnsafeBytes { bytes in ExifReader(bytes).flatMap { ExifTree($0) } } }
        }
        if format == .tiff { return tree(a) != nil && tree(a) == tree(b) }
        #endif
        return a == b
    }

    @Test(
        "Exif and XMP come back as they were", .capability("COD-47"), arguments: WritableFormats.withMetadata,
        [true, false])
    func roundTrip(format: ImageFormat, isLittleEndian: Bool) throws {
        let exif = HandmadeExif(isLittleEndian: isLittleEndian).data
        let source = try image(ImageMetadata(exif: exif, xmp: HandmadeExif.xmp()))
        let data = try WritableFormats.encode(source, as: format) { $0.keepsMetadata = true }
        let result = try WritableFormats.decode(data)
        #expect(isSame(result.metadata.exif, exif, in: format))
        #expect(result.metadata.xmp == HandmadeExif.xmp())
        #expect(result.size == source.size && RasterSamples.psnr(result.pixels, source.pixels) > 30)
        let partly = try WritableFormats.decode(
            WritableFormats.encode(source.with { $0.metadata.exif = nil }, as: format) { $0.keepsMetadata = true })
        #expect(partly.metadata.exif == nil && partly.metadata.xmp == HandmadeExif.xmp())
    }

    #if TIFF
    @Test("A TIFF file has all of a block but what describes another file's pixels", .capability("COD-47"))
    func describingFields() throws {
        let title = MadeExif.Value.bytes(type: 1, [0x41, 0, 0x42, 0, 0, 0])
        let described = MadeExif(main: [
            (0x0100, .long([4_000])), (0x010D, .text("Roll 7")), (0x0112, .short([1])), (0x0129, .short([2, 5])),
            (0x013C, .text("Station")), (0x0213, .short([1])), (0x4746, .short([3])), (0x9C9B, title),
        ])
        let short = MadeExif(main: [(0x4746, .short([3])), (0x9C9B, title)])
        let kept = [0x010D, 0x0112, 0x013C, 0x4746, 0x9C9B]
        for (block, tags) in [(described, kept), (short, [0x0112, 0x4746, 0x9C9B])] {
            let source = try image(ImageMetadata(exif: block.data))
            let data = try WritableFormats.encode(source, as: .tiff) { $0.keepsMetadata = true }
            let result = try WritableFormats.decode(data)
            let exif = try #require(result.metadata.exif)
            let tree = exif.withUnsafeBytes { bytes in ExifReader(bytes).flatMap { ExifTree($0) } }
            #expect(tree?.entries.map(\.tag) == tags && tree?.entries.last?.value == [0x41, 0, 0x42, 0, 0, 0])
            #expect(result.metadata.fields.rating == 3 && result.pixels == source.pixels)
        }
    }

    @Test(
        "A TIFF file has no more fields than are read, and none that lead to a place in another file",
        .capability("COD-47"))
    func manyFields() throws {
        let own = (0x5000..<0x5500).map { ($0, MadeExif.Value.short([7])) }
        let block = MadeExif(main: own + [(0xA005, .long([26])), (0xFE00, .long([26]))])
        let source = try image(ImageMetadata(exif: block.data))
        let result = try WritableFormats.decode(WritableFormats.encode(source, as: .tiff) { $0.keepsMetadata = true })
        let exif = try #require(result.metadata.exif)
        let tree = try #require(exif.withUnsafeBytes { bytes in ExifReader(bytes).flatMap { ExifTree($0) } })
        #expect(tree.entries.count > 500 && tree.entries.count < 1_000)
        #expect(tree.entries.allSatisfy { $0.tag < 0xA000 } && result.pixels == source.pixels)
    }
    #endif

    @Test("Nothing is written unless it is asked for", arguments: WritableFormats.all)
    func nothing(format: ImageFormat) throws {
        let source = try image(ImageMetadata(exif: HandmadeExif().data, xmp: HandmadeExif.xmp()))
        let data = try WritableFormats.encode(source, as: format)
        #expect(data.range(of: Data("Tintype tests".utf8)) == nil && data.range(of: Data("xmpmeta".utf8)) == nil)
        #expect(try WritableFormats.decode(data).metadata == ImageMetadata())
    }

    @Test(
        "Pixels are upright, so the orientation, the size and the thumbnail of the source go", .capability("COD-47"),
        arguments: WritableFormats.withMetadata)
    func normalized(format: ImageFormat) throws {
        var exif = HandmadeExif(orientation: 6, thumbnail: [UInt8](repeating: 0xAB, count: 300))
        let source = try image(
            ImageMetadata(exif: exif.data, xmp: HandmadeExif.xmp(orientation: 6)), width: 80, height: 60)
        let data = try WritableFormats.encode(source, as: format) {
            $0.keepsMetadata = true
            $0.maximumSize = PixelSize(width: 40, height: 40)
        }
        (exif.orientation, exif.size, exif.thumbnail) = (1, PixelSize(width: 40, height: 30), nil)
        let result = try WritableFormats.decode(data)
        #expect(isSame(result.metadata.exif, exif.data, in: format))
        #expect(result.metadata.xmp == HandmadeExif.xmp())
        #expect(result.size == exif.size)
        #expect(try WritableFormats.coders.info(data).orientation == .up)
    }

    @Test("Animations have metadata too", arguments: WritableFormats.animated.filter { $0 != .gif })
    func animations(format: ImageFormat) throws {
        let frames = try [RasterSamples.red, RasterSamples.blue].map { color in
            ImageFrame(pixels: try RasterSamples.pixels(40, 30) { _, _ in color }, duration: .milliseconds(50))
        }
        var properties = Image.Properties()
        properties.hasAlpha = false
        properties.metadata = ImageMetadata(exif: HandmadeExif().data, xmp: HandmadeExif.xmp())
        let source = try #require(Image(frames: frames, properties: properties))
        let result = try WritableFormats.decode(WritableFormats.encode(source, as: format) { $0.keepsMetadata = true })
        #expect(result.frames.count == 2)
        #expect(result.metadata == properties.metadata)
    }

    @Test("A color profile is written wherever the image is not in sRGB", arguments: WritableFormats.withMetadata)
    func profile(format: ImageFormat) throws {
        let profile = try ProfileSamples.wide()
        let source = try image(ImageMetadata()).with { $0.colorSpace = ColorSpace(name: "wide", profile: profile) }
        let data = try WritableFormats.encode(source, as: format) {
            $0.quality = 0.95
            // With loss, JPEG XL stores colors as they are seen, which libjxl without a color engine gives as sRGB only.
            $0.lossless = format == .jxl
        }
        let kept = try WritableFormats.decode(data) { $0.keepsColorSpace = true }
        #expect(kept.colorSpace.profile == profile)
        #expect(RasterSamples.psnr(kept.pixels, source.pixels) > 30)
        let plain = try WritableFormats.encode(try image(ImageMetadata()), as: format)
        #expect(try WritableFormats.decode(plain) { $0.keepsColorSpace = true }.colorSpace == .sRGB)
    }

    @Test("A format without profiles gets colors in sRGB", arguments: [ImageFormat.bmp, .gif], [true, false])
    func converted(format: ImageFormat, hasAlpha: Bool) throws {
        let profile = try ProfileSamples.wide()
        let color = SIMD4<UInt8>(40, 200, 90, 255)
        let source = try RasterSamples.image(8, 8, hasAlpha: hasAlpha) { x, _ in
            hasAlpha && x < 4 ? RasterSamples.clear : color
        }.with { $0.colorSpace = ColorSpace(name: "wide", profile: profile) }
        let result = try WritableFormats.decode(WritableFormats.encode(source, as: format))
        let wanted = try ProfileSamples.convertedToSRGB([color], from: profile)[0]
        #expect(RasterSamples.distance(result.pixels[6, 4], wanted) <= 1 && wanted != color)
        #expect(!hasAlpha || result.pixels[1, 1].w == 0)
    }

    @Test("Metadata that a JPEG has no room for are an error that says so")
    func tooLargeForJPEG() throws {
        let source = try image(ImageMetadata(xmp: Data(repeating: 0x20, count: 70_000)))
        do {
            _ = try WritableFormats.encode(source, as: .jpeg) { $0.keepsMetadata = true }
            Issue.record("70 KB went into one segment")
        } catch let error as ImageError {
            #expect(error.code == .encodeFailed)
            #expect(error.reason.contains("XMP") && error.reason.contains("keepsMetadata"))
        }
        #expect(
            try WritableFormats.decode(WritableFormats.encode(source, as: .png) { $0.keepsMetadata = true }).metadata
                .xmp?
                .count == 70_000)
    }

    // MARK: Thumbnails

    @Test(
        "JPEG holds a thumbnail of 320 pixels in its Exif block, with and without other metadata", .capability("COD-26")
    )
    func jpegThumbnail() throws {
        for exif in [nil, HandmadeExif(orientation: 6, thumbnail: [1, 2, 3], isLittleEndian: false).data] {
            let source = try image(ImageMetadata(exif: exif), width: 640, height: 400)
            let data = try WritableFormats.encode(source, as: .jpeg) {
                $0.embedsThumbnail = true
                $0.keepsMetadata = true
            }
            let result = try WritableFormats.decode(data)
            let block = try #require(result.metadata.exif)
            let thumbnail = try #require(
                block.withUnsafeBytes { bytes in ExifReader(bytes)?.thumbnail.map { bytes.data($0) } })
            let small = try WritableFormats.decode(thumbnail)
            #expect(small.format == .jpeg && small.size == PixelSize(width: 320, height: 200))
            #expect(RasterSamples.psnr(small.pixels, try source.pixels.resized(to: small.size)) > 30)
            #expect((block.range(of: Data("Tintype tests".utf8)) != nil) == (exif != nil))
            #expect(try WritableFormats.coders.info(data).orientation == .up)
        }
    }

    @Test(
        "An image that is no larger than a thumbnail gets none, and a limit of bytes counts it", .capability("COD-26"))
    func smallThumbnail() throws {
        let small = try WritableFormats.encode(try image(ImageMetadata(), width: 320, height: 100), as: .jpeg) {
            $0.embedsThumbnail = true
        }
        #expect(try WritableFormats.decode(small).metadata.exif == nil)
        let large = try image(ImageMetadata(), width: 640, height: 640)
        let limited = try WritableFormats.encode(large, as: .jpeg) {
            $0.embedsThumbnail = true
            $0.quality = 1
            $0.maximumBytes = 20_000
        }
        #expect(limited.count <= 20_000)
        let unlimited = try WritableFormats.encode(large, as: .jpeg) { $0.quality = 1 }
        #expect(unlimited.count > 20_000)
    }
}
