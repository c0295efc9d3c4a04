import Foundation
import TestSupport
import Testing

import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

/// A cache that doesn't know its numbers.
private struct UnknowingCache: DiskCaching {
    func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? { nil }
    func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) {}
    func contains(_ key: ImageKey) async -> Bool { false }
    func variants(ofSource source: String) async -> [ImageVariant] { [] }
    func remove(_ key: ImageKey) async throws(ImageError) -> Bool { false }
    func removeAll(ofSource source: String) async throws(ImageError) -> Int { .max }
    func removeAll() async throws(ImageError) {}
    func removeExpired() async throws(ImageError) -> CacheUsage { await usage() }
    func usage() async -> CacheUsage { CacheUsage(entries: .max, bytes: .max) }
}

/// A cache that tells what it was asked, and can be made to wait or to fail.
private final class ToyCache: DiskCaching {
    let entries = Lock<[ImageKey: DiskCacheEntry]>([:])
    let calls = Watched<[String]>([])
    let fails: Bool
    /// Waits in queries until it is cancelled.
    let waits: Bool
    /// Waits in queries until it opens, whoever cancels.
    let gate: Watched<Bool>?
    let isWaiting = Watched(false)
    let wasCancelled = Watched(false)

    init(fails: Bool = false, waits: Bool = false, gate: Watched<Bool>? = nil) {
        self.fails = fails
        self.waits = waits
        self.gate = gate
    }

    private func note(_ call: String) { calls.update { $0.append(call) } }
    private func check() throws(ImageError) {
        if fails { throw ImageError(.cacheWriteFailed, stage: .cache, reason: "toy") }
    }

    func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        note("entry")
        // Not cancelled with the query.
        if let gate { await Task.detached { try? await gate.wait { $0 } }.value }
        if waits {
            let (stream, _) = AsyncStream<Never>.makeStream()
            isWaiting.update { $0 = true }
            for await _ in stream {}  // Ends when the task is cancelled.
            wasCancelled.update { $0 = Task.isCancelled }
            return nil
        }
        return entries.withLock { $0[key] }
    }
    func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) {
        guard isCurrent() else { return }
        note("store")
        try check()
        entries.withLock { $0[key] = entry }
    }
    func contains(_ key: ImageKey) async -> Bool {
        note("contains")
        return entries.withLock { $0[key] } != nil
    }
    func variants(ofSource source: String) async -> [ImageVariant] {
        entries.withLock { $0.keys.filter { $0.source == source }.map(\.variant) }
    }
    func remove(_ key: ImageKey) async throws(ImageError) -> Bool {
        note("remove")
        try check()
        return entries.withLock { $0.removeValue(forKey: key) != nil }
    }
    func removeAll(ofSource source: String) async throws(ImageError) -> Int {
        note("removeAll of a source")
        try check()
        return 0
    }
    func removeExpired() async throws(ImageError) -> CacheUsage { CacheUsage() }
    func usage() async -> CacheUsage { CacheUsage() }
    func removeAll() async throws(ImageError) {
        note("removeAll")
        try check()
        entries.withLock { $0 = [:] }
    }
    func flush() async { note("flush") }
}

@Suite("Tiered disk cache", .timeLimited)
struct TieredDiskCacheTests {
    private let high = ToyCache(), middle = ToyCache(), low = ToyCache()
    private let entry = DiskCacheEntry(data: Data([1]), created: Date(timeIntervalSince1970: 1))

    private func put(_ data: UInt8, _ cache: ToyCache) {
        cache.entries.withLock { $0["a"] = DiskCacheEntry(data: Data([data]), created: entry.created) }
    }

    @Test(
        "The cache that was added last is asked first; by default queries go on to the next, stores do not",
        .capability("CMG-01", "CMG-03")
    )
    func defaults() async throws {
        let caches = TieredDiskCache([low, high])
        put(2, low)
        #expect(await caches.entry(forKey: "a")?.data == Data([2]))
        #expect(high.calls.value == ["entry"])
        put(1, high)
        #expect(await caches.entry(forKey: "a")?.data == Data([1]))
        #expect(low.calls.value == ["entry"], "a hit ends the query")
        try await caches.store(entry, forKey: "b")
        #expect(high.entries.withLock { $0["b"] } == entry && low.entries.withLock { $0["b"] } == nil)
        try await caches.remove("a")
        #expect(high.entries.withLock { $0["a"] } == nil && low.entries.withLock { $0["a"] } == nil)
        try await caches.removeAll()
        #expect(high.entries.withLock { $0.isEmpty })
    }

