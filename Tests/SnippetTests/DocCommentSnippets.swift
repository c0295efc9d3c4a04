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

    func thumbnailForServer(url: URL, manager: ImageManager) async throws {
        // snippet: doc-encoded
        let request = ImageRequest(url, thumbnailSize: PixelSize(width: 320, height: 320))
        let thumbnail = try await manager.encoded(for: request, as: .webp)
        // snippet.end
        show(thumbnail.data)
    }

    func decodeSettings(url: URL) {
        var request = ImageRequest(url)
        // snippet: doc-format-decode-options
        struct MapOptions: FormatOptions {
            var layer = 0
        }

        request.decode[MapOptions.self].layer = 2  // options[MapOptions.self] in the coder
        // snippet.end
        show(request)
    }

    func imageCache(path: String, key: ImageKey) async throws {
        // snippet: doc-image-cache
        let cache = try ImageCache(
            memory: .init(capacity: .megabytes(100), capacityAfterPurge: .megabytes(60)),
            disk: .init(directory: path, capacity: .gigabytes(2), maximumAge: .days(7)))
        let image = cache.memory.image(forKey: key)
        let swept = try await cache.removeExpired()
        // snippet.end
        show((image, swept))
    }

    func memoryImageCache() {
        // snippet: doc-memory-image-cache
        let manager = ImageManager(cache: ImageCache(memory: .init(capacity: .megabytes(100))))
        // snippet.end
        show(manager)
    }

    func tieredDiskCache(store: some RemoteCaching, own: DiskCache) {
        // snippet: doc-tiered-disk-cache
        let disk = TieredDiskCache([RemoteImageCache(store), own], store: .concurrent, promotesHits: true)
        let manager = ImageManager(cache: ImageCache(disk: disk))
        // snippet.end
        show(manager)
    }

    func memoryCache(image: Image, key: ImageKey) {
        // snippet: doc-memory-cache
        let cache = MemoryCache(.init(capacity: .megabytes(100), capacityAfterPurge: .megabytes(60)))
        cache.store(image, forKey: key)
        let cached = cache.image(forKey: key)
        // snippet.end
        show(cached)
    }

    func loaders(cache: ImageCache) {
        // snippet: doc-image-loaders
        let manager = ImageManager(cache: cache, loader: ImageLoaders([DataURLLoader()]))  // no `file:` URLs
        manager.loaders.add(FileLoader())  // asked before the others
        // snippet.end
    }

    func task(manager: ImageManager, request: ImageRequest) async throws {
        // snippet: doc-image-task
        let task = manager.task(for: request)
        for await event in task.events {
            if case .preview(let image) = event { show(image) }
        }
        let image = try await task.image
        // snippet.end
        show(image)
    }

    @Test("A transformer needs only a key and a function")
    func transformer() async throws {
        // snippet: doc-transformer
        struct Halved: ImageTransformer {
            let key = "halved"

            func transform(_ image: Image) throws -> Image {
                try image.resized(to: PixelSize(width: (image.size.width + 1) / 2, height: (image.size.height + 1) / 2))
            }
        }
        // snippet.end
        let image = try Image(size: PixelSize(width: 9, height: 4)) { _ in }
        #expect(try image.transformed(Halved()).size == PixelSize(width: 5, height: 2))
    }

    @Test("A surface can be drawn on pixel by pixel")
    func surface() throws {
        // snippet: doc-drawing-surface
        let image = try Image(size: PixelSize(width: 64, height: 64)) { surface in
            surface.fill(PixelColor(red: 1, green: 0.5, blue: 0))
            surface[0, 0] = SIMD4(255, 255, 255, 255)  // premultiplied RGBA
        }
        // snippet.end
        #expect(image.pixels[0, 0] == SIMD4(255, 255, 255, 255) && image.pixels[1, 0].x == 255)
    }

    func sizeClasses() -> MemoryCache.Configuration {
        var configuration = MemoryCache.Configuration()
        // snippet: doc-size-classes
        configuration.sizeClasses = [.kilobytes(100): 100, .kilobytes(500): 50, .megabytes(1): 10]
        // snippet.end
        return configuration
    }

    func progressive(
        coder: any ProgressiveImageCoder, chunks: AsyncStream<Data>, options: DecodeOptions, context: ProcessingContext
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

    func rows(size: PixelSize, output: PixelSize, context: ProcessingContext) throws -> PixelBuffer {
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
        let image = try Image(size: PixelSize(width: 200, height: 100), scale: 2, isOpaque: true) { surface in
            surface.fill(.white)
            try surface.draw(photo, x: 10, y: 10, size: PixelSize(width: 80, height: 80))
        }
        // snippet.end
        return image
    }

    func pressure(cache: MemoryCache) {
        // snippet: doc-memory-pressure
        cache.observe(.system)  // Trims itself.
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
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 4, newestFirst: true))
        let loaded = try await downloader.load(LoadRequest(url: url))
        // snippet.end
        show(loaded)
    }
    #endif
}
