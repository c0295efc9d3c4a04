import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!
private let key = ImageKey(source: "test:a")

/// A disk cache whose list of variants waits until a gate opens, as do some removals and reads.
private final class ListingDisk: DiskCaching {
    let gate = AsyncGate()
    let isListing = AsyncGate()
    let removals = Lock([(began: AsyncGate, gate: AsyncGate)]())
    let reads = Lock([(began: AsyncGate, gate: AsyncGate)]())
    private let disk = PlainDisk()

    func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        let entry = await disk.entry(forKey: key, priority: priority)
        if let read = reads.withLock({ $0.popLast() }) {
            read.began.open()
            await read.gate.wait()
        }
        return entry
    }
    func contains(_ key: ImageKey) async -> Bool { await disk.contains(key) }
    func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) { await disk.store(entry, forKey: key, while: isCurrent) }
    func variants(ofSource source: String) async -> [ImageVariant] {
        isListing.open()
        await gate.wait()
        return []
    }
    func remove(_ key: ImageKey) async throws(ImageError) -> Bool { await disk.remove(key) }
    func removeAll(ofSource source: String) async throws(ImageError) -> Int {
        if let removal = removals.withLock({ $0.popLast() }) {
            removal.began.open()
            await removal.gate.wait()
        }
        return await disk.removeAll(ofSource: source)
    }
    func removeAll() async throws(ImageError) { await disk.removeAll() }
    func removeExpired() async throws(ImageError) -> CacheUsage { CacheUsage() }
    func usage() async -> CacheUsage { await disk.usage() }
}

@Suite("Images that replace others while loads are under way", .timeLimited)
struct ReplacementTests {
    private func request(_ policy: CachePolicy, width: Int? = nil) -> ImageRequest {
        var request = ImageRequest(url, cachePolicy: policy)
        request.thumbnailSize = width.map { PixelSize(width: $0, height: $0) }
        request.cache.waitsForStore = true
        return request
    }

    @Test(
        "Of two refreshes at once, the one that was asked for later stays in the caches, whichever ends first",
        .capability("OPT-03"), arguments: [nil, 4] as [Int?], [[0, 1], [1, 0]])
    func twoRefreshes(width: Int?, order: [Int]) async throws {
        let bench = ManagerBench(answer: nil)
        bench.cache.change { $0.disk[key] = DiskCacheEntry(data: Data("DOT 3".utf8), created: Date()) }
        let tasks = [request(.reload), request(.reload, width: width)].map { bench.manager.task(for: $0) }
        await bench.loader.arrival(of: 2)
        for index in order {
            bench.loader.answer(index, with: .success(.dot(size: 8 + index)))
            _ = try await tasks[index].image
        }
        await bench.manager.flush()
        #expect(bench.cache.now.disk[key]?.data == Data("DOT 9".utf8))
        #expect(bench.manager.memoryImage(for: request(.reload, width: width))?.size.width == width ?? 9)
    }

    @Test(
        "What the program stores while an image is refreshed stays", .capability("CST-01"),
        arguments: [CachePolicy.reload, .revalidate, .http])
    func storeDuringRefresh(policy: CachePolicy) async throws {
        let bench = ManagerBench(answer: nil)
        bench.cache.change { $0.disk[key] = DiskCacheEntry(data: Data("DOT 3".utf8), created: Date()) }
        var refresh = request(policy)
        refresh.cache.query = policy == .http ? .disk : .all
        if policy == .http { refresh.headers = ["Cache-Control": "no-cache"] }
        bench.cache.change { cache in
            cache.disk[key]?.answer = StoredResponse(
                statusCode: 200, headers: ["cache-control": "no-cache"], request: SelectingFields([:]),
                requestTime: Date(), responseTime: Date())
        }
        let task = bench.manager.task(for: refresh)
        await bench.loader.arrival(of: 1)
        try await bench.manager.store(solidImage(5, 5), data: Data("DOT 5".utf8), for: url)
        bench.loader.answer(0, with: .success(.dot(size: 9)))
        #expect(try await task.image.size.width == 9)
        await bench.manager.flush()
        #expect(bench.cache.now.disk[key]?.data == Data("DOT 5".utf8))
        #expect(bench.manager.memoryImage(for: url)?.size.width == 5)
    }

    @Test(
        "A refresh that still removes what it replaces removes nothing that is stored meanwhile", .capability("OPT-03"))
    func slowRemoval() async throws {
        let (disk, loader) = (ListingDisk(), GatedLoader())
        disk.gate.open()
        let manager = ManagerBench(answer: nil).manager.copy(
            cache: ImageCache(memory: MemoryCache(), disk: disk), loader: loader)
        try await manager.store(solidImage(3, 3), data: Data("DOT 3".utf8), for: url)
        let (began, gate) = (AsyncGate(), AsyncGate())
        disk.removals.withLock { $0 = [(began, gate)] }
        let refreshes = [request(.reload), request(.reload)].map { manager.task(for: $0) }
        await loader.arrival(of: 2)
        loader.answer(0, with: .success(.dot(size: 8)))
        await began.wait()
        loader.answer(1, with: .success(.dot(size: 9)))
        let store = Task { try await manager.store(solidImage(5, 5), data: Data("DOT 5".utf8), for: url) }
        gate.open()
        for refresh in refreshes { _ = try await refresh.image }
        try await store.value
        await manager.flush()
        #expect(manager.memoryImage(for: url)?.size.width == 5)
        #expect(await disk.entry(forKey: key)?.data == Data("DOT 5".utf8))
    }

