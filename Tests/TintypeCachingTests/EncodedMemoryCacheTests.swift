import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: encoded images in memory", .timeLimited)
struct EncodedMemoryCacheTests {
    let directory: TemporaryDirectory
    let clock = WallClock()
    private let reads = Lock(0)
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    private func cache(_ tier: ByteCount? = .kilobytes(100), maximumCount: Int? = nil) -> DiskCache {
        DiskCache(
            .init(
                directory: path, maximumAge: nil, maximumCount: maximumCount, minimumFreeSpace: 0,
                encodedMemoryCapacity: tier),
            faults: { [reads] operation, path in
                if operation == "read contents", path.hasPrefix("entries/") { reads.withLock { $0 += 1 } }
                return nil
            }, now: { [clock] in clock.date })
    }

    @Test("what was stored or read lately is not read from the disk again")
    func noReads() async throws {
        let cache = cache()
        try await cache.put(someBytes(1_000), "a")
        #expect(await cache.entry(forKey: "a")?.data == someBytes(1_000))
        #expect(reads.withLock { $0 } == 0)
        let other = self.cache()
        for _ in 0..<3 { #expect(await other.entry(forKey: "a")?.data == someBytes(1_000)) }
        #expect(reads.withLock { $0 } == 1)
        let without = self.cache(nil)
        for _ in 0..<3 { #expect(await without.entry(forKey: "a") != nil) }
        #expect(reads.withLock { $0 } == 4 && without.encodedMemoryUsage == CacheUsage())
    }

    @Test("what is removed, replaced or cleared is not found, by another cache on the directory as well")
    func consistency() async throws {
        let (one, two) = (cache(), cache())
        try await one.put(someBytes(100), "a")
        try await two.remove("a")
        #expect(await one.entry(forKey: "a") == nil)
        try await one.put(someBytes(100), "a")
        try await two.put(someBytes(100, seed: 2), "a")
        #expect(await one.entry(forKey: "a")?.data == someBytes(100, seed: 2))
        try await one.removeAll(ofSource: "a")
        #expect(await one.entry(forKey: "a") == nil)
        #expect(await two.entry(forKey: "a") == nil)
        try await one.put(someBytes(100), "b")
        try await two.removeAll()
        #expect(await one.entry(forKey: "b") == nil)
        try await two.put(someBytes(5), "c")
        #expect(await one.entry(forKey: "c")?.data == someBytes(5))
    }

    @Test("an end of its own and eviction hold for what is in memory too")
    func limits() async throws {
        let cache = cache(maximumCount: 2)
        try await cache.store(
            DiskCacheEntry(data: someBytes(10), created: clock.date, expires: clock.date + 10), forKey: "end")
        clock.advance(.seconds(10))
        #expect(await cache.entry(forKey: "end") == nil)
        for name in ["1", "2", "3"] {
            clock.advance(.seconds(1))
            try await cache.put(someBytes(10), ImageKey(source: name))
        }
        #expect(await cache.entry(forKey: "1") == nil)
        #expect(await cache.entry(forKey: "3") != nil)
    }

    @Test("a read from memory counts as use on disk")
    func access() async throws {
        let cache = cache()
        try await cache.put(someBytes(10), "a")
        clock.advance(.seconds(50))
        _ = await cache.entry(forKey: "a")
        await cache.flush()
        #expect(await cache.entries().first?.accessed == clock.date)
    }

    @Test(
        "bounded: the least recently used goes first, one over a quarter of the room is not kept, trimming empties it")
    func bounds() async throws {
        let cache = cache(10_000)
        for index in 0..<20 { try await cache.put(someBytes(1_000), ImageKey(source: "\(index)")) }
        let usage = cache.encodedMemoryUsage
        #expect(usage.bytes <= 10_000 && usage.entries == 7)
        _ = await cache.entry(forKey: "13")
        try await cache.put(someBytes(1_000), "x")
        let before = reads.withLock { $0 }
        _ = await cache.entry(forKey: "13")
        #expect(reads.withLock { $0 } == before)
        _ = await cache.entry(forKey: "14")
        #expect(reads.withLock { $0 } == before + 1)
        try await cache.put(someBytes(9_000), "large")
        #expect(cache.encodedMemoryUsage.entries == 7)
        #expect(await cache.entry(forKey: "large") != nil)
        cache.trimEncodedMemory(to: 3_000)
        #expect(cache.encodedMemoryUsage.entries == 2)
        cache.trimEncodedMemory(to: 0)
        #expect(cache.encodedMemoryUsage == CacheUsage())
    }
}
