import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

/// A loader without identity, in contrast to an object.
private struct ValueLoader: ImageLoading {
    var side: Int

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        LoadedData(data: Data("DOT \(side)".utf8), url: request.url)
    }
}

@Suite("Parts that a request brings", .timeLimited)
struct RequestPartsTests {
    private let bench = ManagerBench()

    private func request(_ change: (inout ImageRequest) -> Void) -> ImageRequest {
        var request = ImageRequest(url)
        change(&request)
        return request
    }

    @Test("a request's cache is read and written in place of the manager's", .capability("CTX-04", "MGR-40"))
    func cache() async throws {
        let own = DictionaryCache()
        let request = request {
            $0.cache = own
            $0.waitsForStore = true
        }
        _ = try await bench.manager.image(for: request)
        #expect(own.now.memory.count == 1 && own.now.disk.count == 1)
        #expect(bench.cache.now.memory.isEmpty && bench.cache.now.disk.isEmpty)
        #expect(try await bench.manager.load(request).source == .memory)
        #expect(bench.manager.memoryImage(for: request) != nil && bench.manager.memoryImage(for: url) == nil)
        try await own.removeAll(from: .memory)
        #expect(try await bench.manager.load(request).source == .disk)
        #expect(try await bench.manager.load(url).source == .network)
        #expect(await bench.manager.cachedLayers(for: request) == .all)
        try await bench.manager.removeAll(of: request)
        #expect(own.now.memory.isEmpty && own.now.disk.isEmpty && !bench.cache.now.memory.isEmpty)
    }

    @Test("loads with one cache share their work, loads with different ones none", .capability("CTX-04"))
    func sharing() async throws {
        let bench = ManagerBench(answer: nil)
        let (one, two) = (DictionaryCache(), DictionaryCache())
        let caches: [DictionaryCache?] = [one, one, two, nil, nil]
        let tasks = caches.map { cache in bench.manager.task(for: request { $0.cache = cache }) }
        await bench.loader.arrival(of: 3)
        while bench.manager.waiting.images < 5 { await Task.yield() }
        for index in 0..<3 { bench.loader.answer(index, with: .success(.dot())) }
        for task in tasks { _ = try await task.image }
        await bench.manager.flush()
        #expect(bench.loader.calls.count == 3)
        for cache in [one, two, bench.cache] {
            #expect(cache.now.memory.count == 1 && cache.now.diskStores == 1)
        }
    }

    @Test(
        "originals have a cache of their own, if the request or the manager names one", .capability("CTX-21"),
        arguments: [true, false])
    func originals(isOfManager: Bool) async throws {
        let originals = DictionaryCache()
        if isOfManager { bench.manager.configuration.originalCache = originals }
        let thumbnail = request {
            if !isOfManager { $0.originalCache = originals }
            $0.thumbnailSize = PixelSize(width: 2, height: 2)
            $0.storesVariant = true
            $0.waitsForStore = true
        }
        _ = try await bench.manager.image(for: thumbnail)
        #expect(originals.now.disk.keys.map(\.variant.isOriginal) == [true] && originals.now.memory.isEmpty)
        #expect(bench.cache.now.disk.keys.map(\.variant.isOriginal) == [false] && bench.cache.now.memory.count == 1)
        // The thumbnail is lost, and made again of the original.
        try await bench.cache.removeAll(from: .all)
        let again = try await bench.manager.load(thumbnail)
        #expect(again.source == .disk && again.image.size.width == 2 && bench.loader.calls.count == 1)
        var plain = thumbnail
        plain.thumbnailSize = nil
        #expect(try await bench.manager.load(plain).source == .disk)
        #expect(await bench.manager.cachedLayers(for: plain) == .all)
        try await bench.manager.removeAll(of: plain)
        #expect(originals.now.disk.isEmpty && bench.cache.now.disk.isEmpty && bench.cache.now.memory.isEmpty)
    }

    @Test(
        "an original that is removed while it loads is not stored in its own cache", .capability("CTX-21"))
    func originalRemoved() async throws {
        let bench = ManagerBench(answer: nil)
        let originals = ImageCaches([DictionaryCache()])
        bench.manager.configuration.originalCache = originals
        let task = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        try await bench.manager.removeAll(of: url)
        bench.loader.answer(0, with: .success(.dot()))
        _ = try await task.image
        await bench.manager.flush()
        #expect(await originals.contains("test:a", in: .disk).isEmpty)
    }

