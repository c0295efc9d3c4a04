import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("Caching over HTTP", .timeLimited)
struct HTTPCachingLoadTests {
    @Test(
        "A fresh image is used, a stale one revalidated, and the answer renews it",
        .capability("HTC-01", "MGR-20", "3.3"),
        arguments: [true, false])
    func lifeOfAnImage(isInMemory: Bool) async throws {
        let bench = HTTPCachingBench()
        func load() async throws -> String {
            if !isInMemory { bench.forgetMemory() }
            return try await bench.load().freshness.name
        }
        bench.send("max-age=10")
        #expect(try await load() == "fresh")
        bench.wait(9)
        #expect(try await load() == "cached")
        bench.wait(1)
        bench.confirm("max-age=20")
        #expect(try await load() == "not modified")
        #expect(bench.bench.loader.calls[1].request.validators?.entityTag == "\"1\"")
        bench.wait(19)
        #expect(try await load() == "cached")
        #expect(bench.loads == 2)
        bench.wait(1)
        bench.send("max-age=10", size: 5)
        #expect(try await load() == "updated")
        #expect(try await bench.load().image.size.width == 5)
        #expect(bench.loads == 3)
    }

    @Test("The policy of the manager is that of requests without one", .capability("HTC-01", "CTX-28"))
    func defaults() async throws {
        let bench = HTTPCachingBench(policy: .http)
        bench.send("max-age=1")
        _ = try await bench.load()
        bench.wait(5)
        #expect(try await bench.load(policy: .cacheFirst).freshness.name == "cached")
        #expect(try await bench.load(policy: .cacheOnly).freshness.name == "cached")
        #expect(bench.loads == 1)
        #expect(try await bench.load().freshness.name == "not modified")
        #expect(bench.loads == 2)
        _ = try await bench.bench.manager.image(for: url)
        bench.wait(5)
        _ = try await bench.bench.manager.image(for: url)
        #expect(bench.loads == 3)
        #expect(try await bench.load(policy: .reload).freshness.name == "fresh")
    }

    @Test(
        "An image whose source forbids it is not stored", .capability("HTC-01"),
        arguments: [CachePolicy.http, .cacheFirst])
    func noStore(policy: CachePolicy) async throws {
        let bench = HTTPCachingBench(policy: policy)
        bench.send("no-store")
        _ = try await bench.load()
        #expect(bench.bench.cache.now.disk.isEmpty == (policy == .http))
        #expect(bench.bench.cache.now.memory.isEmpty == (policy == .http))
        // An image that another policy stored is not used either.
        #expect(try await bench.load(policy: .http).freshness.name == "fresh")
        #expect(bench.loads == 2)
    }

    @Test(
        "If the source fails, a stale image is used where that is allowed", .capability("HTC-02"),
        arguments: [true, false])
    func failures(isInMemory: Bool) async throws {
        let bench = HTTPCachingBench()
        bench.send("max-age=1")
        _ = try await bench.load()
        bench.wait(5)
        if !isInMemory { bench.forgetMemory() }
        bench.fail()
        #expect(try await bench.load().freshness.name == "failed: connectionFailed")
        bench.fail(status: 503)
        #expect(try await bench.load().freshness.name == "failed: badStatus")
        bench.fail(status: 404)
        await #expect(throws: ImageError.self) { try await bench.load() }
        bench.send("max-age=1, must-revalidate")
        _ = try await bench.load()
        bench.wait(5)
        bench.fail()
        await #expect(throws: ImageError.self) { try await bench.load() }
    }

    @Test(
        "A stale image is shown at once and renewed in the background", .capability("HTC-02", "3.3"),
        arguments: [true, false])
    func staleWhileRevalidate(isPolicy: Bool) async throws {
        let bench = HTTPCachingBench(policy: isPolicy ? .staleWhileRevalidate : .http)
        bench.send(isPolicy ? "max-age=1" : "max-age=1, stale-while-revalidate=100")
        _ = try await bench.load()
        bench.wait(5)
        bench.send("max-age=100", size: 5)
        let stale = try await bench.load()
        #expect(stale.image.size.width == 8 && stale.freshness.name == "revalidating")
        await bench.bench.manager.flush()
        let result = try await bench.load()
        #expect(result.image.size.width == 5 && result.freshness.name == "cached")
        #expect(bench.loads == 2)
    }

    @Test("Stale bytes are returned at once and renewed in the background, without a decode", .capability("HTC-02"))
    func staleBytes() async throws {
        let bench = HTTPCachingBench(policy: .staleWhileRevalidate)
        bench.send("max-age=1")
        _ = try await bench.bench.manager.data(for: bench.request())
        bench.wait(5)
        bench.send("max-age=100", size: 5)
        let stale = try await bench.bench.manager.data(for: bench.request())
        #expect(stale.data == Data("DOT 8".utf8) && stale.freshness.name == "revalidating")
        await bench.bench.manager.flush()
        let renewed = try await bench.bench.manager.data(for: bench.request())
        #expect(renewed.data == Data("DOT 5".utf8) && renewed.freshness.name == "cached")
        #expect(bench.loads == 2 && bench.bench.coder.decodes == 0)
    }

