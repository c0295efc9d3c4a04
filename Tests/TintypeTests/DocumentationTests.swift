import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

/// What the documentation shows, compiled and run.
@Suite("Samples of the documentation", .timeLimited)
struct DocumentationTests {
    private let folder = try! TemporaryDirectory()

    private func manager() throws -> ImageManager {
        let cache = try ImageCache(
            memory: .init(capacity: .megabytes(100), capacityAfterPurge: .megabytes(60)),
            disk: .init(directory: folder.path + "/cache", capacity: .gigabytes(2), maximumAge: .days(7)))
        return ImageManager(cache: cache, loader: ImageLoaders([DataURLLoader(), FileLoader()]))
    }

    private func picture() throws -> Image {
        Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 800, height: 600), cleared: true).freeze())
    }

    private func file() throws -> URL {
        try folder.write(try picture().encoded(as: .png), to: "photo.png")
    }

    @Test("README and GettingStarted: load a thumbnail")
    func gettingStarted() async throws {
        let url = try file()
        let manager = try manager()
        var request = ImageRequest(url)
        request.thumbnailSize = PixelSize(width: 400, height: 300)
        let image = try await manager.image(for: request)
        image.pixels.withUnsafeBytes { bytes in #expect(bytes.count == image.pixels.bytesPerRow * 300) }
        #expect(image.size == PixelSize(width: 400, height: 300))
    }

    @Test("Loading: all that is known of a load, and the hooks of a manager")
    func loading() async throws {
        let url = try file()
        let manager = try manager()
        manager.cacheKey = { url in String(url.absoluteString.prefix { $0 != "?" }) }
        manager.shouldDownload = { url in url.isFileURL }
        let result = try await manager.load(url)
        #expect(result.source == .network)
        #expect(result.data != nil)
        #expect(result.metrics.total > .zero)
        #expect(result.metrics.load > .zero)
    }

    @Test("Loading: a transformer by URL")
    func transformer() async throws {
        struct Round: ImageTransformer {
            let key = "round"
            func transform(_ image: Image) throws -> Image { try image.resized(to: PixelSize(width: 1, height: 1)) }
        }
        let manager = try manager()
        manager.configuration.transformer = { url in url.path.hasPrefix("/avatars/") ? Round() : nil }
        var request = ImageRequest(try #require(URL(string: "https://example.org/avatars/a.png")))
        #expect(manager.key(for: request).variant.description == "transform=round")
        request.transformer = ImageTransformers([])
        #expect(manager.key(for: request).variant.isOriginal)
        #expect(try await manager.image(for: file()).size.width == 800)
    }

    #if HTTP
    @Test("Loading: header fields for some hosts")
    func headers() throws {
        let token = "secret"
        let downloader = ImageDownloader(
            .init(headerProvider: { url, headers in
                var headers = headers
                if url.host() == "images.example.org" { headers["X-Token"] = token }
                return headers
            }))
        let provider = try #require(downloader.configuration.headerProvider)
        #expect(provider(try #require(URL(string: "https://images.example.org/a")), [:])["x-token"] == "secret")
        #expect(provider(try #require(URL(string: "https://example.org/a")), ["A": "b"]) == ["A": "b"])
    }
    #endif

    @Test("FollowingALoad: events until the end")
    func following() async throws {
        let task = try manager().task(for: ImageRequest(try file()))
        var shown: Image?
        for await event in task.events {
            switch event {
            case .progress(let progress): #expect(progress.fraction ?? 0 <= 1)
            case .preview(let image): shown = image
            case .finished(let result): shown = try? result.get().image
            }
        }
        #expect(shown?.size == PixelSize(width: 800, height: 600))
        task.priority = .low
        task.cancel()
        #expect(try await task.image.isIdentical(to: try #require(shown)))
    }

    @Test("DecodingAndEncoding: without any network, on any thread", .capability("MET-21"))
    func decoding() async throws {
        let bytes = try picture().encoded(as: .png)
        let image = try Image(data: bytes)
        let thumbnail = try Image(
            data: bytes, options: DecodeOptions(thumbnailSize: PixelSize(width: 200, height: 200)))
        let info = try ImageInfo(data: bytes)
        let webp = try image.encoded(as: .webp, options: EncodeOptions(quality: 0.8, maximumBytes: 50_000))
        let elsewhere = try await WorkQueue.processing.perform { _ throws(ImageError) in try Image(data: bytes) }
        #expect(thumbnail.size == PixelSize(width: 200, height: 150))
        #expect(info.size == elsewhere.size)
        #expect(webp.count <= 50_000)
    }

    @Test("DecodingAndEncoding: what all formats have in common, and what only one knows", .capability("MET-21"))
    func writing() throws {
        let image = try picture()
        var options = EncodeOptions(quality: 0.8, maximumBytes: 50_000)
        options.maximumSize = PixelSize(width: 1600, height: 1600)
        options.metadata = .all
        options.embedsThumbnail = true
        options.jpeg.subsampling = .full
        options.webp.method = 6
        let data = try image.encoded(as: .jpeg, options: options)
        #expect(data.count <= 50_000)
        #expect(try Image(data: data).size == image.size)
    }

    @Test("DecodingAndEncoding: drawing", .capability("MET-25"))
    func drawing() throws {
        let photo = try picture()
        let renderer = ImageRenderer(
            size: PixelSize(width: 200, height: 100), format: .init(scale: 2, isOpaque: true))
        let image = try renderer.image { surface in
            surface.fill(.white)
            try surface.draw(photo, x: 10, y: 10, size: PixelSize(width: 80, height: 80))
            surface.fill(
                PixelColor(red: 1, green: 0, blue: 0, alpha: 0.5), x: 100, size: PixelSize(width: 50, height: 100))
            surface.withRow(0) { row in #expect(row.count == 800) }
        }
        #expect(image.scale == 2 && !image.hasAlpha)
        #expect(image.pixels[5, 5] == SIMD4(255, 255, 255, 255))
        #expect(image.pixels[120, 50].y == 127 || image.pixels[120, 50].y == 128)
    }

    @Test("DecodingAndEncoding: more than 8 bits", .capability("COD-18", "COD-20"))
    func deep() throws {
        let size = PixelSize(width: 80, height: 60)
        let drawn = Image(pixels: try MutablePixelBuffer(size: size, format: .rgba16, cleared: true).freeze())
        let bytes = try drawn.encoded(as: .png)
        var options = DecodeOptions()
        options.decodeToHDR = true
        let image = try Image(data: bytes, options: options)
        #expect(image.pixels.format == .rgba16 && !image.isHighDynamicRange)
        let bytes8 = try image.pixels.converted(to: .rgba8)
        #expect(try Image(data: bytes).pixels == bytes8)
        var encoding = EncodeOptions()
        encoding.encodeToHDR = .isoHDR
        #expect(try Image(data: image.encoded(as: .png, options: encoding), options: options).pixels == image.pixels)
    }

    @Test("ErrorsAndLimits: catch by code")
    func errors() async throws {
        do {
            _ = try await manager().image(for: URL(fileURLWithPath: "/no/such/photo.png"))
            Issue.record("it loaded")
        } catch ImageError.Code.cancelled {
            Issue.record("nobody cancelled")
        } catch ImageError.Code.fileUnreadable {
        }
    }

    @Test("AddingAFormat: a coder of one's own", .capability("COD-01", "PLG-03"))
    func coder() throws {
        let coders = ImageCoders.default.adding(QOICoder())
        let image = try coders.decode(Data("qoif\u{2}\u{1}".utf8), options: DecodeOptions(), context: DecodeContext())
        #expect(image.size == PixelSize(width: 2, height: 1))
        #expect(image.pixels[1, 0] == SIMD4(9, 9, 9, 255))
    }
}

extension ImageFormat { fileprivate static let qoi = ImageFormat(rawValue: "qoi") }

/// The sample of AddingAFormat, for a format much simpler than its name.
private struct QOICoder: ImageCoder {
    var decodableFormats: Set<ImageFormat> { [.qoi] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { data.starts(with: Data("qoif".utf8)) }

    func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        ImageInfo(format: .qoi, size: PixelSize(width: Int(data[4]), height: Int(data[5])), hasAlpha: false)
    }

    func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        let info = try info(of: data, context: context)
        let output = options.outputSize(for: info.displaySize)
        try context.limits.check(size: info.size, output: output)
        var sink = try RowSink(stored: info.size, output: output, context: context)
        for _ in 0..<info.size.height {
            let row = sink.rowToFill()
            for x in 0..<info.size.width {
                row.storeBytes(of: SIMD4(9, 9, 9, 255), toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
            try sink.commitRow()
        }
        return Image(pixels: try sink.finish())
    }
}
