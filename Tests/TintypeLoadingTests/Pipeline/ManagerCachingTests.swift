import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

/// Makes one gray pixel of anything.
private struct Dot: ImageTransformer {
    let key: String

    func transform(_ image: Image) throws -> Image {
        Image(pixels: try image.pixels.resized(to: PixelSize(width: 1, height: 1)))
    }
}

/// Writes what says that it wrote it.
private struct NamedCoder: ImageCoder {
    let dots = DotCoder()
    var identifier: String? { "named" }
    var decodableFormats: Set<ImageFormat> { dots.decodableFormats }
    var encodableFormats: Set<ImageFormat> { dots.encodableFormats }
    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { dots.canDecode(data, format: format) }
    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try dots.info(of: data, context: context)
    }
    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        try dots.decode(data, options: options, context: context)
    }
    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        try dots.encode(image, as: format, options: options, context: context) + Data(" of its own".utf8)
    }
}

@Suite("What a manager finds and keeps", .timeLimited)
struct ManagerCachingTests {
    private let cache = DictionaryCache()
    private let coder = MovieCoder()

    private func manager(
        frames: Int = 3, loader: GatedLoader? = nil, configuration: ImageManager.Configuration = .init()
    ) -> ImageManager {
        let loader =
            loader ?? GatedLoader { .success(LoadedData(data: MovieCoder.bytes(frames: frames), url: $0)) }
        return ImageManager(
            cache: cache, loader: loader, coders: ImageCoders([DotCoder(), coder]), configuration: configuration)
    }

    // MARK: Memory hits

    @Test(
        "The first frame of an animation in memory is a still image of its own; the animation stays as it is",
        .capability("CQU-11"))
    func firstFrame() async throws {
        let manager = manager()
        let animation = try await manager.image(for: url)
        var request = ImageRequest(url)
        request.decode.firstFrameOnly = true
        let stores = cache.now.memoryStores
        let hit = try await manager.load(request)
        #expect(hit.source == .memory && !hit.image.isAnimated && hit.image.loopCount == 0)
        #expect(hit.image.pixels === animation.pixels, "no pixel is copied")
        #expect(manager.memoryImage(for: request)?.pixels === animation.pixels)
        #expect(coder.decodes.count == 1 && cache.now.memoryStores == stores)
        #expect(manager.memoryImage(for: ImageRequest(url))?.isIdentical(to: animation) == true)

        // The same of thumbnails; but a limit of bytes leaves one frame more room than three.
        var thumbnail = ImageRequest(url)
        thumbnail.thumbnailSize = PixelSize(width: 4, height: 4)
        let small = try await manager.image(for: thumbnail)
        thumbnail.decode.firstFrameOnly = true
        #expect(try await manager.load(thumbnail).image.pixels === small.pixels)
        thumbnail.decode.maximumBytes = 48
        #expect(try await manager.load(thumbnail).source != .memory)
        request.transformer = Dot(key: "dot")
        #expect(try await manager.load(request).image.size.width == 1, "what is transformed is made of a still image")
    }

    @Test(
        "Who wants an image that moves takes no still one out of memory, and is told if there is none",
        .capability("CQU-12", "OPT-21"))
    func matching() async throws {
        let loader = GatedLoader { url in
            .success(LoadedData(data: MovieCoder.bytes(frames: url.absoluteString == "test:a" ? 3 : 1), url: url))
        }
        let manager = manager(loader: loader)
        var request = ImageRequest(url)
        cache.storeInMemory(try solidImage(8, 8), forKey: manager.key(for: request))
        #expect(try await manager.load(request).source == .memory)
        request.requiresAnimation = true
        #expect(manager.memoryImage(for: request) == nil)
        let result = try await manager.load(request)
        #expect(result.source == .network && result.image.frames.count == 3)
        #expect(try await manager.load(request).source == .memory, "the animation has taken the still image's place")
        #expect(try await manager.load(url).image.isIdentical(to: result.image))

        request = ImageRequest(URL(string: "test:still")!)
        request.requiresAnimation = true
        let error = await manager.task(for: request).result.failure
        #expect(error?.code == .notAnimated && error?.source == "test:still")
        request.requiresAnimation = false
        #expect(try await manager.load(request).source == .memory, "others may have it")
        #expect(loader.calls.count == 2)
    }

