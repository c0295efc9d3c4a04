import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

/// A loader that must not be asked.
private struct Nothing: ImageLoading {
    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        throw ImageError(.connectionFailed, stage: .load, reason: "nobody should ask")
    }
}

/// What the article Caching shows, compiled and run.
@Suite("Samples of the article Caching", .timeLimited)
struct CachingSamplesTests {
    private let folder = try! TemporaryDirectory()

    private func cache() throws -> ImageCache {
        try ImageCache(disk: .init(directory: folder.path + "/cache", minimumFreeSpace: 0))
    }

    private func picture(_ width: Int = 80, _ height: Int = 60) throws -> Image {
        try ImageRenderer(size: PixelSize(width: width, height: height), format: .init(isOpaque: true)).image {
            surface in
            surface.fill(PixelColor(red: 0.8, green: 0.4, blue: 0.1), x: width / 2)
        }
    }

    @Test("Caching: two layers, by key")
    func byKey() async throws {
        let cache = try cache()
        let manager = ImageManager(cache: cache)
        let request = ImageRequest(try #require(URL(string: "https://example.org/logo.png")))
        let image = try picture()
        let data = try image.encoded(as: .png)

        let key = manager.key(for: request)
        #expect(cache.memory.image(forKey: key) == nil)
        try await cache.store(image, data: data, forKey: key, in: .all)
        let hit = await cache.image(forKey: key)
        #expect(hit?.image.isIdentical(to: image) == true && hit?.source == .memory)
        let thumbnail = await cache.image(
            forKey: key, options: DecodeOptions(thumbnailSize: PixelSize(width: 40, height: 40)))
        #expect(thumbnail?.image.size == PixelSize(width: 40, height: 30))
        #expect(await cache.disk.path(forKey: key)?.hasPrefix(folder.path) == true)
        try await cache.remove(key, from: .disk)
        try await cache.removeAll(ofSource: key.source)
        #expect(await cache.contains(key) == [])
        try await cache.removeAll(from: .all)
    }

    @Test("Caching: two layers, by request")
    func byRequest() async throws {
        let manager = ImageManager(cache: try cache())
        let request = ImageRequest(try #require(URL(string: "https://example.org/logo.png")))
        let image = try picture()
        try await manager.store(image, for: request)
        #expect(await manager.cachedLayers(for: request) == .all)
        #expect(manager.cachedImage(for: request)?.isIdentical(to: image) == true)
        #expect(try await manager.removeCachedImage(for: request))
        manager.configuration.shouldCache = { image, request in request.url.host() != "private.example.org" }
        let url = try folder.write(try image.encoded(as: .png), to: "logo.png")
        _ = try await manager.image(for: url)
        #expect(manager.cachedImage(for: ImageRequest(url)) != nil)
    }

    @Test("Caching: the bytes alone, and code that cannot await")
    func bytes() async throws {
        let manager = ImageManager(cache: try cache())
        let url = try folder.write(try picture().encoded(as: .png), to: "logo.png")
        let encoded = try await manager.data(for: ImageRequest(url))
        #expect(encoded.info.size == PixelSize(width: 80, height: 60))
        #expect(encoded.data == (try Data(contentsOf: url)))
        var request = ImageRequest(url)
        request.options = .fromCacheOnly
        let thread = WorkQueue(label: "a thread that may block", width: 1)
        let shown = try await thread.perform { [request] _ throws(ImageError) in
            try? manager.loadBlocking(request).image
        }
        #expect(shown == nil)
    }

    @Test("Caching: entries that end")
    func ending() async throws {
        let disk = DiskCache(.init(directory: folder.path + "/ending", minimumFreeSpace: 0))
        let (key, bytes) = (ImageKey(source: "a"), try picture().encoded(as: .png))
        var entry = DiskCacheEntry(data: bytes, created: .now)
        entry.expires = .now + 3_600
        entry.idleLifetime = .hours(12)
        try await disk.store(entry, forKey: key)
        #expect(await disk.entry(forKey: key)?.data == bytes)
        entry.expires = .now - 1
        try await disk.store(entry, forKey: key)
        #expect(await disk.entry(forKey: key) == nil)
        try await disk.removeExpired()
        #expect(await disk.usage().entries == 0)
    }

    @Test("Caching: all sizes of one image")
    func sizes() async throws {
        let manager = ImageManager(cache: try cache(), loader: Nothing())
        let url = try #require(URL(string: "https://example.org/photo.png"))
        var request = ImageRequest(url)
        try await manager.store(try picture(), for: request)
        request.thumbnailSize = PixelSize(width: 40, height: 40)
        request.storesVariant = true
        request.options = .waitStoreCache
        _ = try await manager.image(for: request)
        var variants: [String] = []
        for key in await manager.cachedVariants(of: url) { variants.append("\(key.variant)") }
        #expect(variants.sorted() == ["", "fit=40x40"])
        try await manager.removeAll(of: url)
        #expect(await manager.cachedVariants(of: url).isEmpty)
    }

    @Test("Caching: encryption and compression")
    func sealing() async throws {
        @Sendable func seal(_ data: Data) throws -> Data { Data(data.map { $0 ^ 0x5A }) }
        @Sendable func open(_ data: Data) throws -> Data { Data(data.map { $0 ^ 0x5A }) }
        let path = folder.path + "/sealed"
        let sealed = PayloadCodec(identifier: "key-2026") {
            try seal($0)
        } decode: {
            try open($0)
        }
        let disk = DiskCache(
            .init(directory: path, minimumFreeSpace: 0, encodedMemoryCapacity: .megabytes(10), payloadCodec: sealed))
        let (key, bytes) = (ImageKey(source: "a"), try picture().encoded(as: .png))
        try await disk.store(DiskCacheEntry(data: bytes, created: .now), forKey: key)
        #expect(await disk.entry(forKey: key)?.data == bytes)
        let file = try #require(await disk.path(forKey: key))
        #expect(try !Data(contentsOf: URL(filePath: file)).starts(with: bytes.prefix(8)))
    }

    @Test("Caching: images of others")
    func others() async throws {
        let (shipped, oldCaches) = (folder.path + "/shipped", folder.path + "/old")
        let bytes = try picture().encoded(as: .png)
        for directory in [shipped, oldCaches] {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }
        let name = SDWebImageName.fileName(forKey: "https://example.org/a.png")
        try bytes.write(to: URL(filePath: shipped + "/" + name))
        try bytes.write(
            to: URL(filePath: oldCaches + "/" + SDWebImageName.fileName(forKey: "https://example.org/b.png")))
        try bytes.write(to: URL(filePath: folder.path + "/mine.png"))
        let disk = DiskCache(.init(directory: folder.path + "/new", minimumFreeSpace: 0))
        let base = folder.path
        @Sendable func myPath(_ source: String) -> String? { source == "mine" ? base + "/mine.png" : nil }

        disk.searchPaths = [.directory(shipped), .files { key in myPath(key.source) }]
        let report = try await disk.importSDWebImage(directory: oldCaches) { #expect($0.done <= $0.total) }
        #expect(report.total == 1)
        for source in ["https://example.org/a.png", "https://example.org/b.png", "mine"] {
            #expect(await disk.entry(forKey: ImageKey(source: source))?.data == bytes, "\(source)")
        }
    }

    @Test("Caching: the end of a program")
    func end() async throws {
        let manager = ImageManager(cache: try cache())
        let swept = try await manager.removeExpired()
        #expect(swept.files == 0)
        await manager.shutdown()
        await manager.flush()
    }
}