    @Test("Each policy asks its caches", .capability("CMG-02"), arguments: TieredDiskCache.Policy.allCases)
    func policies(_ policy: TieredDiskCache.Policy) async throws {
        let all = [high, middle, low]
        let caches = TieredDiskCache(
            all.reversed(), query: policy, store: policy, remove: policy, contains: policy, removeAll: policy)
        #expect(await caches.entry(forKey: "a") == nil)
        #expect(await !caches.contains("a"))
        try await caches.store(entry, forKey: "a")
        try await caches.remove("b")
        try await caches.removeAll(ofSource: "b")
        try await caches.removeAll()
        let expected: [Bool] =
            switch policy {
            case .highestOnly: [true, false, false]
            case .lowestOnly: [false, false, true]
            case .serial, .concurrent: [true, true, true]
            }
        for (cache, isAsked) in zip(all, expected) {
            let calls = ["entry", "contains", "store", "remove", "removeAll of a source", "removeAll"]
            #expect(cache.calls.value == (isAsked ? calls : []))
        }
    }

    @Test("Of all at once the first hit wins, and the others are cancelled", .capability("CMG-02", "CMG-08"))
    func concurrentQuery() async throws {
        let waiting = ToyCache(waits: true)
        put(2, low)
        let caches = TieredDiskCache([low, waiting], query: .concurrent)
        #expect(await caches.entry(forKey: "a")?.data == Data([2]))
        try await waiting.wasCancelled.wait { $0 }
    }

    @Test("A hit doesn't wait for a cache that ignores cancellation", .capability("CMG-02"))
    func concurrentQueryWithDeafCache() async {
        let gate = Watched(false)
        put(2, low)
        let caches = TieredDiskCache([low, ToyCache(gate: gate)], query: .concurrent, contains: .concurrent)
        // The other cache answers only after the hit has been returned: a query that waited for it would never end.
        #expect(await caches.entry(forKey: "a")?.data == Data([2]))
        gate.update { $0 = true }
    }

    @Test(
        "A query that is cancelled cancels those of all caches, and ends", .capability("CMG-08"),
        arguments: [true, false])
    func cancellation(isConcurrent: Bool) async throws {
        let waiting = ToyCache(waits: true)
        let caches = TieredDiskCache([low, waiting], query: isConcurrent ? .concurrent : .serial)
        let task = Task { await caches.entry(forKey: "a") }
        try await waiting.isWaiting.wait { $0 }
        // From here on there would be a hit in the other cache, for a query that went on after it was cancelled.
        if !isConcurrent { put(2, low) }
        task.cancel()
        #expect(await task.value == nil)
        try await waiting.wasCancelled.wait { $0 }
    }

    @Test("In a canceled task, the caches are asked for an entry all the same", arguments: [true, false])
    func canceledContains(isConcurrent: Bool) async throws {
        put(1, low)
        let caches = TieredDiskCache([low, high], contains: isConcurrent ? .concurrent : .serial)
        let isThere = try await inCanceledTask { await caches.contains("a") }
        #expect(isThere)
    }

    @Test(
        "With a single cache every policy comes to the same", .capability("CMG-04"),
        arguments: TieredDiskCache.Policy.allCases)
    func singleCache(_ policy: TieredDiskCache.Policy) async throws {
        let caches = TieredDiskCache([high], query: policy, store: policy, contains: policy)
        try await caches.store(entry, forKey: "a")
        #expect(await caches.entry(forKey: "a") == entry)
        #expect(await caches.contains("a"))
    }

    @Test(
        "Without caches every call returns, and finds nothing", .capability("CMG-05"),
        arguments: TieredDiskCache.Policy.allCases)
    func noCaches(_ policy: TieredDiskCache.Policy) async throws {
        let caches = TieredDiskCache(
            [], query: policy, store: policy, remove: policy, contains: policy, removeAll: policy)
        try await caches.store(entry, forKey: "a")
        try await caches.remove("a")
        try await caches.removeAll()
        #expect(await caches.entry(forKey: "a") == nil)
        #expect(await !caches.contains("a"))
        await caches.flush()
    }

    @Test("Contains follows its own policy, not that of removeAll", .capability("CMG-06"))
    func containsPolicy() async {
        put(1, low)
        let caches = TieredDiskCache([low, high], contains: .highestOnly, removeAll: .serial)
        #expect(await !caches.contains("a"))
        #expect(await TieredDiskCache([low, high], contains: .serial, removeAll: .highestOnly).contains("a"))
    }

    @Test(
        "A hit in a cache of lower priority is promoted when that is asked for", .capability("CMG-07"),
        arguments: [true, false])
    func promotion(_ promotesHits: Bool) async throws {
        put(3, low)
        let caches = TieredDiskCache([low, middle, high], promotesHits: promotesHits)
        #expect(await caches.entry(forKey: "a")?.data == Data([3]))
        await caches.flush()
        for cache in [high, middle] {
            #expect(cache.entries.withLock { $0["a"]?.data } == (promotesHits ? Data([3]) : nil))
        }
    }

