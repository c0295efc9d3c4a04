import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("The manager", .timeLimited)
struct ImageManagerTests {
    @Test(
        "Loads, decodes, stores in memory and on disk, and says where the image came from",
        .capability("MGR-01", "MGR-02", "MGR-15", "MGR-17", "MGR-31", "CTX-02", "OLD-11", "AFD-10")
    )
    func load() async throws {
        let bench = ManagerBench()
        let cold = try await bench.manager.load(url)
        #expect(cold.source == .network)
        #expect(cold.data == Data("DOT 8".utf8))
        #expect(cold.mimeType == "image/x-dot")
        #expect(cold.image.size == PixelSize(width: 8, height: 8))
        await bench.manager.flush()
        let hot = try await bench.manager.load(url)
        #expect(hot.source == .memory)
        #expect(hot.data == nil)
        #expect(hot.image.isIdentical(to: cold.image))
        try await bench.cache.removeAll(from: .memory)
        let warm = try await bench.manager.load(url)
        #expect(warm.source == .disk)
        #expect(warm.data == cold.data)
        #expect(bench.loader.calls.count == 1)
        #expect(!bench.manager.hasActiveLoads)
    }

    @Test(
        "A thousand who want one cold image cause one request, one decode and one disk write",
        .capability("DLR-09", "MGR-28", "D1"))
    func thousand() async throws {
        let bench = ManagerBench(answer: nil)
        try await withThrowingTaskGroup(of: Image.self) { group in
            for _ in 0..<1_000 { group.addTask { try await bench.manager.image(for: url) } }
            await bench.loader.arrival(of: 1)
            bench.loader.answer(0, with: .success(.dot()))
            var images: [Image] = []
            for try await image in group { images.append(image) }
            #expect(images.count == 1_000)
            #expect(images.allSatisfy { $0.isIdentical(to: images[0]) })
        }
        await bench.manager.flush()
        #expect(bench.loader.calls.count == 1)
        #expect(bench.coder.decodes == 1)
        #expect(bench.cache.now.diskStores == 1)
        #expect(bench.cache.now.memoryStores == 1)
    }

