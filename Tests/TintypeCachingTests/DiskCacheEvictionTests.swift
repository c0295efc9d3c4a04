import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: eviction", .timeLimited)
struct DiskCacheEvictionTests {
    @Test("After a flush there are as many files as entries, however many were evicted and replaced")
    func eviction() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/cache"
        let cache = DiskCache.temporary(path, maximumCount: 2_000)
        for round in 0..<3 {
            for number in 0..<1_000 {
                let isReplaced = number.isMultiple(of: 2)
                try await cache.put(someBytes(8), ImageKey(source: isReplaced ? "\(number)" : "\(round), \(number)"))
            }
        }
        cache.configuration.maximumCount = 300
        try await cache.put(someBytes(8), "last")
        await cache.flush()
        let entries = await cache.usage().entries
        #expect((1...300).contains(entries))
        #expect(try DiskCacheTests.payloadFiles(path).count == entries)
    }

    @Test("A store over the limits evicts one entry for another, however many there are", .capability("CDK-06"))
    func margin() throws {
        let (directory, clock) = (try TemporaryDirectory(), WallClock())
        let store = DiskStore(
            .init(
                directory: directory.path + "/cache", capacity: .megabytes(100), maximumAge: nil, maximumCount: 2_000,
                minimumFreeSpace: 0),
            faults: nil, now: { [clock] in clock.date }, log: { _ in })
        let entry = DiskCacheEntry(data: Data(), created: clock.date)
        for index in 0..<2_100 {
            clock.advance(.milliseconds(1))
            try store.store(entry, forKey: ImageKey(source: "\(index)"))
            #expect(store.hand.withLock { $0.sizes.total.entries } == min(index + 1, 2_000))
        }
        #expect(store.counters.withLock { $0.evictions } == 100)
        // The oldest eighth of what the hand lists goes, so the latest half is safe.
        for index in 1_050..<2_100 { #expect(store.validName(forKey: ImageKey(source: "\(index)")) != nil) }
    }

    @Test("Entries that were read lately stay, and many were", .capability("CDK-04"))
    func recentReads() async throws {
        let directory = try TemporaryDirectory()
        let clock = WallClock()
        let cache = DiskCache.temporary(directory.path + "/cache", maximumCount: 300, clock: clock)
        for number in 0..<300 {
            try await cache.put(someBytes(10), ImageKey(source: "\(number)"))
            clock.advance(.seconds(1))
        }
        for number in 0..<150 {
            #expect(await cache.entry(forKey: ImageKey(source: "\(number)")) != nil)
            clock.advance(.milliseconds(1))
        }
        for number in 0..<30 { try await cache.put(someBytes(10), ImageKey(source: "new \(number)")) }
        let left = await Set(cache.entries().map(\.key.source))
        #expect(left.count == 300)
        #expect(left.isSuperset(of: (0..<150).map(String.init) + (0..<30).map { "new \($0)" }))
    }

    @Test("An entry that another process used is not evicted")
    func usesOfOthers() async throws {
        let (directory, clock) = (try TemporaryDirectory(), WallClock())
        let path = directory.path + "/cache"
        let cache = DiskCache.temporary(path, maximumCount: 3, clock: clock)
        for name in ["a", "b", "c"] {
            try await cache.put(someBytes(10), ImageKey(source: name))
            clock.advance(.seconds(100))
        }
        // As another process does.
        let file = try #require(await cache.path(forKey: "a"))
        try FileManager.default.setAttributes([.modificationDate: clock.date], ofItemAtPath: file)
        clock.advance(.seconds(100))
        try await cache.put(someBytes(10), "d")
        #expect(await cache.entries().map(\.key.source).sorted() == ["a", "c", "d"])
    }
}
