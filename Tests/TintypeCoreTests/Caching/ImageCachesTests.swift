import Foundation
import TestSupport
import Testing

@testable import TintypeCore

/// A cache that tells what it was asked, and can be made to wait or to fail.
private final class ToyCache: ImageCaching {
    let entries = Lock<[ImageKey: DiskCacheEntry]>([:])
    let images = Lock<[ImageKey: Image]>([:])
    let calls = Lock<[String]>([])
    let fails: Bool
    /// Waits in queries until it is cancelled.
    let waits: Bool
    let wasCancelled = Lock(false)

    init(fails: Bool = false, waits: Bool = false) {
        self.fails = fails
        self.waits = waits
    }

    private func note(_ call: String) { calls.withLock { $0.append(call) } }
    private func check() throws(ImageError) {
        if fails { throw ImageError(.cacheWriteFailed, stage: .cache, reason: "toy") }
    }

    func memoryImage(forKey key: ImageKey) -> Image? { images.withLock { $0[key] } }
    func storeInMemory(_ image: Image, forKey key: ImageKey) { images.withLock { $0[key] = image } }
    func entry(forKey key: ImageKey) async -> DiskCacheEntry? {
        note("entry")
        if waits {
            let (stream, _) = AsyncStream<Never>.makeStream()
            for await _ in stream {}  // Ends when the task is cancelled.
            wasCancelled.withLock { $0 = Task.isCancelled }
            return nil
        }
        return entries.withLock { $0[key] }
    }
    func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError) {
        note("store")
        try check()
        entries.withLock { $0[key] = entry }
    }
    func contains(_ key: ImageKey, in layers: CacheLayers) async -> CacheLayers {
        note("contains")
        var found = CacheLayers.none
        if layers.contains(.memory), images.withLock({ $0[key] }) != nil { found.insert(.memory) }
        if layers.contains(.disk), entries.withLock({ $0[key] }) != nil { found.insert(.disk) }
        return found
    }
    func remove(_ key: ImageKey, from layers: CacheLayers) async throws(ImageError) {
        note("remove")
        try check()
        entries.withLock { $0[key] = nil }
    }
    func removeAll(source: String, from layers: CacheLayers) async throws(ImageError) {
        note("removeAll")
        try check()
    }
    func clear(_ layers: CacheLayers) async throws(ImageError) {
        note("clear")
        try check()
        entries.withLock { $0 = [:] }
    }
    func flush() async { note("flush") }
}

@Suite("Image caches", .timeLimited)
struct ImageCachesTests {
    private let high = ToyCache(), middle = ToyCache(), low = ToyCache()
    private let entry = DiskCacheEntry(data: Data([1]), created: Date(timeIntervalSince1970: 1))

    private func put(_ data: UInt8, _ cache: ToyCache) {
        cache.entries.withLock { $0["a"] = DiskCacheEntry(data: Data([data]), created: entry.created) }
    }

    @Test(
        "the cache that was added last is asked first; by default queries go on to the next, stores do not",
        .capability("CMG-01", "CMG-03")
    )
    func defaults() async throws {
        let caches = ImageCaches([low, high])
        put(2, low)
        #expect(await caches.entry(forKey: "a")?.data == Data([2]))
        #expect(high.calls.withLock { $0 } == ["entry"])
        put(1, high)
        #expect(await caches.entry(forKey: "a")?.data == Data([1]))
        #expect(low.calls.withLock { $0 } == ["entry"], "a hit ends the query")
        try await caches.store(entry, forKey: "b")
        #expect(high.entries.withLock { $0["b"] } == entry && low.entries.withLock { $0["b"] } == nil)
        try await caches.remove("a")
        #expect(high.entries.withLock { $0["a"] } == nil && low.entries.withLock { $0["a"] } == nil)
        try await caches.clear()
        #expect(high.entries.withLock { $0.isEmpty })
    }

    @Test("each policy asks its caches", .capability("CMG-02"), arguments: ImageCaches.Policy.allCases)
    func policies(_ policy: ImageCaches.Policy) async throws {
        let all = [high, middle, low]
        let caches = ImageCaches(
            all.reversed(), query: policy, store: policy, remove: policy, contains: policy, clear: policy)
        #expect(await caches.entry(forKey: "a") == nil)
        #expect(await caches.contains("a") == .none)
        try await caches.store(entry, forKey: "a")
        try await caches.remove("b")
        try await caches.removeAll(source: "b")
        try await caches.clear()
        let expected: [Bool] =
            switch policy {
            case .highestOnly: [true, false, false]
            case .lowestOnly: [false, false, true]
            case .serial, .concurrent: [true, true, true]
            }
        for (cache, isAsked) in zip(all, expected) {
            let calls = ["entry", "contains", "store", "remove", "removeAll", "clear"]
            #expect(cache.calls.withLock { $0 } == (isAsked ? calls : []))
        }
    }

