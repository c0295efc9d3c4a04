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

/// A disk cache in memory whose stores and removals wait until the test lets them go.
private final class GatedDisk: DiskCaching {
    private let disk = PlainDisk()
    let (storeGate, removalGate) = (AsyncGate(), AsyncGate())
    private let counts = Lock((stores: 0, removals: 0))

    /// The numbers of stores and removals that have begun.
    var begun: (stores: Int, removals: Int) { counts.withLock { $0 } }

    func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        await disk.entry(forKey: key, priority: priority)
    }
    func contains(_ key: ImageKey) async -> Bool { await disk.contains(key) }
    func variants(ofSource source: String) async -> [ImageVariant] { await disk.variants(ofSource: source) }
    /// Stores without waiting.
    func put(_ text: String) async {
        await disk.store(DiskCacheEntry(data: Data(text.utf8), created: Date()), forKey: key) { true }
    }

    /// Looks again after the store, and removes what is no longer current.
    func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) {
        guard isCurrent() else { return }
        counts.withLock { $0.stores += 1 }
        await storeGate.wait()
        await disk.store(entry, forKey: key) { true }
        if !isCurrent() { _ = try await remove(key) }
    }

    private func beginRemoval() async {
        counts.withLock { $0.removals += 1 }
        await removalGate.wait()
    }

    func remove(_ key: ImageKey) async throws(ImageError) -> Bool {
        await beginRemoval()
        return await disk.remove(key)
    }

    func removeAll(ofSource source: String) async throws(ImageError) -> Int {
        await beginRemoval()
        return await disk.removeAll(ofSource: source)
    }

    func removeAll() async throws(ImageError) {
        await beginRemoval()
        await disk.removeAll()
    }

    func removeExpired() async throws(ImageError) -> CacheUsage { CacheUsage() }
    func usage() async -> CacheUsage { await disk.usage() }
}

@Suite("Removals while images are loaded", .timeLimited)
struct RemovalRaceTests {
    private let disk = GatedDisk()
    private let loader = GatedLoader()
    private let cache: ImageCache
    private let manager: ImageManager

