import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Snippets: caching", .timeLimited)
struct CachingSnippets {
    let bench: SnippetBench
    var folder: TemporaryDirectory { bench.folder }

    init() throws { bench = try SnippetBench() }

    @Test("Images are stored, found and removed by key")
    func byKey() async throws {
        let cache = try bench.cache()
        let manager = ImageManager(cache: cache)
        let request = ImageRequest(try #require(URL(string: "https://example.org/logo.png")))
        let image = try bench.picture()
        let data = try image.encoded(as: .png)
        // snippet: cache-by-key
        let key = manager.key(for: request)
        cache.memory.store(image, forKey: key)
        try await cache.disk?.store(DiskCacheEntry(data: data, created: .now), forKey: key)
        let inMemory = cache.memory.image(forKey: key)  // Returns at once.
        let bytes = await cache.disk?.entry(forKey: key)?.data
        let file = await cache.disk?.path(forKey: key)  // The image's file. Only read it.
        try await cache.remove(key, from: .disk)
        try await cache.removeAll(ofSource: key.source)  // every size and transform of a URL
        // snippet.end
        #expect(inMemory?.pixels === image.pixels && bytes == data)
        #expect(file?.hasPrefix(folder.path) == true)
        #expect(await cache.contains(key) == [])
    }

    @Test("The rules of HTTP decide how long images are used")
    func overHTTP() async throws {
        let url = try #require(URL(string: "test:/photo.png"))
        let loader = TestLoader([url: .data(try bench.picture().encoded(as: .png))])
        let manager = ImageManager(cache: try bench.cache(), loader: loader)
        let isConnected = true
        var shown: Image?
        // snippet: http-caching
        manager.configuration.cachePolicy = .http  // For requests that don't set their own.
        manager.configuration.networkStatus = { isConnected ? .online : .offline }

        let request = ImageRequest(url, cachePolicy: .staleWhileRevalidate)
        let result = try await manager.load(request)
        switch result.freshness {
        case .cached, .notModified, .fresh, .updated: shown = result.image
        case .stale(.failed(let error)): print("The server can't be reached: \(error.reason)")
        case .stale(let reason): print("This may be out of date: \(reason)")
        }
        // snippet.end
        #expect(shown != nil && loader.requestCount() == 1)
    }

    @Test("Images are stored, found and removed by request")
    func byRequest() async throws {
        let manager = try bench.manager()
        let request = ImageRequest(try #require(URL(string: "https://example.org/logo.png")))
        let image = try bench.picture()
        // snippet: cache-by-request
        try await manager.store(image, for: request)
        let layers = await manager.cachedLayers(for: request)  // .memory, .disk, both, or none
        let inMemory = manager.memoryImage(for: request)  // Returns at once.
        let cached = try await manager.cachedImage(for: request)  // memory, then disk; never the source
        let wasCached = try await manager.removeCachedImage(for: request)
        // snippet.end
        #expect(layers == .all && wasCached)
        #expect(inMemory?.pixels === image.pixels && cached?.pixels === image.pixels)
    }

    @Test("A program decides which images the caches keep")
    func shouldCache() async throws {
        let manager = try bench.manager(try bench.picture().encoded(as: .png))
        // snippet: should-cache
        manager.configuration.shouldCache = { image, request in request.url.host() != "private.example.org" }
        // snippet.end
        for (host, isKept) in [("private.example.org", false), ("example.org", true)] {
            let url = try #require(URL(string: "https://\(host)/logo.png"))
            _ = try await manager.image(for: url)
            #expect((manager.memoryImage(for: ImageRequest(url)) != nil) == isKept, "\(host)")
        }
    }

    @Test("Bytes are loaded without decoding them")
    func bytes() async throws {
        let (manager, url) = (try bench.manager(), try bench.file(80, 60))
        let request = ImageRequest(url)
        // snippet: bytes
        let encoded = try await manager.data(for: request)
        print(encoded.data.count, encoded.info.size, encoded.source)
        // snippet.end
        #expect(encoded.info.size == PixelSize(width: 80, height: 60))
        #expect(encoded.data == (try Data(contentsOf: url)))
    }

    @Test("Thumbnails are encoded once, and come from disk")
    func encoded() async throws {
        let (manager, url) = (try bench.manager(), try bench.file(800, 600))
        // snippet: encoded
        var request = ImageRequest(url, thumbnailSize: PixelSize(width: 320, height: 320))
        request.cache.store = .disk
        let thumbnail = try await manager.encoded(for: request, as: .webp, options: EncodeOptions(quality: 0.8))
        // snippet.end
        #expect(thumbnail.info.format == .webp && thumbnail.info.size == PixelSize(width: 320, height: 240))
    }

    @Test("A memory cache purges as AFAutoPurgingImageCache does", .capability("AFC-02", "AFC-04"))
    func purging() throws {
        // snippet: af-purging
        let cache = MemoryCache(
            .init(
                capacity: ByteCount(100 << 20), capacityAfterPurge: ByteCount(60 << 20),
                policy: .leastRecentlyUsed, keepsWeakReferences: false))
        // snippet.end
        // Held to the end: with weak references, it would be found after the purge, too.
        let (image, cost) = (try bench.picture(), ByteCount(10 << 20))
        let keys = (0...10).map { ImageKey(source: "\($0)") }
        for key in keys[..<10] { cache.store(image, forKey: key, cost: cost) }
        #expect(cache.statistics.entries == 10 && cache.statistics.bytes == 100 << 20, "full is not too full")
        #expect(cache.image(forKey: keys[0]) != nil)
        cache.store(image, forKey: keys[10], cost: cost)
        #expect(cache.statistics.bytes == 60 << 20)
        #expect(keys.filter { cache.image(forKey: $0) != nil } == [keys[0]] + keys[6...10])
        withExtendedLifetime(image) {}
    }

    @Test("Code that cannot await blocks its own thread")
    func blocking() async throws {
        let manager = try bench.manager()
        var request = ImageRequest(try bench.file())
        request.cachePolicy = .cacheOnly
        @Sendable func callback(_ request: ImageRequest) -> Image? {
            // snippet: blocking
            let image = try? manager.loadBlocking(request).image
            // snippet.end
            return image
        }
        let shown: Image? = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [request] in continuation.resume(returning: callback(request)) }
        }
        #expect(shown == nil)
    }