    @Test(
        "A refresh that is canceled while it removes what it replaces still stores what is new", .capability("OPT-03"))
    func canceledReplacement() async throws {
        let (disk, loader) = (ListingDisk(), GatedLoader())
        disk.gate.open()
        let manager = ManagerBench(answer: nil).manager.copy(
            cache: ImageCache(memory: MemoryCache(), disk: disk), loader: loader)
        try await manager.store(solidImage(3, 3), data: Data("DOT 3".utf8), for: url)
        let (began, gate) = (AsyncGate(), AsyncGate())
        disk.removals.withLock { $0 = [(began, gate)] }
        let refresh = manager.task(for: request(.reload))
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot(size: 9)))
        await began.wait()
        refresh.cancel()
        #expect(await refresh.result.failure?.code == .cancelled)
        gate.open()
        // No load is left that waits for the store.
        while await disk.entry(forKey: key)?.data != Data("DOT 9".utf8) { await Task.yield() }
        #expect(manager.memoryImage(for: url)?.size.width == 9)
    }

    @Test("What the program stores while a refresh reads the disk stays", .capability("CST-01"))
    func storeBeforeTransfer() async throws {
        let (disk, loader) = (ListingDisk(), GatedLoader())
        disk.gate.open()
        let manager = ManagerBench(answer: nil).manager.copy(
            cache: ImageCache(memory: MemoryCache(), disk: disk), loader: loader)
        try await manager.store(solidImage(3, 3), data: Data("DOT 3".utf8), for: url)
        let (began, gate) = (AsyncGate(), AsyncGate())
        disk.reads.withLock { $0 = [(began, gate)] }
        let refresh = manager.task(for: request(.revalidate))
        await began.wait()
        try await manager.store(solidImage(5, 5), data: Data("DOT 5".utf8), for: url)
        gate.open()
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot(size: 9)))
        #expect(try await refresh.image.size.width == 9)
        await manager.flush()
        #expect(manager.memoryImage(for: url)?.size.width == 5)
        #expect(await disk.entry(forKey: key)?.data == Data("DOT 5".utf8))
    }

    @Test("A load that ends while the program stores an image stores nothing over it", .capability("CST-01"))
    func loadDuringStore() async throws {
        let (disk, loader) = (ListingDisk(), GatedLoader())
        let manager = ManagerBench(answer: nil).manager.copy(
            cache: ImageCache(memory: MemoryCache(), disk: disk), loader: loader)
        let task = manager.task(for: url)
        await loader.arrival(of: 1)
        let store = Task { try await manager.store(solidImage(5, 5), data: Data("DOT 5".utf8), for: url) }
        await disk.isListing.wait()
        loader.answer(0, with: .success(.dot(size: 9)))
        #expect(try await task.image.size.width == 9)
        // One that begins before the end of the store may have found what is replaced.
        var plain = request(.cacheFirst)
        plain.cache.query = .disk
        let later = manager.task(for: plain)
        await loader.arrival(of: 2)
        disk.gate.open()
        try await store.value
        loader.answer(1, with: .success(.dot(size: 9)))
        _ = try await later.image
        await manager.flush()
        #expect(manager.memoryImage(for: url)?.size.width == 5)
        #expect(await disk.entry(forKey: key)?.data == Data("DOT 5".utf8))
    }

    @Test("An entry that the program stores while a damaged one is decoded isn't discarded with it", .capability("3.6"))
    func storeDuringDamage() async throws {
        let (began, release) = (AsyncGate(), BlockingSignal())
        let coder = DotCoder {
            began.open()
            while release.wait(milliseconds: 1_000) == nil {}
        }
        let bench = ManagerBench(coder: coder, answer: nil)
        bench.cache.change { $0.disk[key] = DiskCacheEntry(data: Data("DOT damaged".utf8), created: Date()) }
        let task = bench.manager.task(for: url)
        await began.wait()
        try await bench.manager.store(solidImage(5, 5), data: Data("DOT 5".utf8), for: url)
        release.send(true)
        await bench.loader.arrival(of: 1)
        bench.loader.answer(0, with: .success(.dot(size: 9)))
        _ = try await task.image
        await bench.manager.flush()
        #expect(bench.cache.now.disk[key]?.data == Data("DOT 5".utf8))
    }

    @Test("A loader that awaits a task for its own URL gets an error, and doesn't hang", .capability("MGR-02"))
    func loaderWithTask() async throws {
        final class AskingLoader: ImageLoading {
            let manager = Lock<ImageManager?>(nil)
            var schemes: [String] { ["test"] }
            func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
                guard let task = manager.withLock({ $0?.task(for: request.url) }) else { return .dot() }
                _ = try await task.image
                return .dot()
            }
        }
        let loader = AskingLoader()
        let manager = ManagerBench().manager.copy(loader: loader)
        loader.manager.withLock { $0 = manager }
        await #expect(throws: ImageError.self) { try await manager.image(for: url) }
        loader.manager.withLock { $0 = nil }
    }
}
