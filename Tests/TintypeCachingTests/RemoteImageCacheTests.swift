import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

/// A store as a dictionary, which can be made to fail, and to answer never or late.
private final class ToyStore: RemoteCaching {
    struct Failure: Error {}

    let values = Lock<[String: Data]>([:])
    let fails = Lock(false)
    /// Operations wait until it opens, even when they are cancelled.
    let gate = Watched(true)
    let started = Watched(0)

    private func begin() async throws {
        started.update { $0 += 1 }
        await Task.detached { [gate] in try? await gate.wait { $0 } }.value
        if fails.withLock({ $0 }) { throw Failure() }
    }

    func get(_ name: String) async throws -> Data? {
        try await begin()
        return values.withLock { $0[name] }
    }
    func put(_ data: Data, as name: String) async throws {
        try await begin()
        values.withLock { $0[name] = data }
    }
    func remove(_ name: String) async throws {
        try await begin()
        values.withLock { $0[name] = nil }
    }
    func removeAll(withPrefix prefix: String) async throws {
        try await begin()
        values.withLock { values in values = values.filter { !$0.key.hasPrefix(prefix) } }
    }
}

@Suite("A remote cache", .timeLimited)
struct RemoteImageCacheTests {
    private let store = ToyStore()
    private let clock = ManualClock()
    private let wall = WallClock()
    private let cache: RemoteImageCache
    private let key = ImageKey(source: "https://example.org/a.png?token=secret")
    private let entry: DiskCacheEntry

    init() {
        cache = RemoteImageCache(
            store, deadline: .milliseconds(100), maximumEntryBytes: .kilobytes(20), clock: clock,
            now: { [wall] in wall.date })
        let response = StoredResponse(
            statusCode: 200, headers: ["cache-control": "max-age=60"], request: SelectingFields([:]),
            requestTime: wall.date,
            responseTime: wall.date)
        var entry = DiskCacheEntry(
            data: someBytes(5_000, seed: 1), created: wall.date, mimeType: "image/png",
            validators: CacheValidators(entityTag: "\"a\"", lastModified: nil))
        entry.answer = response
        self.entry = entry
    }

    /// Runs a call, and lets the time pass until it ends.
    private func late<Value: Sendable>(_ call: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let isDone = Lock(false)
        let task = Task {
            defer { isDone.withLock { $0 = true } }
            return try await call()
        }
        while !isDone.withLock({ $0 }) {
            clock.advance(by: .milliseconds(10))
            await Task.yield()
        }
        return try await task.value
    }

    @Test("Keeps the bytes with their response, under names that don't tell the URL")
    func roundTrip() async throws {
        try await cache.store(entry, forKey: key)
        #expect(await cache.entry(forKey: key) == entry)
        #expect(await cache.contains(key))
        let (name, data) = try #require(store.values.withLock { $0.first })
        #expect(name.count == 49 && data.range(of: Data("secret".utf8)) == nil)
        #expect(cache.statistics.hits == 2 && cache.statistics.stores == 1)
    }

    @Test("Removes an entry, and all variants of a source, but not all that others have there")
    func removing() async throws {
        let variant = ImageKey(source: key.source, variant: ImageVariant(description: "fit=1x1"))
        for key in [key, variant, "other"] { try await cache.store(entry, forKey: key) }
        #expect(try await cache.remove(key))
        #expect(await cache.entry(forKey: key) == nil)
        #expect(await cache.entry(forKey: variant) != nil)
        try await cache.removeAll(ofSource: key.source)
        await cache.removeAll()
        #expect(await cache.entry(forKey: variant) == nil)
        #expect(await cache.entry(forKey: "other") == entry)
    }

    @Test("No image of a file is shared, whatever its key")
    func files() async throws {
        var entry = entry
        entry.answer = nil
        try await cache.store(entry, forKey: "file:///home/a.png")
        try await cache.store(entry, forKey: "/home/a.png")
        entry.validators = CacheValidators(entityTag: CacheValidators.filePrefix + "1-2-3.4")
        try await cache.store(entry, forKey: "photo 7")
        #expect(store.started.value == 0)
    }