    @Test("Without a connection, or where data is scarce, cached images aren't revalidated", .capability("HTC-05"))
    func network() async throws {
        let bench = HTTPCachingBench()
        bench.send("max-age=1")
        _ = try await bench.load()
        bench.wait(5)
        bench.network.withLock { $0 = .lowData }
        #expect(try await bench.load().freshness.name == "low data")
        #expect(try await bench.load(policy: .revalidate).freshness.name == "low data")
        bench.network.withLock { $0 = .offline }
        #expect(try await bench.load().freshness.name == "offline")
        bench.bench.cache.change { $0.memory = [:] }
        #expect(try await bench.load().freshness.name == "offline")
        #expect(bench.loads == 1)
        bench.bench.cache.change { ($0.memory, $0.disk) = ([:], [:]) }
        #expect(await bench.bench.failure(bench.request())?.code == .notCached)
        bench.network.withLock { $0 = .lowData }
        _ = try await bench.load()
        #expect(bench.loads == 2)
        bench.network.withLock { $0 = .online }
        bench.send("max-age=1, must-revalidate")
        _ = try await bench.load(policy: .reload)
        bench.wait(5)
        bench.network.withLock { $0 = .offline }
        #expect(await bench.bench.failure(bench.request())?.code == .notCached)
    }

    @Test(
        "Requests with different credentials never share an image", .capability("HTC-04"),
        arguments: CachePolicy.allCases.filter { $0 != .cacheOnly }, ["Authorization", "cookie"])
    func credentials(policy: CachePolicy, name: String) async throws {
        let bench = HTTPCachingBench(policy: policy)
        bench.send("max-age=100", size: 3)
        _ = try await bench.load([name: "a"])
        for isInMemory in [true, false] {
            for headers in [[name: "b"], [:]] {
                if !isInMemory { bench.forgetMemory() }
                var request = bench.request(headers)
                request.cachePolicy = .cacheOnly
                #expect(bench.bench.manager.memoryImage(for: request) == nil)
                #expect(await bench.bench.failure(request)?.code == .notCached)
            }
        }
        #expect(try await bench.load([name: "a"], policy: .cacheOnly).image.size.width == 3)
        bench.send("max-age=100", size: 5)
        #expect(try await bench.load([name: "b"]).image.size.width == 5)
        #expect(bench.bench.loader.calls.last?.request.validators == nil)
        await #expect(throws: ImageError.self) { try await bench.load(policy: .cacheOnly) }
    }

    @Test("An image is for requests with the values that its response varied on", .capability("HTC-04"))
    func vary() async throws {
        let bench = HTTPCachingBench(policy: .cacheFirst)
        bench.send("max-age=100", size: 3, vary: "Accept, X-Size")
        _ = try await bench.load(["accept": "image/webp,image/png", "other": "1"])
        #expect(try await bench.load(["Accept": "image/webp, image/png", "other": "2"]).freshness.name == "cached")
        bench.send("max-age=100", size: 5, vary: "Accept, X-Size")
        #expect(try await bench.load(["Accept": "image/png"]).image.size.width == 5)
        #expect(try await bench.bench.manager.image(for: url).size.width == 5)
        #expect(bench.loads == 3)
    }