    @Test("A load has the scale of its URL's name, and a request may have another", .capability("MET-24", "CTX-10"))
    func scale() async throws {
        let manager = manager(frames: 1)
        var request = ImageRequest(URL(string: "test:/dir/photo@2x.png?size=3")!)
        #expect(try await manager.image(for: request).scale == 2)
        #expect(manager.key(for: request).variant.isOriginal)
        request.decode.scale = 3
        #expect(try await manager.image(for: request).scale == 3)
        request.decode.scale = 1
        #expect(try await manager.image(for: request).scale == 1)
        request.decode.scale = nil
        #expect(try await manager.load(request).source == .memory)
        #expect(try await manager.image(for: request).scale == 2, "each scale is an image of its own")
        #expect(try await manager.image(for: url).scale == 1)
    }

    // MARK: What is kept

    @Test("An image that the program stores stays, although a load of another began earlier", .capability("CST-01"))
    func storeDuringLoad() async throws {
        let loader = GatedLoader(nil)
        let manager = manager(loader: loader)
        let request = ImageRequest(url)
        let task = manager.task(for: request)
        await loader.arrival(of: 1)
        let new = try Image(size: PixelSize(width: 5, height: 5)) { _ in }
        try await manager.store(new, data: Data("new".utf8), for: request)
        loader.answer(0, with: .success(.dot()))
        #expect(try await task.image.size != new.size)
        await manager.flush()
        #expect(manager.memoryImage(for: request)?.size == new.size)
        #expect(await manager.cache.disk?.entry(forKey: ImageKey(source: "test:a"))?.data == Data("new".utf8))
    }

    @Test("shouldCache decides what the caches keep, and is asked once for all who wait", .capability("AFC-08"))
    func shouldCache() async throws {
        let asked = Lock<[String]>([])
        var configuration = ImageManager.Configuration()
        configuration.shouldCache = { image, request in
            asked.withLock { $0.append("\(request.url) \(image.frames.count)") }
            return request.url.absoluteString != "test:secret"
        }
        let loader = GatedLoader { .success(LoadedData(data: MovieCoder.bytes(frames: 3), url: $0)) }
        let manager = manager(loader: loader, configuration: configuration)
        try await withThrowingTaskGroup(of: Image.self) { group in
            for _ in 0..<20 { group.addTask { try await manager.image(for: url) } }
            try await group.waitForAll()
        }
        await manager.flush()
        #expect(asked.withLock { $0 } == ["test:a 3"])
        #expect(cache.now.memory.count == 1 && cache.now.disk.count == 1)

        let secret = URL(string: "test:secret")!
        for count in 1...2 {
            #expect(try await manager.load(secret).source == .network)
            #expect(loader.calls.count == 1 + count)
        }
        await manager.flush()
        #expect(cache.now.memory.count == 1 && cache.now.disk.count == 1)
        // What comes from the disk does not get into memory either.
        try await cache.store(
            DiskCacheEntry(data: MovieCoder.bytes(frames: 1), created: Date()), forKey: ImageKey(source: "test:secret"))
        #expect(try await manager.load(secret).source == .disk)
        #expect(cache.now.memory.count == 1)
    }

    @Test(
        "Images are stored, found and removed by requests, and each variant by itself", .capability("AFC-01", "OLD-07"))
    func byRequest() async throws {
        let manager = ImageManager(cache: cache, loader: GatedLoader(), coders: ImageCoders([DotCoder()]))
        let request = ImageRequest(url)
        var other = request
        other.transformer = Dot(key: "identifier")
        let (image, round) = (try solidImage(8, 8).with { $0.format = .dot }, try solidImage(2, 2))
        try await manager.store(image, data: Data("DOT 8".utf8), for: request)
        #expect(await manager.cachedLayers(for: request) == .all)
        #expect(await manager.cachedLayers(for: other) == [])
        #expect(manager.memoryImage(for: request)?.isIdentical(to: image) == true)
        #expect(cache.now.disk[manager.key(for: request)]?.data == Data("DOT 8".utf8))
        other.cache.store = .memory
        try await manager.store(round, for: other)
        #expect(await manager.cachedLayers(for: other) == .memory)
        #expect(manager.memoryImage(for: other)?.isIdentical(to: round) == true)
        #expect(try await manager.removeCachedImage(for: request, from: .memory))
        #expect(await manager.cachedLayers(for: request) == .disk)
        #expect(try await manager.removeCachedImage(for: request))
        #expect(try await !manager.removeCachedImage(for: request), "nothing is left to remove")
        #expect(await manager.cachedLayers(for: other) == .memory)
        // Without bytes the image is encoded.
        try await manager.store(image, for: request)
        let original = try #require(cache.now.disk[manager.key(for: request)])
        #expect(original.data == Data("DOT 8".utf8))
        #expect(original.imageProperties == nil, "no load reads them")
    }