    @Test("What is no longer current isn't stored, or is removed again")
    func conditions() async {
        await cache.store(entry, forKey: key) { false }
        #expect(store.started.value == 0)
        let answers = Lock([true, false])
        await cache.store(entry, forKey: key) { answers.withLock { $0.removeFirst() } }
        #expect(store.values.withLock { $0.isEmpty })
    }

    @Test("What is removed while it is still on its way to the store is removed when it arrives")
    func removedOnTheWay() async throws {
        let isCurrent = Lock(true)
        store.gate.update { $0 = false }
        _ = try await late { [cache, entry, key] in await cache.store(entry, forKey: key) { isCurrent.withLock { $0 } }
        }
        isCurrent.withLock { $0 = false }
        store.gate.update { $0 = true }
        // The put, and the removal after it.
        try await store.started.wait { $0 >= 2 }
        while !store.values.withLock({ $0.isEmpty }) { await Task.yield() }
    }

    @Test(
        "What only one user may see isn't shared",
        arguments: [
            (["cache-control": "private"], [:]), (["cache-control": "max-age=60, no-store"], [:]), (["vary": "*"], [:]),
            ([:], ["authorization": "anna"]), (["vary": "accept"], ["accept": "image/avif"]),
        ] as [([String: String], [String: String])])
    func privacy(response: [String: String], request: [String: String]) async {
        var own = entry
        own.answer = StoredResponse(
            statusCode: 200, headers: response, request: SelectingFields(request, credentials: ["authorization"]),
            requestTime: wall.date, responseTime: wall.date)
        await cache.store(own, forKey: key) { true }
        await cache.store(entry, forKey: "file:///home/anna/a.png") { true }
        #expect(store.values.withLock { $0.isEmpty })
    }

    @Test("An entry that is too old isn't accepted, and one from a clock ahead has the age of its arrival")
    func age() async {
        await cache.store(entry, forKey: key) { true }
        wall.advance(.seconds(7 * 86_400 - 1))
        #expect(await cache.entry(forKey: key) != nil)
        wall.advance(.seconds(2))
        #expect(await cache.entry(forKey: key) == nil)
    }

