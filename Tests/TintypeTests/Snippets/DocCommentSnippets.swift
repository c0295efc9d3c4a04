import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

/// The snippets of doc comments in Sources. Most are compiled only: tests of the types themselves run the same calls.
@Suite("Snippets: doc comments", .timeLimited)
struct DocCommentSnippets {
    func diskCache(path: String, bytes: Data, key: ImageKey) async throws {
        // snippet: doc-disk-cache
        let cache = DiskCache(.init(directory: path, capacity: .gigabytes(2), maximumAge: .days(7)))
        try await cache.store(DiskCacheEntry(data: bytes, created: Date()), forKey: key)
        let entry = await cache.entry(forKey: key)
        // snippet.end
        show(entry)
    }

    func request(url: URL, manager: ImageManager) async throws {
        // snippet: doc-request
        var request = ImageRequest(url)
        request.thumbnailSize = PixelSize(width: 400, height: 300)
        request.priority = .high
        let image = try await manager.image(for: request)
        // snippet.end
        show(image)
    }

    func sizeClasses() -> MemoryCache.Configuration {
        var configuration = MemoryCache.Configuration()
        // snippet: doc-size-classes
        configuration.sizeClasses = [
            .init(upTo: .kilobytes(100), count: 100), .init(upTo: .kilobytes(500), count: 50),
            .init(upTo: .megabytes(1), count: 10),
        ]
        // snippet.end
        return configuration
    }

    func progressive(
        coder: any ProgressiveImageCoder, chunks: AsyncStream<Data>, options: DecodeOptions, context: DecodeContext
    ) async throws {
        // snippet: doc-progressive
        let decoder = try coder.progressiveDecoder(options: options, context: context)
        for await chunk in chunks {
            try decoder.append(chunk)
            if let preview = try decoder.preview() { show(preview) }
        }
        show(try decoder.finish())
        // snippet.end
    }

    func rows(size: PixelSize, output: PixelSize, context: DecodeContext) throws -> PixelBuffer {
        func decodeRow(into row: UnsafeMutableRawPointer) {}
        // snippet: doc-row-sink
        var sink = try RowSink(stored: size, output: output, orientation: .right, context: context)
        for _ in 0..<size.height {
            decodeRow(into: sink.rowToFill())  // premultiplied RGBA, size.width pixels
            try sink.commitRow()
        }
        let pixels = try sink.finish()
        // snippet.end
        return pixels
    }

    func renderer(photo: Image) throws -> Image {
        // snippet: doc-renderer
        let renderer = ImageRenderer(size: PixelSize(width: 200, height: 100), format: .init(scale: 2, isOpaque: true))
        let image = try renderer.image { surface in
            surface.fill(.white)
            try surface.draw(photo, x: 10, y: 10, size: PixelSize(width: 80, height: 80))
        }
        // snippet.end
        return image
    }

    func pressure(cache: MemoryCache) {
        // snippet: doc-memory-pressure
        cache.observe(.system)  // Trims to its watermarks by itself.
        MemoryPressure.system.report(.critical)  // What a desktop's own monitor has noticed.
        // snippet.end
    }

    @Test("One format's options can be named by their type")
    func encodeOptions() {
        // snippet: doc-encode-options
        var options = EncodeOptions(quality: 0.8)
        options.webp.method = 6
        options[JPEGEncodeOptions.self].subsampling = .full  // the same, spelled in full
        // snippet.end
        #expect(options.webp.method == 6 && options.jpeg.subsampling == .full)
    }

    #if HTTP
    func downloader(url: URL) async throws {
        // snippet: doc-downloader
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 4, order: .lastInFirstOut))
        let loaded = try await downloader.load(LoadRequest(url: url))
        // snippet.end
        show(loaded)
    }
    #endif
}