    @Test("of all at once the first hit wins, and the others are cancelled", .capability("CMG-02", "CMG-08"))
    func concurrentQuery() async {
        let waiting = ToyCache(waits: true)
        put(2, low)
        let caches = ImageCaches([low, waiting], query: .concurrent)
        #expect(await caches.entry(forKey: "a")?.data == Data([2]))
        #expect(waiting.wasCancelled.withLock { $0 })
    }

    @Test(
        "a query that is cancelled cancels those of all caches, and ends", .capability("CMG-08"),
        arguments: [true, false])
    func cancellation(isConcurrent: Bool) async {
        let waiting = ToyCache(waits: true)
        let caches = ImageCaches([low, waiting], query: isConcurrent ? .concurrent : .serial)
        let task = Task { await caches.entry(forKey: "a") }
        task.cancel()
        #expect(await task.value == nil)
    }

    @Test(
        "with a single cache every policy comes to the same", .capability("CMG-04"),
        arguments: ImageCaches.Policy.allCases)
    func singleCache(_ policy: ImageCaches.Policy) async throws {
        let caches = ImageCaches([high], query: policy, store: policy, contains: policy)
        try await caches.store(entry, forKey: "a")
        #expect(await caches.entry(forKey: "a") == entry)
        #expect(await caches.contains("a") == .disk)
    }

    @Test(
        "without caches every call returns, and finds nothing", .capability("CMG-05"),
        arguments: ImageCaches.Policy.allCases)
    func noCaches(_ policy: ImageCaches.Policy) async throws {
        let caches = ImageCaches(
            [], query: policy, store: policy, remove: policy, contains: policy, clear: policy)
        try await caches.store(entry, forKey: "a")
        try await caches.remove("a")
        try await caches.clear()
        #expect(await caches.entry(forKey: "a") == nil)
        #expect(await caches.contains("a") == .none)
        #expect(caches.memoryImage(forKey: "a") == nil)
        await caches.flush()
    }

    @Test("contains follows its own policy, not that of clear", .capability("CMG-06"))
    func containsPolicy() async {
        put(1, low)
        let caches = ImageCaches([low, high], contains: .highestOnly, clear: .serial)
        #expect(await caches.contains("a") == .none)
        #expect(await ImageCaches([low, high], contains: .serial, clear: .highestOnly).contains("a") == .disk)
    }

    @Test("a hit below is copied up when that is asked for", .capability("CMG-07"), arguments: [true, false])
    func copiesUp(_ copiesUp: Bool) async throws {
        put(3, low)
        let image = try solidImage(1, 1)
        low.storeInMemory(image, forKey: "m")
        let caches = ImageCaches([low, middle, high], copiesUp: copiesUp)
        #expect(await caches.entry(forKey: "a")?.data == Data([3]))
        #expect(caches.memoryImage(forKey: "m") != nil)
        for cache in [high, middle] {
            #expect(cache.entries.withLock { $0["a"]?.data } == (copiesUp ? Data([3]) : nil))
            #expect((cache.memoryImage(forKey: "m") != nil) == copiesUp)
        }
    }

    @Test("a cache that cannot keep a copy does not spoil the hit")
    func failingCopy() async {
        put(3, low)
        let caches = ImageCaches([low, ToyCache(fails: true)], copiesUp: true)
        #expect(await caches.entry(forKey: "a")?.data == Data([3]))
    }

    @Test("a failure is told once all caches were asked", arguments: [ImageCaches.Policy.serial, .concurrent])
    func failure(_ policy: ImageCaches.Policy) async {
        let caches = ImageCaches([low, ToyCache(fails: true)], store: policy)
        let error = await #expect(throws: ImageError.self) { try await caches.store(entry, forKey: "a") }
        #expect(error?.code == .cacheWriteFailed)
        #expect(low.entries.withLock { $0["a"] } == entry)
    }

    @Test("caches can be added while it runs")
    func adding() async {
        let caches = ImageCaches([low])
        put(2, high)
        #expect(await caches.entry(forKey: "a") == nil)
        caches.add(high)
        #expect(await caches.entry(forKey: "a")?.data == Data([2]))
    }
}