    @Test("A store that answers late or never is waited for until the deadline, and is no error but for removals")
    func late() async throws {
        try await cache.store(entry, forKey: key)
        store.gate.update { $0 = false }
        let found = try await late { [cache, key] in await cache.entry(forKey: key) }
        #expect(found == nil)
        try await late { [cache, key, entry] in try await cache.store(entry, forKey: key) }
        let error = await #expect(throws: ImageError.self) {
            _ = try await late { [cache, key] in try await cache.remove(key) }
        }
        #expect(error?.code == .cacheWriteFailed)
        store.gate.update { $0 = true }
        #expect(cache.statistics.misses == 1 && cache.statistics.stores == 1)
    }

    @Test("While 64 operations are unanswered, others are misses at once")
    func busy() async throws {
        try await cache.store(entry, forKey: key)
        store.gate.update { $0 = false }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 { group.addTask { [cache, key] in await cache.entry(forKey: key) != nil } }
            try await store.started.wait { $0 == 65 }
            // Nobody advances the clock.
            #expect(await cache.entry(forKey: key) == nil)
            #expect(store.started.value == 65)
            store.gate.update { $0 = true }
            for try await wasHit in group { #expect(wasHit) }
        }
        #expect(await cache.entry(forKey: key) == entry)
    }

    @Test("A store that fails is a store without entries")
    func failing() async throws {
        store.fails.withLock { $0 = true }
        try await cache.store(entry, forKey: key)
        #expect(await cache.entry(forKey: key) == nil)
        await #expect(throws: ImageError.self) { try await cache.removeAll(ofSource: key.source) }
        #expect(cache.statistics.stores == 0 && cache.statistics.misses == 1)
    }

    @Test("A query that is cancelled ends")
    func cancellation() async throws {
        store.gate.update { $0 = false }
        let task = Task { [cache, key] in await cache.entry(forKey: key) }
        try await store.started.wait { $0 == 1 }
        task.cancel()
        #expect(await task.value == nil)
        store.gate.update { $0 = true }
    }

    @Test("A canceled task stores, removes, and learns what is there")
    func canceledTask() async throws {
        try await inCanceledTask { [cache, entry, key] in
            await cache.store(entry, forKey: key) { true }
            #expect(await cache.contains(key))
            let wasThere = try await cache.remove(key)
            #expect(wasThere)
            #expect(await !cache.contains(key))
        }
    }

    @Test("No wrong bytes are ever taken for the image", arguments: [UInt64.random(in: 0 ... .max), 1])
    func wrongBytes(seed: UInt64) async throws {
        print("remote cache, wrong bytes: seed \(seed)")
        var random = SeededRandom(seed: seed)
        try await cache.store(entry, forKey: key)
        let name = try #require(store.values.withLock { $0.keys.first })
        let data = try #require(store.values.withLock { $0[name] })
        for round in 0..<500 {
            var wrong = data
            switch round % 4 {
            case 0:
                wrong[Int.random(in: 0..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: wrong = data.prefix(Int.random(in: 0..<data.count, using: &random))
            case 2: wrong = someBytes(Int.random(in: 0..<9_000, using: &random), seed: random.next())
            default: wrong.insert(7, at: Int.random(in: 0...data.count, using: &random))
            }
            store.values.withLock { $0[name] = wrong }
            #expect(await cache.entry(forKey: key) == nil, "round \(round), seed \(seed)")
        }
        #expect(cache.statistics.corruptions > 400)
    }

    @Test("The entry of another key, an expired one, one of a codec, and one that is too large are no hits")
    func unfitting() async throws {
        try await cache.store(entry, forKey: "other")
        let data = try #require(store.values.withLock { $0.values.first })
        store.values.withLock { $0[EntryName(key).text] = data }
        #expect(await cache.entry(forKey: key) == nil)

        var aging = entry
        aging.expires = wall.date.addingTimeInterval(10)
        try await cache.store(aging, forKey: "expires")
        var idle = entry
        idle.idleLifetime = .seconds(10)
        try await cache.store(idle, forKey: "idle")
        #expect(await cache.entry(forKey: "expires") == aging)
        #expect(await cache.entry(forKey: "idle") == idle)
        wall.advance(.seconds(10))
        #expect(await cache.entry(forKey: "expires") == nil)
        #expect(await cache.entry(forKey: "idle") == nil)

        let encoded = entry.data + EntryFile.trailer(for: entry, key: key, stored: 0, codec: "rot13")
        store.values.withLock { $0[EntryName(key).text] = encoded }
        #expect(await cache.entry(forKey: key) == nil)

        var large = entry
        large.data = someBytes(20_001, seed: 2)
        let started = store.started.value
        try await cache.store(large, forKey: key)
        #expect(store.started.value == started, "it isn't sent")
        store.values.withLock { [key] in
            $0[EntryName(key).text] = large.data + EntryFile.trailer(for: large, key: key, stored: 0)
        }
        #expect(await cache.entry(forKey: key) == nil)
    }

    @Test(
        "Behind a cache of the program's own, it serves what that lacks, and its failures stay its own",
        .capability("CMG-07"))
    func tiers() async throws {
        let own = PlainDisk()
        let caches = TieredDiskCache([cache, own], store: .concurrent, promotesHits: true)
        try await caches.store(entry, forKey: key)
        _ = await own.remove(key)
        #expect(await caches.entry(forKey: key) == entry)
        await caches.flush()
        #expect(await own.entry(forKey: key, priority: WorkPriority()) == entry, "promoted")
        store.fails.withLock { $0 = true }
        #expect(await caches.entry(forKey: "missing") == nil)
        try await caches.store(entry, forKey: "b")
        #expect(await caches.entry(forKey: "b") == entry)
    }
}