    @Test(
        "What a request leaves out is filled in first; then the options processor may change all of it",
        .capability("MGR-06", "CTX-26"))
    func order() {
        let manager = manager()
        let seen = Lock<[String?]>([])
        manager.configuration.transformer = { _ in Dot(key: "manager's") }
        manager.configuration.cacheKey = { _ in "manager's" }
        manager.configuration.optionsProcessor = { request in
            seen.withLock { $0.append(request.transformer?.key) }
            var request = request
            if request.transformer?.key == "manager's" { request.transformer = Dot(key: "processor's") }
            return request
        }
        func key(_ source: String, _ transformer: String) -> ImageKey {
            ImageKey(source: source, variant: ImageVariant(DecodeOptions(), transformer: Dot(key: transformer)))
        }
        #expect(manager.key(for: url) == key("manager's", "processor's"))
        var own = ImageRequest(url, transformer: Dot(key: "own"))
        own.cache.key = "own"
        #expect(manager.key(for: own) == key("own", "own"))
        #expect(seen.withLock { $0 } == ["manager's", "own"])
    }

    @Test("A transformer by URL, for requests that have none of their own", .capability("OLD-06", "MGR-10"))
    func transformerByURL() async throws {
        let manager = manager()
        manager.configuration.transformer = { $0.absoluteString == "test:a" ? Dot(key: "by URL") : nil }
        var request = ImageRequest(url)
        request.decode.firstFrameOnly = true
        #expect(try await manager.image(for: request).size.width == 1)
        #expect(manager.key(for: request).variant.description.hasSuffix("transform=by URL"))
        request.transformer = Dot(key: "own")
        #expect(manager.key(for: request).variant.description.hasSuffix("transform=own"))
        request.transformer = ImageTransformers([])
        #expect(try await manager.image(for: request).size.width == 8)
        request = ImageRequest(URL(string: "test:b")!)
        #expect(try await manager.image(for: request).size.width == 8)
        #expect(manager.key(for: request).variant.isOriginal)
    }

    // MARK: Coders