    @Test("A hit is promoted to caches that queries don't ask, too", .capability("CMG-07"))
    func promotionBeyondQueries() async {
        put(3, low)
        let caches = TieredDiskCache([low, middle, high], query: .lowestOnly, promotesHits: true)
        #expect(await caches.entry(forKey: "a")?.data == Data([3]))
        await caches.flush()
        for cache in [high, middle] { #expect(cache.entries.withLock { $0["a"]?.data } == Data([3])) }
    }

    @Test(
        "What is removed while a query finds it in a cache that keeps it isn't promoted",
        .capability("CMG-07", "CRM-01"))
    func removalDuringPromotion() async throws {
        let gate = Watched(false)
        let slow = ToyCache(gate: gate)
        put(3, slow)
        let caches = TieredDiskCache([slow, high], remove: .highestOnly, promotesHits: true)
        async let found = caches.entry(forKey: "a")
        try await slow.calls.wait { $0.contains("entry") }
        try await caches.remove("a")
        gate.update { $0 = true }
        #expect(await found?.data == Data([3]))
        await caches.flush()
        #expect(high.entries.withLock { $0.isEmpty })
    }

    @Test("What is stored while a query finds an older entry isn't replaced by that", .capability("CMG-07"))
    func storeDuringPromotion() async throws {
        let gate = Watched(false)
        let slow = ToyCache(gate: gate)
        put(3, slow)
        let caches = TieredDiskCache([slow, high], promotesHits: true)
        async let found = caches.entry(forKey: "a")
        try await slow.calls.wait { $0.contains("entry") }
        try await caches.store(entry, forKey: "a")
        _ = try await high.remove("a")
        gate.update { $0 = true }
        #expect(await found?.data == Data([3]))
        await caches.flush()
        #expect(high.entries.withLock { $0.isEmpty }, "the query can't know that the newer one is gone")
    }

    @Test("A hit doesn't wait for its promotions, and holds little memory for those that hang", .capability("CMG-07"))
    func hangingPromotion() async throws {
        let hanging = GatedDisk()
        let large = DiskCacheEntry(data: Data(count: 40_000_000), created: entry.created)
        low.entries.withLock { ($0["a"], $0["b"]) = (large, large) }
        let caches = TieredDiskCache([low, high, hanging], promotesHits: true)
        #expect(await caches.entry(forKey: "a") != nil)
        try await high.calls.wait { $0.contains("store") }
        #expect(await caches.entry(forKey: "b") != nil)
        hanging.gate.open()
        await caches.flush()
        #expect(await hanging.contains("a"))
        // The other one was too much at once, and comes with the next lookup.
        #expect(await !hanging.contains("b"))
        #expect(await caches.entry(forKey: "b") != nil)
        await caches.flush()
        #expect(await hanging.contains("b"))
    }

    @Test("A cache that cannot keep a copy does not spoil the hit")
    func failingCopy() async {
        put(3, low)
        let caches = TieredDiskCache([low, ToyCache(fails: true)], promotesHits: true)
        #expect(await caches.entry(forKey: "a")?.data == Data([3]))
    }

    @Test("A failure is told once all caches were asked", arguments: [TieredDiskCache.Policy.serial, .concurrent])
    func failure(_ policy: TieredDiskCache.Policy) async {
        let caches = TieredDiskCache([low, ToyCache(fails: true)], store: policy)
        let error = await #expect(throws: ImageError.self) { try await caches.store(entry, forKey: "a") }
        #expect(error?.code == .cacheWriteFailed)
        #expect(low.entries.withLock { $0["a"] } == entry)
    }

    @Test("Caches can be added while it runs")
    func adding() async {
        let caches = TieredDiskCache([low])
        put(2, high)
        #expect(await caches.entry(forKey: "a") == nil)
        caches.add(high)
        #expect(await caches.entry(forKey: "a")?.data == Data([2]))
    }

    @Test("Sums of numbers that caches don't know end no program")
    func unknownNumbers() async throws {
        let disk = TieredDiskCache([UnknowingCache(), UnknowingCache()])
        let most = CacheUsage(entries: .max, bytes: .max)
        #expect(try await disk.removeAll(ofSource: "a") == .max)
        #expect(try await disk.removeExpired() == most)
        #expect(await disk.usage() == most)
        var statistics = CacheStatistics()
        (statistics.hits, statistics.misses) = (.max, .max)
        #expect(statistics.hitRatio == 0.5)
    }
}
