import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("Copies of a manager, and the layers of originals", .timeLimited)
struct RequestPartsTests {
    private let bench = ManagerBench()

    private func request(_ change: (inout ImageRequest) -> Void) -> ImageRequest {
        var request = ImageRequest(url)
        change(&request)
        return request
    }

    @Test("A copy's cache is read and written in place of the first manager's", .capability("CTX-04", "MGR-40"))
    func cache() async throws {
        let own = DictionaryCache()
        let copy = bench.manager.copy(cache: own.layers)
        let request = request { $0.cache.waitsForStore = true }
        _ = try await copy.image(for: request)
        #expect(own.now.memory.count == 1 && own.now.disk.count == 1)
        #expect(bench.cache.now.memory.isEmpty && bench.cache.now.disk.isEmpty)
        #expect(try await copy.load(request).source == .memory)
        #expect(copy.memoryImage(for: request) != nil && bench.manager.memoryImage(for: url) == nil)
        try await own.removeAll(from: .memory)
        #expect(try await copy.load(request).source == .disk)
        #expect(try await bench.manager.load(url).source == .network)
        #expect(await copy.cachedLayers(for: request) == .all)
        try await copy.removeAll(of: request)
        #expect(own.now.memory.isEmpty && own.now.disk.isEmpty && !bench.cache.now.memory.isEmpty)
    }

    @Test("A copy shares caches and failures with the first manager, and no loads", .capability("CTX-04", "MGR-40"))
    func sharing() async throws {
        let bench = ManagerBench(answer: nil)
        let copy = bench.manager.copy()
        var tasks = [bench.manager.task(for: url)]
        await bench.loader.arrival(of: 1)
        tasks.append(copy.task(for: url))
        await bench.loader.arrival(of: 2)
        bench.manager.cancelAll()
        #expect(await tasks[0].result.failure?.code == .cancelled)
        bench.loader.answer(1, with: .success(.dot()))
        _ = try await tasks[1].image
        #expect(bench.manager.memoryImage(for: url) != nil)
        let broken = URL(string: "test:broken")!
        let failing = copy.task(for: broken)
        await bench.loader.arrival(of: 3)
        bench.loader.answer(2, with: .failure(ImageError(.badStatus, stage: .load, reason: "no", statusCode: 404)))
        _ = await failing.result
        #expect(await bench.failure(ImageRequest(broken))?.code == .recentlyFailed)
    }

    @Test(
        "Originals have a cache of their own, if the manager names one", .capability("CTX-21"))
    func originals() async throws {
        let originals = DictionaryCache()
        bench.manager.configuration.originalCache = originals.layers
        let thumbnail = request {
            $0.thumbnailSize = PixelSize(width: 2, height: 2)
            $0.cache.storesVariant = true
            $0.cache.waitsForStore = true
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
        "An original that is removed while it loads is not stored in its own cache", .capability("CTX-21"))
    func originalRemoved() async throws {
        let bench = ManagerBench(answer: nil)
        let originals = ImageCache(memory: MemoryCache(), disk: TieredDiskCache([PlainDisk()]))
        bench.manager.configuration.originalCache = originals
        let task = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        try await bench.manager.removeAll(of: url)
        bench.loader.answer(0, with: .success(.dot()))
        _ = try await task.image
        await bench.manager.flush()
        #expect(await originals.contains("test:a", in: .disk).isEmpty)
    }

    @Test("The original's disk is stored to and read apart from the result's", .capability("CTX-19", "CTX-20"))
    func layers() async throws {
        // A thumbnail on disk, without its original.
        var thumbnail = request {
            $0.thumbnailSize = PixelSize(width: 2, height: 2)
            $0.cache.storesVariant = true
            $0.cache.storeOriginal = []
            $0.cache.waitsForStore = true
        }
        _ = try await bench.manager.image(for: thumbnail)
        #expect(bench.cache.now.disk.keys.map(\.variant.isOriginal) == [false])
        // The original, and no thumbnail.
        try await bench.cache.removeAll(from: .all)
        thumbnail.cache.store = []
        thumbnail.cache.storeOriginal = .disk
        _ = try await bench.manager.image(for: thumbnail)
        #expect(bench.cache.now.disk.keys.map(\.variant.isOriginal) == [true] && bench.cache.now.memory.isEmpty)
        #expect(bench.loader.calls.count == 2)
        // It is not read, unless that is wanted.
        thumbnail.cache.queryOriginal = []
        #expect(try await bench.manager.load(thumbnail).source == .network)
        thumbnail.cache.query = []
        thumbnail.cache.queryOriginal = .disk
        #expect(try await bench.manager.load(thumbnail).source == .disk)
        #expect(bench.loader.calls.count == 3)
    }

    @Test("In memory, the original is the image before its transformer", .capability("CTX-19", "CTX-20"))
    func originalInMemory() async throws {
        var transformed = request {
            $0.transformer = .resize(width: 2)
            $0.cache.storeOriginal = .memory
            $0.cache.queryOriginal = .memory
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

    @Test("A copy's loader answers in place of all others", .capability("CTX-05", "MGR-40"))
    func loader() async throws {
        let own = GatedLoader { .success(.dot($0.absoluteString, size: 3)) }
        let copy = bench.manager.copy(loader: own)
        let request = request { $0.cache.store = [] }
        #expect(try await copy.image(for: request).size.width == 3)
        #expect(own.calls.count == 1 && bench.loader.calls.isEmpty)
        let data = ImageRequest(URL(string: "data:,x")!)
        #expect(await bench.failure(data, with: copy)?.code == .invalidURL, "not even `data:` URLs go elsewhere")
        #expect(try await bench.manager.image(for: request).size.width == 8)
    }

    @Test("A failure of one loader says nothing about another", .capability("CTX-05"))
    func loaderFailure() async throws {
        let failing = GatedLoader { _ in .failure(ImageError(.badStatus, stage: .load, reason: "no", statusCode: 404)) }
        let (request, copy) = (ImageRequest(url), bench.manager.copy(loader: failing))
        #expect(await bench.failure(request, with: copy)?.code == .badStatus)
        #expect(await bench.failure(request, with: copy)?.code == .recentlyFailed)
        #expect(await bench.failure(request) == nil)
    }
}