    @Test("the original's disk is stored to and read apart from the result's", .capability("CTX-19", "CTX-20"))
    func layers() async throws {
        // A thumbnail on disk, without its original.
        var thumbnail = request {
            $0.thumbnailSize = PixelSize(width: 2, height: 2)
            $0.storesVariant = true
            $0.storeOriginalTo = []
            $0.waitsForStore = true
        }
        _ = try await bench.manager.image(for: thumbnail)
        #expect(bench.cache.now.disk.keys.map(\.variant.isOriginal) == [false])
        // The original, and no thumbnail.
        try await bench.cache.removeAll(from: .all)
        thumbnail.storeTo = []
        thumbnail.storeOriginalTo = .disk
        _ = try await bench.manager.image(for: thumbnail)
        #expect(bench.cache.now.disk.keys.map(\.variant.isOriginal) == [true] && bench.cache.now.memory.isEmpty)
        #expect(bench.loader.calls.count == 2)
        // It is not read, unless that is wanted.
        thumbnail.queryOriginalFrom = []
        #expect(try await bench.manager.load(thumbnail).source == .network)
        thumbnail.queryFrom = []
        thumbnail.queryOriginalFrom = .disk
        #expect(try await bench.manager.load(thumbnail).source == .disk)
        #expect(bench.loader.calls.count == 3)
    }

    @Test("in memory, the original is the image before its transformer", .capability("CTX-19", "CTX-20"))
    func originalInMemory() async throws {
        var transformed = request {
            $0.transformer = .resize(width: 2)
            $0.storeOriginalTo = .memory
            $0.queryOriginalFrom = .memory
        }
        #expect(try await bench.manager.image(for: transformed).size.width == 2)
        #expect(bench.manager.memoryImage(for: url)?.size.width == 8)
        #expect(bench.cache.now.disk.isEmpty)
        transformed.transformer = .resize(width: 3)
        let result = try await bench.manager.load(transformed)
        #expect(result.source == .memory && result.image.size.width == 3)
        #expect(bench.loader.calls.count == 1 && bench.coder.decodes == 1)
        #expect(bench.manager.memoryImage(for: transformed)?.size.width == 3, "the result is stored too")
    }

    @Test("a request's loader answers in place of all others", .capability("CTX-05", "MGR-40"))
    func loader() async throws {
        let own = GatedLoader { .success(.dot($0.absoluteString, size: 3)) }
        let request = request {
            $0.loader = own
            $0.storeTo = []
        }
        #expect(try await bench.manager.image(for: request).size.width == 3)
        #expect(own.calls.count == 1 && bench.loader.calls.isEmpty)
        var other = request
        other.url = URL(string: "data:,x")!
        #expect(await bench.failure(other)?.code == .invalidURL, "not even `data:` URLs go elsewhere")
        other.url = url
        other.loader = ValueLoader(side: 5)
        #expect(try await bench.manager.image(for: other).size.width == 5)
        other.loader = nil
        #expect(try await bench.manager.image(for: other).size.width == 8)
    }

    @Test("a failure of one loader says nothing about another", .capability("CTX-05"))
    func loaderFailure() async throws {
        let failing = GatedLoader { _ in .failure(ImageError(.badStatus, stage: .load, reason: "no", statusCode: 404)) }
        let request = request { $0.loader = failing }
        #expect(await bench.failure(request)?.code == .badStatus)
        #expect(await bench.failure(request)?.code == .recentlyFailed)
        #expect(await bench.failure(ImageRequest(url)) == nil)
    }

    @Test("loads with different loaders share no transfer, those with one do", .capability("CTX-05"))
    func loaderSharing() async throws {
        let bench = ManagerBench(answer: nil)
        let own = GatedLoader()
        let tasks = [nil, own, own].map { loader in bench.manager.task(for: request { $0.loader = loader }) }
        await bench.loader.arrival(of: 1)
        await own.arrival(of: 1)
        while bench.manager.waiting.images < 3 { await Task.yield() }
        own.answer(0, with: .success(.dot(size: 4)))
        bench.loader.answer(0, with: .success(.dot(size: 8)))
        #expect(try await tasks[0].image.size.width == 8)
        #expect(try await tasks[1].image.size.width == 4)
        #expect(try await tasks[2].image.size.width == 4)
        #expect(own.calls.count == 1)
    }

    @Test("an object has one token for its life, a value a new one each time")
    func tokens() {
        let (one, two) = (DictionaryCache(), DictionaryCache())
        #expect(PartToken.token(of: one) == PartToken.token(of: one))
        #expect(PartToken.token(of: one) != PartToken.token(of: two))
        #expect(PartToken.token(of: nil) == 0)
        #expect(PartToken.token(of: ValueLoader(side: 1)) != PartToken.token(of: ValueLoader(side: 1)))
        var seen: Set<Int> = []
        for _ in 0..<1_000 { seen.insert(PartToken.token(of: DictionaryCache())) }
        #expect(seen.count == 1_000, "an object at the address of another is not that one")
    }
}