    @Test("Entries expire at a date, or when they are not read for a time")
    func expiring() async throws {
        let disk = DiskCache(.init(directory: folder.path + "/ending", minimumFreeSpace: 0))
        let (key, bytes) = (ImageKey(source: "a"), try bench.picture().encoded(as: .png))
        // snippet: expiring
        var entry = DiskCacheEntry(data: bytes, created: .now)
        entry.expires = .now + 3_600  // whatever happens
        entry.idleLifetime = .hours(12)  // after the last read
        try await disk.store(entry, forKey: key)
        try await disk.removeExpired()  // Frees the space. Expired entries are never returned, even before that.
        // snippet.end
        #expect(await disk.entry(forKey: key)?.data == bytes)
        entry.expires = .now - 1
        try await disk.store(entry, forKey: key)
        #expect(await disk.entry(forKey: key) == nil)
        try await disk.removeExpired()
        #expect(await disk.usage().entries == 0)
    }

    @Test("The age of an image counts from its load")
    func expiry() async throws {
        let path = folder.path + "/created"
        // snippet: expiry
        let cache = try ImageCache(disk: .init(directory: path, maximumAge: .days(1), expiry: .byCreation))
        // snippet.end
        (cache.disk as? DiskCache)?.configuration.minimumFreeSpace = 0
        let (key, data) = (ImageKey(source: "a"), try bench.picture().encoded(as: .png))
        for (age, isKept) in [(80_000.0, true), (90_000, false)] {
            try await cache.disk?.store(DiskCacheEntry(data: data, created: .now - age), forKey: key)
            #expect((await cache.disk?.entry(forKey: key) != nil) == isKept)
        }
    }

    @Test("A cache tells what it takes, and removes the old or all")
    func removal() async throws {
        let disk = DiskCache(.init(directory: folder.path + "/removal"))
        let cache = ImageCache(disk: disk)
        let data = try bench.picture().encoded(as: .png)
        try await cache.disk?.store(DiskCacheEntry(data: data, created: .now), forKey: ImageKey(source: "a"))
        // snippet: removal
        print(disk.configuration.directory, await disk.usage().bytes)
        disk.configuration.maximumAge = .days(1)
        try await cache.removeExpired()  // images that weren't used for a day
        try await cache.removeAll()  // in memory and on disk
        // snippet.end
        #expect(await disk.usage().entries == 0)
    }