    @Test("Which coder decodes is the order of the list, or what a copy of the manager brings", .capability("COD-39"))
    func solution() async throws {
        let (first, last, own) = (MovieCoder(), MovieCoder(), MovieCoder())
        let loader = GatedLoader { .success(LoadedData(data: MovieCoder.bytes(frames: 1), url: $0)) }
        let manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([first, last]))
        _ = try await manager.image(for: url)
        #expect((first.decodes.count, last.decodes.count) == (0, 1))
        try await cache.removeAll(from: .all)
        _ = try await manager.copy(coders: own).image(for: url)
        #expect((first.decodes.count, last.decodes.count, own.decodes.count) == (0, 1, 1))
    }

    @Test(
        "A copy's coder decodes animations, and is told all that the request says",
        .capability("COD-56", "COD-27", "D14"))
    func ownCoderOfAnimation() async throws {
        let own = MovieCoder()
        let manager = manager().copy(coders: own)
        var request = ImageRequest(url)
        request.requiresAnimation = true
        request.scalesDownLargeImages = true
        request.thumbnailSize = PixelSize(width: 6, height: 6)
        let image = try await manager.image(for: request)
        #expect(image.frames.count == 3 && image.size.width == 6)
        #expect(coder.decodes.isEmpty && own.decodes.count == 1)
        let options = try #require(own.decodes.first)
        #expect(options.thumbnailSize == PixelSize(width: 6, height: 6) && options.maximumBytes == .megabytes(60))
        #expect(image.properties.decodeOptions == options)
    }

    @Test("A copy's coder with a name writes the variants that are stored", .capability("CST-06", "CTX-06"))
    func ownCoderOfVariant() async throws {
        let bench = ManagerBench()
        let manager = bench.manager.copy(coders: NamedCoder())
        var request = ImageRequest(url)
        request.thumbnailSize = PixelSize(width: 2, height: 2)
        request.cache.storesVariant = true
        request.cache.waitsForStore = true
        #expect(try await manager.load(request).storeError == nil)
        #expect(bench.cache.now.disk[manager.key(for: request)]?.data == Data("DOT 2 of its own".utf8))
    }

    @Test(
        "An image that a copy with its own coders stores is a variant: without storesVariant it isn't on disk",
        .capability("CST-05", "CTX-06"))
    func storedByCopy() async throws {
        let bench = ManagerBench()
        let image = try solidImage(8, 8).with { $0.format = .dot }
        let cases: [(coder: any ImageCoder, layers: CacheLayers)] = [(NamedCoder(), .all), (DotCoder(), .memory)]
        for (coder, layers) in cases {
            let manager = bench.manager.copy(coders: coder)
            var request = ImageRequest(url)
            try await manager.store(image, data: Data("DOT 8".utf8), for: request)
            #expect(await manager.cachedLayers(for: request) == .memory)
            request.cache.storesVariant = true
            try await manager.store(image, data: Data("DOT 8".utf8), for: request)
            #expect(
                await manager.cachedLayers(for: request) == layers,
                "with the identifier \(coder.identifier ?? "of none")")
        }
        try await bench.manager.store(image, data: Data("DOT 8".utf8), for: ImageRequest(url))
        #expect(await bench.manager.cachedLayers(for: ImageRequest(url)) == .all)
    }

    @Test(
        "A load sets the lifetime of what it stores on disk, which ends there also for a cache that is opened later",
        .capability("3.13"))
    func diskLifetime() async throws {
        let directory = try TemporaryDirectory()
        let clock = WallClock()
        func opened() -> DiskCache { DiskCache.temporary(directory.path + "/cache", clock: clock) }
        var disk = opened()
        let cache = ImageCache(memory: MemoryCache(), disk: disk)
        let loader = GatedLoader { .success(.dot($0.absoluteString)) }
        let manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()]))
        manager.configuration.date = { clock.date }
        let lifetimes: [String: Duration?] = ["a": .hours(1), "b": .seconds(-1), "c": nil]
        for (name, lifetime) in lifetimes {
            var request = ImageRequest(try #require(URL(string: "test:\(name)")))
            request.cache.lifetime = lifetime
            request.cache.storesVariant = true
            request.thumbnailSize = PixelSize(width: 2, height: 2)
            request.cache.waitsForStore = true
            let result = try await manager.load(request)
            #expect(result.storeError == nil)
            let ends = await disk.entries(ofSource: "test:\(name)").map(\.entry.expires)
            #expect(ends == Array(repeating: lifetime.map { clock.date + max(0, $0.inSeconds) }, count: 2))
        }
        var request = ImageRequest(url)
        request.cache.lifetime = .minutes(1)
        request.cache.key = "stored"
        try await manager.store(try solidImage(4, 4), data: Data("DOT 4".utf8), for: request)
        func contained() async -> [String] {
            var found: [String] = []
            for name in ["test:a", "test:b", "test:c", "stored"] {
                if await disk.contains(ImageKey(source: name)) { found.append(name) }
            }
            return found
        }
        #expect(await contained() == ["test:a", "test:c", "stored"])
        await disk.close()
        clock.advance(.minutes(59))
        disk = opened()
        #expect(await contained() == ["test:a", "test:c"])
        clock.advance(.minutes(1))
        #expect(await contained() == ["test:c"])
        try await disk.removeExpired()
        #expect(await disk.usage().entries == 2)
    }

    @Test("Stores that nobody waits for are bounded: past the limit a load waits for its own")
    func pendingStoreLimit() async throws {
        let directory = try TemporaryDirectory()
        let gated = GatedFileSystem()
        let disk = DiskCache.temporary(directory.path + "/cache", files: gated.files)
        let coder = DotCoder()
        var configuration = ImageManager.Configuration()
        configuration.pendingStoreLimit = ByteCount(10)
        let manager = ImageManager(
            cache: ImageCache(memory: MemoryCache(), disk: disk),
            loader: GatedLoader { .success(.dot($0.absoluteString)) }, coders: coder, configuration: configuration)
        // 5 of 10 bytes: it does not wait, though the disk does.
        _ = try await manager.image(for: URL(string: "test:a")!)
        await gated.arrival(of: 1)
        _ = try await manager.image(for: URL(string: "test:b")!)
        let isDone = Lock(false)
        let third = Task {
            _ = try await manager.image(for: URL(string: "test:c")!)
            isDone.withLock { $0 = true }
        }
        while await disk.entry(forKey: "test:c") == nil { await Task.yield() }
        #expect(!isDone.withLock { $0 }, "15 bytes are more than may wait")
        #expect(await disk.entry(forKey: "test:a")?.data == Data("DOT 8".utf8), "reads wait for no write")
        gated.open()
        try await third.value
        await manager.flush()
        #expect(await disk.usage().entries == 3)
    }
}
