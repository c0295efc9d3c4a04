import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

/// The snippets of the doc comments of functions and small types, run on a picture of 80 × 60 pixels.
@Suite("Snippets: calls", .timeLimited)
struct CallSnippets {
    let bench: SnippetBench
    let data: Data
    let url: URL
    let manager: ImageManager

    init() throws {
        bench = try SnippetBench()
        data = try bench.picture().encoded(as: .png)
        url = try bench.folder.write(data, to: "photo.png")
        manager = try bench.manager(data)
    }

    @Test("A manager loads an image whole, small, and with everything known about its load")
    func loads() async throws {
        // snippet: call-image-url
        let image = try await manager.image(for: url)
        // snippet.end
        // snippet: call-image-request
        let small = ImageRequest(url, thumbnailSize: PixelSize(width: 40, height: 40))
        let thumbnail = try await manager.image(for: small)
        // snippet.end
        // snippet: call-load
        let result = try await manager.load(ImageRequest(url))
        print(result.source, result.image.size, result.metrics.load.total)
        // snippet.end
        #expect(image.size == PixelSize(width: 80, height: 60))
        #expect(thumbnail.size == PixelSize(width: 40, height: 30))
        #expect(result.source == .memory)
    }

    @Test("A manager looks into its caches, stores there, and removes")
    func caches() async throws {
        let url = try #require(URL(string: "https://example.org/photo.png"))
        let request = ImageRequest(url)
        let image = try Image(data: data)
        // snippet: call-store
        try await manager.store(image, data: data, for: ImageRequest(url))
        await manager.flush()  // waits until it is on disk
        // snippet.end
        // snippet: call-memory-image
        if let image = manager.memoryImage(for: request) { show(image) }
        // snippet.end
        // snippet: call-cached-image
        let offline = try await manager.cachedImage(for: request)  // nil if the caches don't have it
        // snippet.end
        // snippet: call-remove-all
        try await manager.removeAll(of: request)  // the original, and every thumbnail
        // snippet.end
        #expect(offline?.size == image.size)
        #expect(manager.memoryImage(for: request) == nil)
        #expect(await manager.cachedLayers(for: request) == [])
    }

    @Test("The bytes of an image come without decoding")
    func bytes() async throws {
        let request = ImageRequest(url)
        // snippet: call-data
        let encoded = try await manager.data(for: request)
        print(encoded.info.format, encoded.info.size, encoded.data.count)
        // snippet.end
        #expect(encoded.data == data)
    }

    @Test("A request's steps are events")
    func events() async {
        let request = ImageRequest(url)
        // snippet: call-events
        for await event in manager.task(for: request).events {
            if case .progress(let progress) = event { show(progress.fraction) }
        }
        // snippet.end
        #expect(manager.memoryImage(for: request) != nil)
    }

    @Test("Bytes are decoded, described, and encoded")
    func coding() throws {
        // snippet: call-image
        let image = try Image(data: data)
        print(image.size, image.format?.rawValue ?? "drawn", image.isAnimated)
        // snippet.end
        // snippet: call-decode
        let picture = try Image(data: data, options: DecodeOptions(thumbnailSize: PixelSize(width: 400, height: 300)))
        // snippet.end
        // snippet: call-encode
        let webp = try image.encoded(as: .webp, options: EncodeOptions(quality: 0.8))
        // snippet.end
        // snippet: call-info
        let info = try ImageInfo(data: data)  // the first kilobytes of a file suffice
        print(info.format, info.displaySize, info.frameCount)
        // snippet.end
        let fileURL = url
        // snippet: call-info-file
        let header = try ImageInfo(contentsOf: fileURL)
        // snippet.end
        #expect(header == info)
        // snippet: call-limits
        let limits = DecodeLimits(maximumPixels: 50_000_000, maximumFrames: 1_000)
        let stranger = try Image(data: data, limits: limits)
        // snippet.end
        // snippet: call-decode-options
        var options = DecodeOptions(thumbnailSize: PixelSize(width: 400, height: 300))
        options.firstFrameOnly = true
        let still = try Image(data: data, options: options)
        // snippet.end
        #expect(picture.size == image.size)
        #expect(try Image(data: webp).size == image.size)
        #expect(info.displaySize == stranger.size)
        #expect(still.size == image.size)
    }

    @Test("An image is transformed, described by colors, and read pixel by pixel")
    func transforming() throws {
        let image = try bench.picture()
        // snippet: call-transformed
        let avatar = try image.transformed(.resize(width: 64, height: 64, mode: .aspectFill).circle())
        // snippet.end
        // snippet: call-crop
        let banner = try image.transformed(.crop(width: 60, height: 20, position: .smart))
        // snippet.end
        // snippet: call-rounded
        let card = try image.transformed(.rounded(radius: 12, corners: [.topLeft, .topRight]))
        // snippet.end
        // snippet: call-thumb-hash
        let hash = try ThumbHash(image)  // when a picture is uploaded
        let placeholder = try ThumbHash(base64: hash.base64).image()  // where it will be shown
        // snippet.end
        // snippet: call-colors
        let colors = try image.dominantColors(count: 3)
        print(colors.map(\.hex))  // the most frequent first
        // snippet.end
        // snippet: call-pixels
        let red = image.pixels.withUnsafeBytes { bytes in
            bytes[3 * image.pixels.bytesPerRow]  // row 3, column 0 of 8-bit RGBA
        }
        // snippet.end
        #expect(avatar.size == PixelSize(width: 64, height: 64))
        #expect(banner.size == PixelSize(width: 60, height: 20))
        #expect(card.pixels[0, 0].w == 0 && card.pixels[0, 59].w == 255)
        #expect(!colors.isEmpty)
        #expect(placeholder.size.width > placeholder.size.height)
        #expect(red == image.pixels[0, 3].x)
    }

    @Test("Settings of requests, managers, and caches read like sentences")
    func settings() throws {
        var request = ImageRequest(url)
        // snippet: call-resize
        request.transformer = .resize(width: 200, height: 200, mode: .aspectFill)
        // snippet.end
        // snippet: call-cache-options
        request.cache.key = "photo 7"  // for a URL with a signature that changes
        request.cache.store = .memory  // nothing on disk
        // snippet.end
        // snippet: call-cache-policy
        request.cachePolicy = .http  // as a browser does: fresh for as long as the server says
        // snippet.end
        // snippet: call-configuration
        manager.configuration.shouldDownload = { url in url.host() == "images.example.org" }
        manager.configuration.scaleDownLimit = .megabytes(30)
        // snippet.end
        // snippet: call-byte-count
        let limit = ByteCount.megabytes(60)
        print(limit)  // 60.0 MB
        // snippet.end
        #expect(request.cachePolicy == .http && request.cache.store == .memory)
        #expect(manager.configuration.scaleDownLimit < limit)
    }
}