    @Test("Two requests with different values at once each get their own image", .capability("HTC-04"))
    func concurrentVary() async throws {
        let cache = DictionaryCache()
        let loader = GatedLoader(nil)
        let manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()]))
        func load(_ type: String) async throws -> Int {
            var request = ImageRequest(url, headers: ["Accept": type])
            request.cachePolicy = .http
            return try await manager.image(for: request).size.width
        }
        async let first = load("a")
        async let second = load("b")
        await loader.arrival(of: 2)
        for call in loader.calls {
            var loaded = LoadedData.dot(size: call.request.headers["Accept"] == "a" ? 3 : 5)
            loaded.statusCode = 200
            loaded.headers = ["cache-control": "max-age=100", "vary": "accept"]
            loader.answer(call.index, with: .success(loaded))
        }
        let sizes = try await [first, second]
        #expect(sizes == [3, 5])
        await manager.flush()
        // Whichever was stored last, none is served to the other request.
        for (type, size) in [("a", 3), ("b", 5)] {
            var request = ImageRequest(url, headers: ["Accept": type])
            request.cachePolicy = .cacheOnly
            if let image = try? await manager.image(for: request) { #expect(image.size.width == size) }
        }
    }

    @Test(
        "An image that is removed while it is revalidated stays removed, and one that isn't is renewed on disk",
        .capability("HTC-03"), arguments: [true, false])
    func removedMeanwhile(isRemoved: Bool) async throws {
        let folder = try TemporaryDirectory()
        let disk = DiskCache(.init(directory: folder.path + "/cache", minimumFreeSpace: 0))
        let cache = ImageCache(memory: MemoryCache(), disk: disk)
        let loader = GatedLoader()
        let manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()]))
        let key = ImageKey(source: "test:a")
        var request = ImageRequest(url, cachePolicy: .http, headers: ["Cookie": "a"])
        request.cache.waitsForStore = true
        request.cache.store = .disk
        let first = manager.task(for: request)
        await loader.arrival(of: 1)
        var loaded = LoadedData.dot(size: 3, validators: CacheValidators(entityTag: "\"1\""))
        (loaded.statusCode, loaded.headers) = (200, ["cache-control": "no-cache"])
        loader.answer(0, with: .success(loaded))
        _ = try await first.image
        request.cache.store = .all
        let task = manager.task(for: request)
        await loader.arrival(of: 2)
        if isRemoved { try await manager.removeAll(of: url) }
        var confirmation = LoadedData.notModified(url: url, statusCode: 304)
        confirmation.headers = ["cache-control": "max-age=100", "vary": "accept", "server": "x"]
        loader.answer(1, with: .success(confirmation))
        #expect(try await task.image.size.width == 3)
        await manager.flush()
        let entry = await disk.entry(forKey: key)
        #expect((entry == nil) == isRemoved && (cache.memory.image(forKey: key) == nil) == isRemoved)
        guard !isRemoved else { return }
        #expect(entry?.answer?.headers == ["cache-control": "max-age=100", "vary": "accept"])
        #expect(entry?.answer?.statusCode == 200 && entry?.validators?.entityTag == "\"1\"")
        #expect(manager.memoryImage(for: request) != nil && manager.memoryImage(for: url) == nil)
    }

    @Test("A clock that goes back makes images stale, not eternal", .capability("HTC-03"))
    func clock() async throws {
        let bench = HTTPCachingBench()
        bench.send("max-age=10")
        _ = try await bench.load()
        bench.wait(-100_000)
        #expect(try await bench.load().freshness.name != "cached")
        #expect(bench.loads == 2)
        #expect(try await bench.load().freshness.name == "cached")
    }

    @Test("The freshness of another URL says nothing of the one that referred to it", .capability("HTC-01"))
    func redirected() async throws {
        let bench = HTTPCachingBench()
        for control in ["max-age=100", nil] {
            var loaded = LoadedData.dot()
            loaded.statusCode = 200
            loaded.headers["cache-control"] = control
            loaded.isRedirected = true
            bench.answer.withLock { [loaded] in $0 = .success(loaded) }
            _ = try await bench.load(policy: .reload)
            #expect(try await bench.load().freshness.name == "not modified")
        }
        #expect(bench.loads == 4)
    }

    @Test("An immutable image isn't revalidated while it is fresh (RFC 8246)", .capability("HTC-01"))
    func immutable() async throws {
        let bench = HTTPCachingBench()
        bench.send("max-age=10, immutable")
        _ = try await bench.load()
        #expect(try await bench.load(policy: .revalidate).freshness.name == "cached")
        bench.wait(11)
        bench.confirm()
        #expect(try await bench.load(policy: .revalidate).freshness.name == "not modified")
        #expect(bench.loads == 2)
    }

    @Test("A thumbnail on disk obeys the rules of its original", .capability("HTC-01"))
    func variants() async throws {
        let bench = HTTPCachingBench()
        bench.send("max-age=10", size: 8)
        var request = bench.request()
        request.thumbnailSize = PixelSize(width: 4, height: 4)
        request.cache.storesVariant = true
        _ = try await bench.bench.manager.load(request)
        bench.forgetMemory()
        bench.wait(5)
        #expect(try await bench.bench.manager.load(request).freshness.name == "cached")
        #expect(bench.loads == 1)
        bench.forgetMemory()
        bench.wait(6)
        bench.send("max-age=10", size: 6)
        #expect(try await bench.bench.manager.load(request).freshness.name == "updated")
        #expect(bench.loads == 2)
    }

    @Test("Images of loaders without HTTP are handled as by cacheFirst", .capability("HTC-01"))
    func otherLoaders() async throws {
        let bench = HTTPCachingBench()
        bench.answer.withLock { $0 = .success(.dot()) }
        _ = try await bench.load()
        bench.wait(1e9)
        #expect(try await bench.load().freshness.name == "cached")
        bench.forgetMemory()
        #expect(try await bench.load().freshness.name == "cached")
        #expect(bench.loads == 1)
    }
}
