import Foundation
import TestSupport
import Testing

import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Image cache", .timeLimited)
struct ImageCacheTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private let entry = DiskCacheEntry(data: Data("bytes 5".utf8), created: Date(timeIntervalSince1970: 1_700_000_000))

    private func cache() -> ImageCache {
        ImageCache(memory: MemoryCache(), disk: DiskCache.temporary(directory.path + "/cache"))
    }

    private func fill(_ cache: ImageCache, _ key: ImageKey, in layers: CacheLayers = .all) async throws {
        if layers.contains(.memory) { cache.storeInMemory(try solidImage(5, 1), forKey: key) }
        if layers.contains(.disk) { try await cache.store(entry, forKey: key) }
    }

    @Test("Memory has images, the disk has bytes", .capability("CST-01", "CST-02", "CST-03", "CQU-03", "CQU-14"))
    func layers() async throws {
        let cache = cache()
        let image = try solidImage(5, 1)
        cache.storeInMemory(image, forKey: "a")
        try await cache.store(entry, forKey: "a")
        #expect(cache.memory.image(forKey: "a")?.isIdentical(to: image) == true)
        #expect(await cache.entry(forKey: "a")?.data == entry.data)
        cache.memory.removeAll()
        #expect(cache.memory.image(forKey: "a") == nil)
        #expect(await cache.entry(forKey: "a")?.data == entry.data)
    }

    @Test("A program's own caches take the places of both layers", .capability("CCF-15", "CCF-16", "PLG-05"))
    func ownCaches() async throws {
        let cache = ImageCache(memory: PlainMemory(), disk: PlainDisk())
        try await fill(cache, "a")
        #expect(await cache.contains("a") == .all)
        #expect(cache.memory.image(forKey: "a")?.size.width == 5)
        try await cache.removeAll(from: .memory)
        #expect(cache.memory.image(forKey: "a") == nil)
        #expect(await cache.entry(forKey: "a") == entry)
        try await cache.removeAll(ofSource: "a")
        #expect(await cache.contains("a") == [])
    }

    @Test("Stores, finds and removes in one layer", .capability("CST-04", "CRM-05", "CQU-04", "CQU-05", "D9"))
    func oneLayer() async throws {
        let cache = cache()
        try await fill(cache, "m", in: .memory)
        try await fill(cache, "d", in: .disk)
        #expect(await cache.contains("m") == .memory)
        #expect(await cache.contains("d") == .disk)
        #expect(await cache.contains("d", in: .memory) == [])
        #expect(await cache.entry(forKey: "m") == nil)
        #expect(cache.memory.image(forKey: "d") == nil)
        try await fill(cache, "d", in: .memory)
        try await cache.remove("d", from: .disk)
        #expect(await cache.contains("d") == .memory)
        try await cache.remove("d")
        #expect(await cache.contains("d") == [])
    }

    @Test("Who names no layer gets nothing, and nothing is done", .capability("CQU-01"))
    func noLayer() async throws {
        let cache = cache()
        try await fill(cache, "a")
        #expect(await cache.contains("a", in: []) == [])
        try await cache.remove("a", from: [])
        #expect(await cache.contains("a") == .all)
        #expect(cache.memory.statistics.hits == 0)
    }

    @Test("A failure to write is told", .capability("CST-08"))
    func writeFailure() async throws {
        let cache = ImageCache(memory: MemoryCache(), disk: DiskCache.temporary("/dev/null/cache"))
        let error = await #expect(throws: ImageError.self) { try await fill(cache, "a") }
        #expect(error?.code == .cacheUnavailable)
        #expect(await cache.contains("a") == .memory)
    }

    @Test("Clears what it is told to", .capability("CRM-02", "CRM-03", "CRM-07"))
    func clearing() async throws {
        let cache = cache()
        try await fill(cache, "a")
        try await cache.removeAll(from: [])
        #expect(await cache.contains("a") == .all)
        try await cache.removeAll(from: .memory)
        #expect(await cache.contains("a") == .disk)
        try await fill(cache, "a")
        try await cache.removeAll(from: .disk)
        #expect(await cache.contains("a") == .memory)
        #expect(await cache.usage(of: .disk) == CacheUsage())
        try await fill(cache, "a")
        try await cache.removeAll()
        #expect(await cache.contains("a") == [])
    }

    @Test("Removing says whether there was something", .capability("CRM-01", "AFC-06"))
    func removingSays() async throws {
        let cache = cache()
        try await fill(cache, "a", in: .disk)
        #expect(try await !cache.remove("a", from: .memory))
        #expect(try await cache.remove("a"))
        #expect(try await !cache.remove("a"))
        try await fill(cache, "a", in: .memory)
        #expect(try await cache.removeAll(ofSource: "a"))
        #expect(try await !cache.removeAll(ofSource: "a"))
    }

    @Test("Removes all variants of a source from both layers", .capability("CRM-01", "3.9"))
    func variants() async throws {
        let cache = cache()
        let variant = ImageKey(source: "a", variant: ImageVariant(description: "fit=1x1"))
        for key in ["a", variant, "b"] { try await fill(cache, key) }
        try await cache.removeAll(ofSource: "a")
        #expect(await cache.contains("a") == [])
        #expect(await cache.contains(variant) == [])
        #expect(await cache.contains("b") == .all)
    }

    @Test("Without a disk there is only memory")
    func memoryOnly() async throws {
        let cache = ImageCache(memory: MemoryCache())
        try await fill(cache, "a")
        #expect(await cache.contains("a") == .memory)
        #expect(await cache.entry(forKey: "a") == nil)
        #expect(await cache.usage(of: .disk) == CacheUsage())
        #expect(try await cache.removeExpired() == CacheUsage())
        try await cache.removeAll()
        #expect(cache.memory.image(forKey: "a") == nil)
    }

    @Test(
        "A memory cache without capacity keeps nothing, whoever stores, until it gets some", .capability("CCF-02"),
        arguments: MemoryCache.Policy.allCases)
    func withoutMemory(policy: MemoryCache.Policy) throws {
        let memory = MemoryCache(.init(capacity: 0, policy: policy))
        let cache = ImageCache(memory: memory, disk: DiskCache.temporary(directory.path + "/cache"))
        memory.store(try solidImage(4, 4), forKey: "b")
        cache.storeInMemory(try solidImage(4, 4), forKey: "c")
        memory.store(try solidImage(4, 4), forKey: "d", cost: 0)
        for key in ["b", "c", "d"] as [ImageKey] { #expect(memory.image(forKey: key) == nil) }
        #expect(memory.statistics.entries == 0 && memory.statistics.bytes == 0)
        memory.configuration.capacity = .megabytes(1)
        cache.storeInMemory(try solidImage(4, 4), forKey: "c")
        memory.store(try solidImage(4, 4), forKey: "d", cost: 0)
        #expect(memory.image(forKey: "c") != nil && memory.image(forKey: "d") != nil)
        memory.configuration.capacity = 0
        #expect(memory.statistics.entries == 0)
    }

    @Test("A directory that cannot be one is refused at once")
    func impossibleDirectory() {
        #expect(throws: ImageError.self) { try ImageCache(disk: .init(directory: "")) }
    }
}