    @Test("Ten sizes of one image take one transfer, ten decodes and one disk write", .capability("DLR-11", "CQU-10"))
    func tenSizes() async throws {
        let bench = ManagerBench(answer: nil)
        try await withThrowingTaskGroup(of: (Int, Image).self) { group in
            for side in 1...10 {
                var request = ImageRequest(url)
                request.thumbnailSize = PixelSize(width: side, height: side)
                group.addTask { [request] in (side, try await bench.manager.image(for: request)) }
            }
            await bench.loader.arrival(of: 1)
            bench.loader.answer(0, with: .success(.dot(size: 100)))
            for try await (side, image) in group { #expect(image.size == PixelSize(width: side, height: side)) }
        }
        await bench.manager.flush()
        #expect(bench.loader.calls.count == 1)
        #expect(bench.coder.decodes == 10)
        #expect(bench.cache.now.diskStores == 1)
        #expect(bench.cache.now.disk.keys.map(\.variant) == [.original])
        #expect(bench.cache.now.memory.count == 10)
    }

    @Test(
        "Who is cancelled gets one error at once; the others get their image",
        .capability("MGR-33", "MGR-34", "ERR-07", "AFD-08"))
    func cancelOne() async throws {
        let bench = ManagerBench(answer: nil)
        let first = bench.manager.task(for: url)
        let second = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        first.cancel()
        await #expect(throws: ImageError.self) { try await first.image }
        let error = await first.result.failure
        #expect(error?.code == .cancelled)
        #expect(error?.source == "test:a")
        #expect(bench.loader.cancelled == 0)
        bench.loader.answer(0, with: .success(.dot()))
        #expect(try await second.image.size.width == 8)
    }

    @Test(
        "When the last one leaves, the transfer stops, and asking again begins anew",
        .capability("DLR-14", "DLR-15", "AFD-08"))
    func cancelAll() async throws {
        let bench = ManagerBench(answer: nil)
        let tasks = (0..<3).map { _ in bench.manager.task(for: url) }
        await bench.loader.arrival(of: 1)
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.result.failure?.code == .cancelled) }
        let again = bench.manager.task(for: url)
        await bench.loader.arrival(of: 2)
        bench.loader.answer(1, with: .success(.dot()))
        #expect(try await again.image.size.width == 8)
        #expect(bench.loader.cancelled == 1)
        #expect(bench.coder.decodes == 1)
    }

    @Test("cancelAll ends every load, and nothing runs any more", .capability("MGR-35", "MGR-36"))
    func managerCancelAll() async {
        let bench = ManagerBench(answer: nil)
        let tasks = ["test:a", "test:b", "test:c"].map { bench.manager.task(for: URL(string: $0)!) }
        await bench.loader.arrival(of: 3)
        #expect(bench.manager.hasActiveLoads)
        bench.manager.cancelAll()
        for task in tasks { #expect(await task.result.failure?.code == .cancelled) }
        #expect(!bench.manager.hasActiveLoads)
    }

    @Test("The cancellation of the Swift task that waits is honoured")
    func swiftCancellation() async {
        let bench = ManagerBench(answer: nil)
        let task = Task { try await bench.manager.image(for: url) }
        await bench.loader.arrival(of: 1)
        task.cancel()
        let result = await task.result
        #expect(throws: ImageError.self) { try result.get() }
        #expect(bench.loader.cancelled == 1)
    }

    @Test(
        "A missing URL is not asked again until its time is over, unless the request insists",
        .capability("MGR-37", "MGR-39", "OPT-00", "DLR-22", "ERR-04", "3.4")
    )
    func failures() async throws {
        let clock = Lock(ContinuousClock.now)
        var configuration = ImageManager.Configuration()
        configuration.failureLifetime = { _, _ in .seconds(30) }
        configuration.now = { clock.withLock { $0 } }
        let answers = Lock<Result<LoadedData, ImageError>>(
            .failure(ImageError(.badStatus, stage: .load, reason: "404 Not Found", statusCode: 404)))
        let bench = ManagerBench(configuration: configuration) { _ in answers.withLock { $0 } }
        #expect(await bench.failure(ImageRequest(url))?.code == .badStatus)
        let remembered = await bench.failure(ImageRequest(url))
        #expect(remembered?.code == .recentlyFailed)
        #expect(remembered?.statusCode == 404)
        #expect(bench.loader.calls.count == 1)
        var insisting = ImageRequest(url)
        insisting.retriesFailed = true
        #expect(await bench.failure(insisting)?.code == .badStatus)
        clock.withLock { $0 += .seconds(31) }
        answers.withLock { $0 = .success(.dot()) }
        #expect(try await bench.manager.image(for: url).size.width == 8)
        #expect(bench.loader.calls.count == 3)
    }

    @Test("A URL that failed is still served from the cache", .capability("MGR-05", "D2", "3.4"))
    func failedButCached() async throws {
        let bench = ManagerBench { _ in .failure(ImageError(.badStatus, stage: .load, reason: "gone", statusCode: 410))
        }
        var fresh = ImageRequest(url)
        fresh.cachePolicy = .reload
        #expect(await bench.failure(fresh)?.code == .badStatus)
        bench.cache.change {
            $0.disk[ImageKey(source: "test:a")] = DiskCacheEntry(data: Data("DOT 3".utf8), created: Date())
        }
        #expect(try await bench.manager.load(url).source == .disk)
    }

    @Test("A failure that may pass is not remembered", .capability("MGR-38"))
    func passingFailure() async {
        let bench = ManagerBench { _ in .failure(ImageError(.timedOut, stage: .load, reason: "slow")) }
        for _ in 0..<3 { #expect(await bench.failure(ImageRequest(url))?.code == .timedOut) }
        #expect(bench.loader.calls.count == 3)
    }

    @Test("Bytes that do not decode are not cached", .capability("3.8"))
    func garbage() async {
        let bench = ManagerBench { url in .success(LoadedData(data: Data("<html>".utf8), url: url)) }
        let error = await bench.failure(ImageRequest(url))
        #expect(error?.code == .unknownFormat)
        #expect(error?.source == "test:a")
        await bench.manager.flush()
        #expect(bench.cache.now.disk.isEmpty)
        #expect(bench.cache.now.memory.isEmpty)
    }

    @Test("An entry that does not decode is dropped, and the source asked once more", .capability("3.8"))
    func healing() async throws {
        let bench = ManagerBench()
        let key = ImageKey(source: "test:a")
        bench.cache.change { $0.disk[key] = DiskCacheEntry(data: Data("DOT x".utf8), created: Date()) }
        let result = try await bench.manager.load(url)
        #expect(result.source == .network)
        await bench.manager.flush()
        #expect(bench.cache.now.disk[key]?.data == Data("DOT 8".utf8))
    }

    @Test("cacheOnly says so when nothing is cached", .capability("OPT-15"))
    func cacheOnly() async throws {
        let bench = ManagerBench()
        var request = ImageRequest(url)
        request.cachePolicy = .cacheOnly
        #expect(await bench.failure(request)?.code == .notCached)
        _ = try await bench.manager.image(for: url)
        #expect(try await bench.manager.load(request).source == .memory)
        #expect(bench.loader.calls.count == 1)
    }

    @Test("Reload reads no cache, and stores", .capability("OPT-16", "AFD-05"))
    func loaderOnly() async throws {
        let bench = ManagerBench()
        _ = try await bench.manager.image(for: url)
        var request = ImageRequest(url)
        request.cachePolicy = .reload
        request.cache.waitsForStore = true
        let reads = bench.cache.now.diskReads
        #expect(try await bench.manager.load(request).source == .network)
        #expect(bench.cache.now.diskReads == reads)
        #expect(bench.cache.now.diskStores == 2)
    }

    @Test("A veto is a typed error", .capability("MGR-18"))
    func veto() async {
        let bench = ManagerBench()
        bench.manager.configuration.shouldDownload = { _ in false }
        #expect(await bench.failure(ImageRequest(url))?.code == .loadingDisallowed)
        #expect(bench.loader.calls.isEmpty)
    }

    @Test("A URL that nobody can load is an error that names it", .capability("MGR-04", "ERR-01", "AFD-03"))
    func unknownScheme() async {
        let bench = ManagerBench()
        let error = await bench.failure(ImageRequest(URL(string: "gopher://host/a.png")!))
        #expect(error?.code == .invalidURL)
        #expect(error?.source == "gopher://host/a.png")
        #expect(await bench.failure(ImageRequest(URL(string: "relative.png")!))?.code == .invalidURL)
    }

    @Test("The cache key may leave out what changes from call to call", .capability("MGR-08", "MGR-14", "3.17"))
    func cacheKey() async throws {
        let bench = ManagerBench()
        bench.manager.configuration.cacheKey = { String($0.absoluteString.prefix { $0 != "?" }) }
        _ = try await bench.manager.image(for: URL(string: "test:a?token=1")!)
        let second = try await bench.manager.load(URL(string: "test:a?token=2")!)
        #expect(second.source == .memory)
        #expect(second.key == ImageKey(source: "test:a"))
    }

    @Test("A URL whose cache key is empty is known by itself", .capability("MGR-08"))
    func emptyCacheKey() async throws {
        let bench = ManagerBench()
        bench.manager.configuration.cacheKey = { _ in "" }
        for name in ["test:a", "test:b"] {
            let image = try await bench.manager.load(URL(string: name)!)
            #expect(image.source == .network && image.key == ImageKey(source: name))
        }
        var request = ImageRequest(URL(string: "test:a")!)
        request.cache.key = ""
        #expect(await bench.failure(request)?.code == .invalidRequest)
    }

    @Test("The options processor sees every request first", .capability("MGR-07"))
    func processor() async throws {
        var configuration = ImageManager.Configuration()
        configuration.optionsProcessor = { request in
            var request = request
            request.decode.scale = 3
            return request
        }
        let bench = ManagerBench(configuration: configuration)
        #expect(try await bench.manager.image(for: url).properties.decodeOptions.scale == 3)
    }

    @Test(
        "What a request stores is what it says", .capability("MGR-29", "CTX-18", "CTX-20", "OPT-L1", "OLD-12"),
        arguments: [[] as CacheLayers, .memory, .disk, .all])
    func storeTo(layers: CacheLayers) async throws {
        let bench = ManagerBench()
        var request = ImageRequest(url)
        request.cache.store = layers
        _ = try await bench.manager.image(for: request)
        await bench.manager.flush()
        #expect(await bench.cache.layers.contains(ImageKey(source: "test:a"), in: .all) == layers)
    }

    @Test("waitsForStore tells what went wrong; without, the load does not mind", .capability("MGR-30", "OPT-22"))
    func storeError() async throws {
        let bench = ManagerBench()
        let full = ImageError(.cacheWriteFailed, stage: .store, source: "/cache", reason: "no space left")
        bench.cache.change { $0.storeError = full }
        #expect(try await bench.manager.load(url).storeError == nil)
        var waiting = ImageRequest(URL(string: "test:b")!)
        waiting.cache.waitsForStore = true
        let result = try await bench.manager.load(waiting)
        #expect(result.storeError == full)
    }

    @Test("Requests with different header fields share no transfer", .capability("3.10", "DLR-10", "D4"))
    func headers() async throws {
        var configuration = ImageManager.Configuration()
        configuration.insignificantHeaders = ["x-trace"]
        let bench = ManagerBench(configuration: configuration, answer: nil)
        let one = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        var traced = ImageRequest(url)
        traced.headers = ["X-Trace": "7"]
        let same = bench.manager.task(for: traced)
        var other = ImageRequest(url)
        other.headers = ["Authorization": "Bearer x"]
        other.thumbnailSize = PixelSize(width: 2, height: 2)
        let two = bench.manager.task(for: other)
        await bench.loader.arrival(of: 2)
        #expect(bench.loader.calls.map(\.request.headers) == [[:], ["Authorization": "Bearer x"]])
        bench.loader.answer(0, with: .success(.dot()))
        bench.loader.answer(1, with: .success(.dot()))
        _ = try await (one.image, same.image, two.image)
        #expect(bench.loader.calls.count == 2)
    }

    @Test("An image that was scaled down is cached under a key of its own", .capability("OPT-11", "CTX-14", "D25"))
    func scaleDown() async throws {
        var configuration = ImageManager.Configuration()
        configuration.scaleDownLimit = .bytes(100 * 100 * 4)
        let bench = ManagerBench(configuration: configuration) { .success(.dot($0.absoluteString, size: 1_000)) }
        var request = ImageRequest(url)
        request.scalesDownLargeImages = true
        #expect(try await bench.manager.image(for: request).size == PixelSize(width: 100, height: 100))
        #expect(try await bench.manager.image(for: url).size == PixelSize(width: 1_000, height: 1_000))
        #expect(bench.loader.calls.count == 1)
    }
}