    @Test("All cached variants of a URL are listed and removed")
    func variants() async throws {
        let manager = try bench.manager()
        let url = try #require(URL(string: "https://example.org/photo.png"))
        var request = ImageRequest(url)
        try await manager.store(try bench.picture(), for: request)
        request.thumbnailSize = PixelSize(width: 40, height: 40)
        request.cache.storesVariant = true
        request.cache.waitsForStore = true
        _ = try await manager.image(for: request)
        #expect(
            await manager.cachedVariants(of: ImageRequest(url)).map { "\($0.variant)" }.sorted() == ["", "fit=40x40"])
        // snippet: variants
        for key in await manager.cachedVariants(of: ImageRequest(url)) { print(key.variant) }
        try await manager.removeAll(of: url)
        // snippet.end
        #expect(await manager.cachedVariants(of: ImageRequest(url)).isEmpty)
    }

    @Test("Files on disk are encrypted by the program")
    func encryption() async throws {
        @Sendable func encrypt(_ data: Data) throws -> Data { Data(data.map { $0 ^ 0x5A }) }
        @Sendable func decrypt(_ data: Data) throws -> Data { Data(data.map { $0 ^ 0x5A }) }
        let path = folder.path + "/encrypted"
        // snippet: encryption
        let encryption = PayloadCodec(
            identifier: "key-2026", encode: { try encrypt($0) }, decode: { try decrypt($0) })
        let disk = DiskCache(.init(directory: path, payloadCodec: encryption))
        // snippet.end
        disk.configuration.minimumFreeSpace = 0
        let (key, bytes) = (ImageKey(source: "a"), try bench.picture().encoded(as: .png))
        try await disk.store(DiskCacheEntry(data: bytes, created: .now), forKey: key)
        #expect(await disk.entry(forKey: key)?.data == bytes)
        let file = try #require(await disk.path(forKey: key))
        #expect(try !Data(contentsOf: URL(filePath: file)).starts(with: bytes.prefix(8)))
    }

    @Test("A store that several machines share is below the program's own cache")
    func remote() async throws {
        let path = folder.path + "/own"
        let store = DictionaryStore()
        // snippet: remote-cache
        let own = DiskCache(.init(directory: path))
        let disk = TieredDiskCache([RemoteImageCache(store), own], store: .concurrent, promotesHits: true)
        let manager = ImageManager(cache: ImageCache(disk: disk))
        // snippet.end
        own.configuration.minimumFreeSpace = 0
        let image = try bench.picture()
        let request = ImageRequest(URL(string: "https://example.org/a.png")!)
        try await manager.store(image, for: request)
        try await own.removeAll()
        manager.cache.memory.removeAll()
        #expect(try await manager.cachedImage(for: request)?.size == image.size)
    }

    @Test("Images that are shipped with a program are read")
    func searching() async throws {
        let bundled = folder.path + "/bundled"
        let bytes = try bench.picture().encoded(as: .png)
        let other = DiskCache(.init(directory: bundled, minimumFreeSpace: 0))
        try await other.store(
            DiskCacheEntry(data: bytes, created: .now), forKey: ImageKey(source: "https://example.org/a.png"))
        try bytes.write(to: URL(filePath: folder.path + "/mine.png"))
        let disk = DiskCache(.init(directory: folder.path + "/new", minimumFreeSpace: 0))
        let base = folder.path
        @Sendable func myPath(_ source: String) -> String? { source == "mine" ? base + "/mine.png" : nil }
        // snippet: search-paths
        disk.searchPaths = [bundled]
        disk.searchFile = { key in myPath(key.source) }
        // snippet.end
        for source in ["https://example.org/a.png", "mine"] {
            #expect(await disk.entry(forKey: ImageKey(source: source))?.data == bytes, "\(source)")
        }
    }

    @Test("A program ends when everything is on disk")
    func ending() async throws {
        let manager = try bench.manager()
        // snippet: ending
        let swept = try await manager.removeExpired()
        await manager.shutdown()
        // snippet.end
        #expect(swept.entries == 0)
    }
}

/// A store that one process has for itself.
private actor DictionaryStore: RemoteCaching {
    private var values: [String: Data] = [:]
    func get(_ name: String) -> Data? { values[name] }
    func put(_ data: Data, as name: String) { values[name] = data }
    func remove(_ name: String) { values[name] = nil }
    func removeAll(withPrefix prefix: String) { values = values.filter { !$0.key.hasPrefix(prefix) } }
}