    init() {
        cache = ImageCache(memory: MemoryCache(), disk: disk)
        manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()]))
    }

    @Test("Clearing memory while an image is loaded doesn't keep it from the disk", .capability("CRM-01", "MGR-43"))
    func clearingMemory() async throws {
        disk.storeGate.open()
        let task = manager.task(for: url)
        await loader.arrival(of: 1)
        try await cache.removeAll(from: .memory)
        loader.answer(0, with: .success(.dot()))
        _ = try await task.image
        await manager.flush()
        #expect(await cache.contains(key) == .disk)
    }

    @Test(
        "An image that is read while it is removed from disk is not in memory afterwards", .capability("CRM-01"),
        arguments: [0, 1, 2])
    func readingDuringRemoval(kind: Int) async throws {
        await disk.put("DOT 3")
        let removal = Task {
            switch kind {
            case 0: try await manager.removeCachedImage(for: url)
            case 1: try await manager.removeAll(of: url)
            default: try await cache.removeAll()
            }
        }
        while disk.begun.removals < 1 { await Task.yield() }
        #expect(try await manager.load(url).source == .disk)
        disk.removalGate.open()
        _ = try await removal.value
        #expect(manager.memoryImage(for: url) == nil)
    }

    @Test("An image that was removed is asked for again, even while its write is under way", .capability("CRM-01"))
    func loadAfterRemoval() async throws {
        disk.removalGate.open()
        let first = manager.task(for: url)
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot(size: 3)))
        _ = try await first.image
        #expect(disk.begun.stores == 1, "the write waits")
        try await manager.removeAll(of: url)
        let second = manager.task(for: url)
        await loader.arrival(of: 2)
        loader.answer(1, with: .success(.dot(size: 4)))
        #expect(try await second.image.size.width == 4)
        disk.storeGate.open()
        await manager.flush()
    }

    @Test("A removal wins over an image that the program is storing", .capability("CRM-01"))
    func removalDuringStore() async throws {
        disk.removalGate.open()
        let image = try Image(size: PixelSize(width: 2, height: 2)) { _ in }
        let store = Task { try await manager.store(image, data: Data("DOT 2".utf8), for: ImageRequest(url)) }
        while disk.begun.stores < 1 { await Task.yield() }
        try await manager.removeAll(of: url)
        disk.storeGate.open()
        try await store.value
        #expect(await cache.contains(key) == [])
    }

    @Test(
        "What the program stores takes the place of an entry without a removal, which might fail", .capability("CST-01")
    )
    func storeWithoutRemoval() async throws {
        disk.storeGate.open()
        await disk.put("DOT 3")
        let image = try Image(size: PixelSize(width: 2, height: 2)) { _ in }
        try await manager.store(image, data: Data("DOT 2".utf8), for: ImageRequest(url))
        #expect(await disk.entry(forKey: key)?.data == Data("DOT 2".utf8))
        #expect(disk.begun.removals == 0)
    }

    @Test("A load that begins after a removal joins none from before it", .capability("CRM-01"))
    func notJoiningOldLoad() async throws {
        disk.removalGate.open()
        disk.storeGate.open()
        let first = manager.task(for: url)
        await loader.arrival(of: 1)
        try await manager.removeAll(of: url)
        let second = manager.task(for: url)
        await loader.arrival(of: 2)
        loader.answer(1, with: .success(.dot(size: 4)))
        #expect(try await second.image.size.width == 4)
        loader.answer(0, with: .success(.dot(size: 3)))
        #expect(try await first.image.size.width == 3)
        await manager.flush()
        #expect(manager.memoryImage(for: url)?.size.width == 4)
        #expect(await disk.entry(forKey: key)?.data == Data("DOT 4".utf8))
    }

    @Test("Bytes that are loaded after a removal don't come from a transfer before it", .capability("CRM-01"))
    func bytesAfterRemoval() async throws {
        disk.removalGate.open()
        disk.storeGate.open()
        let first = Task { try await manager.data(for: url) }
        await loader.arrival(of: 1)
        try await manager.removeAll(of: url)
        let second = Task { try await manager.data(for: url) }
        await loader.arrival(of: 2)
        loader.answer(1, with: .success(.dot(size: 4)))
        #expect(try await second.value.data == Data("DOT 4".utf8))
        loader.answer(0, with: .success(.dot(size: 3)))
        #expect(try await first.value.data == Data("DOT 3".utf8))
        await manager.flush()
        #expect(await disk.entry(forKey: key)?.data == Data("DOT 4".utf8))
    }

    @Test(
        "After a removal during a reload, the caches have neither the old image nor the new one",
        .capability("OPT-03", "CRM-01"))
    func removalDuringReload() async throws {
        disk.removalGate.open()
        disk.storeGate.open()
        await disk.put("DOT 3")
        var small = ImageRequest(url)
        small.thumbnailSize = PixelSize(width: 2, height: 2)
        _ = try await (manager.image(for: url), manager.image(for: small))
        var reload = ImageRequest(url)
        reload.cachePolicy = .reload
        let task = manager.task(for: reload)
        await loader.arrival(of: 1)
        try await manager.removeCachedImage(for: small)
        loader.answer(0, with: .success(.dot(size: 4)))
        #expect(try await task.image.size.width == 4)
        await manager.flush()
        #expect(await cache.contains(key) == [] && manager.memoryImage(for: small) == nil)
    }

    @Test("A reload replaces the image, also where the cache of originals is the same one", .capability("OPT-03"))
    func reloadWithSameOriginals() async throws {
        disk.removalGate.open()
        disk.storeGate.open()
        await disk.put("DOT 3")
        manager.configuration.originalCache = cache
        #expect(try await manager.image(for: url).size.width == 3)
        var reload = ImageRequest(url)
        reload.cache.query = []
        let task = manager.task(for: reload)
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot(size: 4)))
        _ = try await task.image
        await manager.flush()
        #expect(manager.memoryImage(for: url)?.size.width == 4)
        #expect(await disk.entry(forKey: key)?.data == Data("DOT 4".utf8))
    }

    @Test("A removal wins over a store that is still being prepared", .capability("CRM-01", "MGR-09"))
    func removalDuringPreparation() async throws {
        let folder = try TemporaryDirectory()
        let release = BlockingSignal()
        let began = AsyncGate()
        var configuration = ImageManager.Configuration()
        configuration.cacheSerializer = { _, data, _ in
            began.open()
            while release.wait(milliseconds: 1_000) == nil {}
            return data
        }
        let cache = ImageCache(
            memory: MemoryCache(), disk: DiskCache(.init(directory: folder.path, minimumFreeSpace: 0)))
        let manager = ImageManager(
            cache: cache, loader: loader, coders: ImageCoders([DotCoder()]), configuration: configuration)
        let task = manager.task(for: url)
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot()))
        _ = try await task.image
        await began.wait()
        try await manager.removeAll(of: url)
        release.send(true)
        await manager.flush()
        #expect(await cache.contains(key) == [])
    }

    @Test("An image that is removed at any moment of its load and its store doesn't come back", .capability("CRM-01"))
    func anyMoment() async throws {
        // With `CRASH_ROUNDS=200`, 10,000 removals.
        let rounds = ProcessInfo.processInfo.environment["CRASH_ROUNDS"].flatMap { Int($0) }.map { $0 * 50 } ?? 200
        let directory = try TemporaryDirectory()
        let cache = ImageCache(memory: MemoryCache(), disk: DiskCache.temporary(directory.path + "/cache"))
        let loader = GatedLoader { .success(.dot($0.absoluteString)) }
        var configuration = ImageManager.Configuration.still
        configuration.cacheSerializer = { _, data, _ in data }
        let manager = ImageManager(
            cache: cache, loader: loader, coders: ImageCoders([DotCoder()]), configuration: configuration)
        var random = SeededRandom(seed: 1)
        for round in 0..<rounds {
            let url = try #require(URL(string: "test:\(round)"))
            let task = manager.task(for: url)
            await loader.arrival(of: round + 1)
            for _ in 0..<Int.random(in: 0...40, using: &random) { await Task.yield() }
            try await manager.removeAll(of: url)
            _ = try await task.image
            await manager.flush()
            #expect(try await manager.cachedImage(for: url) == nil, "round \(round)")
        }
    }

    @Test("A load that begins after a removal uses no bytes of a transfer from before it", .capability("CRM-01"))
    func transferFromBefore() async throws {
        disk.removalGate.open()
        disk.storeGate.open()
        let first = manager.task(for: url)
        await loader.arrival(of: 1)
        try await manager.removeAll(of: url)
        var small = ImageRequest(url)
        small.thumbnailSize = PixelSize(width: 2, height: 2)
        let second = manager.task(for: small)
        loader.answer(0, with: .success(.dot(size: 3)))
        await loader.arrival(of: 2)
        loader.answer(1, with: .success(.dot(size: 4)))
        #expect(try await first.image.size.width == 3)
        #expect(try await second.image.size.width == 2)
        await manager.flush()
        #expect(await disk.entry(forKey: key)?.data == Data("DOT 4".utf8))
    }

    @Test("A removal while an image is loaded keeps it out of several caches too", .capability("CRM-01"))
    func removalDuringLoad() async throws {
        let loader = GatedLoader()
        let disk = TieredDiskCache([PlainDisk(), PlainDisk()], store: .concurrent)
        let cache = ImageCache(memory: MemoryCache(), disk: disk)
        let manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()]))
        let url = URL(string: "test:a")!
        let task = manager.task(for: url)
        await loader.arrival(of: 1)
        try await manager.removeAll(of: url)
        loader.answer(0, with: .success(.dot()))
        _ = try await task.image
        await manager.flush()
        #expect(await cache.contains(manager.key(for: url)) == [])
        for cache in disk.caches { #expect(await !cache.contains(manager.key(for: url))) }
    }
}
