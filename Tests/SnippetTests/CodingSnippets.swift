import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Snippets: decoding, encoding and drawing", .timeLimited)
struct CodingSnippets {
    let bench: SnippetBench

    init() throws { bench = try SnippetBench() }

    @Test("Images come from bytes and become bytes, without a manager", .capability("MET-21"))
    func coding() throws {
        let bytes = try bench.picture(800, 600).encoded(as: .png)
        let fileURL = try bench.file(90, 60)
        // snippet: coding
        let photo = try Image(contentsOf: fileURL)
        let header = try ImageInfo(contentsOf: fileURL)  // size, frames, orientation, profile, metadata
        let image = try Image(data: bytes)  // any format, upright, in sRGB
        let thumbnail = try Image(
            data: bytes, options: DecodeOptions(thumbnailSize: PixelSize(width: 200, height: 200)))
        let info = try ImageInfo(data: bytes)  // the first kilobytes usually suffice
        let webp = try image.encoded(as: .webp, options: EncodeOptions(quality: 0.8, maximumBytes: 50_000))
        // snippet.end
        #expect(thumbnail.size == PixelSize(width: 200, height: 150))
        #expect(info.size == image.size)
        #expect(header.size == PixelSize(width: 90, height: 60) && photo.size == header.size)
        #expect(webp.count <= 50_000)
    }

    @Test("The fields of metadata are read without decoding", .capability("MET-28"))
    func metadata() throws {
        let xmp = """
            <r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description xmlns:d="http://purl.org/dc/elements/1.1/" \
            xmlns:e="http://ns.adobe.com/exif/1.0/" d:title="Tram" e:GPSLatitude="47,22N" e:GPSLongitude="8,33E"/></r:RDF>
            """
        var picture = try bench.picture()
        picture.metadata.xmp = Data(xmp.utf8)
        let bytes = try picture.encoded(as: .webp, options: EncodeOptions(keepsMetadata: true))
        // snippet: metadata
        let fields = try ImageInfo(data: bytes).metadata.fields  // keep it: each access parses the blocks
        let title = fields.title ?? "Untitled"
        let day = fields.captureDate.flatMap { Calendar(identifier: .gregorian).date(from: $0) }
        let camera = [fields.cameraMake, fields.cameraModel].compactMap(\.self).joined(separator: " ")
        if let place = fields.place { print("\(title) at \(place.latitude), \(place.longitude)") }
        // snippet.end
        #expect(title == "Tram" && day == nil && camera.isEmpty && fields.place?.longitude == 8.55)
    }

    @Test("Decoding runs on the threads of a queue")
    func queue() async throws {
        let bytes = try bench.picture().encoded(as: .png)
        // snippet: work-queue
        let image = try await WorkQueue.processing.perform { _ throws(ImageError) in try Image(data: bytes) }
        // snippet.end
        #expect(image.size == PixelSize(width: 80, height: 60))
    }

    @Test("Options shared by all formats stand beside those of one format", .capability("MET-21"))
    func encoding() throws {
        let image = try bench.picture(800, 600)
        // snippet: encoding
        var options = EncodeOptions(quality: 0.8, maximumBytes: 50_000)  // the best quality up to 0.8 that fits
        options.maximumSize = PixelSize(width: 1600, height: 1600)
        options.keepsMetadata = true  // Exif and XMP, which are left out by default
        options.embedsThumbnail = true  // JPEG and HEIC
        options.jpeg.subsampling = .full
        options.webp.method = 6
        let data = try image.encoded(as: .jpeg, options: options)
        // snippet.end
        #expect(data.count <= 50_000)
        #expect(try Image(data: data).size == image.size)
    }

    @Test("Frames of an animation are decoded one at a time")
    func frames() throws {
        let bytes = try animation().encoded(as: .gif)
        var shown = 0
        func show(_ frame: ImageFrame) { shown += 1 }
        // snippet: frames
        if let decoder = try ImageCoders.default.frameDecoder(
            for: bytes, options: DecodeOptions(), context: ProcessingContext())
        {
            while let frame = try decoder.nextFrame() { show(frame) }
            try decoder.seek(to: decoder.info.frameCount - 1)
            if let last = try decoder.nextFrame() { show(last) }
        }
        // snippet.end
        #expect(shown == 4)
    }

    private func animation() throws -> Image {
        let pictures = try (1...3).map { try bench.picture(80, 20 * $0).resized(to: PixelSize(width: 40, height: 30)) }
        // snippet: animation
        let frames = pictures.map { ImageFrame(pixels: $0.pixels, duration: .milliseconds(80)) }
        let animation = Image(frames: frames)
        // snippet.end
        return try #require(animation)
    }

    @Test("Images are drawn from fills and other images", .capability("MET-25"))
    func drawing() throws {
        let photo = Image(
            pixels: try MutablePixelBuffer(size: PixelSize(width: 80, height: 60), cleared: true).freeze())
        // snippet: drawing
        let image = try Image(size: PixelSize(width: 200, height: 100), scale: 2, isOpaque: true) { surface in
            surface.fill(.white)
            try surface.draw(photo, x: 10, y: 10, size: PixelSize(width: 80, height: 80))
            let red = PixelColor(red: 1, green: 0, blue: 0, alpha: 0.5)
            surface.fill(red, x: 100, size: PixelSize(width: 50, height: 100))
        }
        // snippet.end
        #expect(image.scale == 2 && !image.hasAlpha)
        #expect(image.pixels[5, 5] == SIMD4(255, 255, 255, 255))
        #expect(image.pixels[120, 50].y == 127 || image.pixels[120, 50].y == 128)
    }

    @Test("16 bits and high dynamic range are kept on request", .capability("COD-18", "COD-20"))
    func deep() throws {
        let size = PixelSize(width: 80, height: 60)
        let drawn = Image(pixels: try MutablePixelBuffer(size: size, format: .rgba16, cleared: true).freeze())
        let bytes = try drawn.encoded(as: .png)
        // snippet: high-dynamic-range
        var options = DecodeOptions()
        options.decodeToHDR = true
        let image = try Image(data: bytes, options: options)
        print(image.pixels.format)  // .rgba8, .rgba16 or .rgbaFloat16, like the source
        print(image.isHighDynamicRange)  // true for PQ and HLG
        let bytes8 = try image.pixels.converted(to: .rgba8)
        var encoding = EncodeOptions()
        encoding.encodeToHDR = .isoHDR  // PQ in AVIF, HEIC and JPEG XL; other formats are tone-mapped
        let png = try image.encoded(as: .png, options: encoding)
        // snippet.end
        #expect(image.pixels.format == .rgba16 && !image.isHighDynamicRange)
        #expect(try Image(data: bytes).pixels == bytes8)
        #expect(try Image(data: png, options: options).pixels == image.pixels)
    }
}
