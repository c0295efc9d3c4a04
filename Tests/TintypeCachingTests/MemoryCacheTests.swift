import TestSupport
import Testing

import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Memory cache", .timeLimited)
struct MemoryCacheTests {
    /// 510 × 500 pixels take 1,020,000 bytes; with rows of whole 64-byte lines it is 1,024,000.
    static let cost = 1_024_000

    @Test("Stores, finds, removes", .capability("CMM-01", "AFC-06"))
    func basics() throws {
        let cache = MemoryCache()
        let image = try solidImage(4, 4)
        #expect(cache.image(forKey: "a") == nil)
        cache.store(image, forKey: "a")
        #expect(cache.image(forKey: "a")?.isIdentical(to: image) == true)
        #expect(cache.contains("a") && !cache.contains("b"))
        #expect(cache.remove("a") && !cache.remove("a"))
        #expect(cache.image(forKey: "a") == nil)
        #expect(cache.statistics.hits == 1 && cache.statistics.misses == 2 && cache.statistics.stores == 1)
    }

    @Test("A limit below zero keeps nothing, and costs without bound are no overflow", .capability("CMM-01"))
    func absurdLimits() throws {
        let cache = MemoryCache(.init(capacity: 10_000, policy: .leastRecentlyUsed))
        for number in 0..<4 { cache.store(try solidImage(4, 4), forKey: ImageKey(source: "\(number)")) }
        cache.remove("1")
        cache.configuration.capacity = ByteCount(-5)
        #expect(cache.statistics.entries == 0 && cache.statistics.bytes == 0)
        cache.configuration.capacity = 10_000
        for number in 0..<60 { cache.store(try solidImage(4, 4), forKey: ImageKey(source: "\(number)")) }
        #expect(cache.statistics.bytes <= 10_000 && cache.contains("59") && !cache.contains("0"))
        cache.configuration.capacity = .unlimited
        for number in 0..<3 {
            cache.store(try solidImage(4, 4), forKey: ImageKey(source: "\(number)"), cost: .unlimited)
        }
        #expect(cache.contains("0") && cache.contains("2"))
    }

    @Test("Removing everything says whether there was something", .capability("AFC-01", "AFC-06"))
    func removingEverything() throws {
        let cache = MemoryCache()
        #expect(!cache.removeAll())
        cache.store(try solidImage(4, 4), forKey: "a")
        #expect(cache.removeAll() && !cache.removeAll())
        let held = try solidImage(4, 4)
        cache.store(held, forKey: "held")
        cache.trim(to: 0)
        #expect(cache.removeAll(), "an image that somebody holds was still found")
        #expect(cache.image(forKey: "held") == nil && !cache.removeAll())
        withExtendedLifetime(held) {}
    }

    @Test("An image may count another number of bytes than its pixels", .capability("CMM-01"))
    func costs() throws {
        let cache = MemoryCache(.init(capacity: 1_000, policy: .leastRecentlyUsed))
        cache.store(try solidImage(1, 1), forKey: "a", cost: 600)
        #expect(cache.statistics.bytes == 600)
        cache.store(try solidImage(1, 1), forKey: "b", cost: 600)
        #expect(!cache.contains("a") && cache.statistics.bytes == 600)
        let large = try solidImage(1, 1)
        cache.store(large, forKey: "c", cost: 1_001)
        #expect(cache.statistics.bytes == 600)
        // Found while it is held, but never taken in: it is as large as it was said to be.
        #expect(cache.image(forKey: "c")?.isIdentical(to: large) == true && cache.statistics.bytes == 600)
    }

    @Test("Long keys count, so that thumbnails of data URLs keep to the capacity")
    func longKeys() throws {
        let cache = MemoryCache(.init(capacity: .megabytes(1), policy: .leastRecentlyUsed))
        var held: [Image] = []
        for index in 0..<50 {
            held.append(try solidImage(16, 1))
            let source = "data:image/png;base64," + String(repeating: "\(index % 10)", count: 100_000) + "\(index)"
            cache.store(held[index], forKey: ImageKey(source: source, variant: ImageVariant(description: "fit=1x1")))
        }
        // Nine entries of 100 kB and a little more.
        #expect(cache.statistics.entries == 9 && cache.statistics.bytes > 900_000)
        #expect(cache.evictedCount == 0, "an entry that counts nothing keeps no long key")
        cache.store(try solidImage(16, 1), forKey: ImageKey(source: String(repeating: "u", count: 1_000)))
        #expect(cache.statistics.bytes < 1_000_000)
    }

    @Test("Expired images leave memory while others are stored, and at once on request", .capability("CMM-05"))
    func expiredImages() throws {
        let clock = WallClock()
        let cache = MemoryCache(.init(timeToLive: .seconds(10)), now: { clock.elapsed })
        for index in 0..<20 { cache.store(try solidImage(16, 1), forKey: ImageKey(source: "old \(index)")) }
        clock.advance(.seconds(10))
        #expect(cache.statistics.entries == 20, "nothing has looked yet")
        for index in 0..<20 { cache.store(try solidImage(16, 1), forKey: ImageKey(source: "new \(index)")) }
        #expect(cache.statistics.entries == 20)
        clock.advance(.seconds(10))
        #expect(cache.removeExpired() == CacheUsage(entries: 20, bytes: 20 * 64))
        #expect(cache.removeExpired() == CacheUsage() && cache.statistics.bytes == 0)
        for index in 0..<20 { cache.store(try solidImage(16, 1), forKey: ImageKey(source: "last \(index)")) }
        cache.configuration.timeToLive = nil
        clock.advance(.seconds(10))
        for index in 0..<40 { cache.store(try solidImage(16, 1), forKey: ImageKey(source: "endless \(index % 20)")) }
        #expect(cache.statistics.entries == 20, "also where later images live for ever")
    }

    @Test("Without weak references an image that had to go is gone, whoever holds it", .capability("CCF-02", "CCF-03"))
    func withoutWeakReferences() throws {
        let cache = MemoryCache(.init(maximumCount: 1, keepsWeakReferences: false))
        let held = [try solidImage(16, 1), try solidImage(16, 1)]
        cache.store(held[0], forKey: "a")
        cache.store(held[1], forKey: "b")
        #expect(cache.image(forKey: "a") == nil && cache.evictedCount == 0)
        let empty = MemoryCache(.init(capacity: 0, keepsWeakReferences: false))
        empty.store(held[0], forKey: "a")
        #expect(empty.image(forKey: "a") == nil && !empty.contains("a"))
        // Switched off while images are held.
        let other = MemoryCache(.init(capacity: 0))
        other.store(held[0], forKey: "a")
        #expect(other.contains("a"))
        other.configuration.keepsWeakReferences = false
        #expect(!other.contains("a") && other.evictedCount == 0)
        withExtendedLifetime(held) {}
    }

    @Test("Evicts what was not used for the longest time", .capability("CMM-02", "AFC-05", "CCF-10"))
    func leastRecentlyUsed() throws {
        let cache = MemoryCache(.init(capacity: ByteCount(3 * Self.cost), policy: .leastRecentlyUsed))
        for key in ["a", "b", "c"] as [ImageKey] { cache.store(try solidImage(510, 500), forKey: key) }
        #expect(cache.image(forKey: "a") != nil)
        #expect(cache.contains("b"))  // Does not count as use.
        cache.store(try solidImage(510, 500), forKey: "d")
        #expect(cache.contains("a") && !cache.contains("b") && cache.contains("c") && cache.contains("d"))
        #expect(cache.statistics.evictions == 1)
    }

    @Test("Purges above the capacity only, down to the lower watermark, oldest first", .capability("AFC-02", "AFC-04"))
    func watermarks() throws {
        let cache = MemoryCache(
            .init(
                capacity: ByteCount(10 * Self.cost), capacityAfterPurge: ByteCount(6 * Self.cost),
                policy: .leastRecentlyUsed))
        let keys = (0...10).map { ImageKey(source: "\($0)") }
        for key in keys[..<10] { cache.store(try solidImage(510, 500), forKey: key) }
        #expect(cache.statistics.bytes == 10 * Self.cost, "exactly full is not too full")
        #expect(cache.statistics.evictions == 0)
        _ = cache.image(forKey: keys[0])
        cache.store(try solidImage(510, 500), forKey: keys[10])
        #expect(cache.statistics.bytes == 6 * Self.cost)
        #expect(keys.filter(cache.contains) == [keys[0]] + keys[6...10])
    }

    @Test("A replaced image no longer counts", .capability("AFC-04"))
    func replacing() throws {
        let cache = MemoryCache()
        cache.store(try solidImage(510, 500), forKey: "a")
        cache.store(try solidImage(16, 10), forKey: "a")
        #expect(cache.statistics.bytes == 640 && cache.statistics.entries == 1)
        #expect(cache.image(forKey: "a")?.size == PixelSize(width: 16, height: 10))
    }

    @Test("A purge leaves the image that was just stored, even over the lower watermark")
    func newcomerOverWatermark() throws {
        let cache = MemoryCache(.init(capacity: 10_000, capacityAfterPurge: 2_000, policy: .leastRecentlyUsed))
        cache.store(try solidImage(16, 50), forKey: "small")
        cache.store(try solidImage(16, 140), forKey: "large")
        #expect(cache.contains("large") && !cache.contains("small"))
    }

    @Test("An image over the limit for one is not kept, nor is what it replaces, and nothing else has to go")
    func tooLarge() throws {
        let cache = MemoryCache(.init(capacity: 100_000, maximumEntryBytes: 1_000))
        cache.store(try solidImage(4, 4), forKey: "other")
        cache.store(try solidImage(4, 4), forKey: "a")
        cache.store(try solidImage(64, 64), forKey: "a")
        #expect(cache.image(forKey: "a") == nil)
        #expect(cache.contains("other") && cache.statistics.evictions == 0)
    }

    @Test("Smaller limits take effect at once", .capability("CMM-05", "CCF-10", "CCF-11"))
    func liveLimits() throws {
        let cache = MemoryCache()
        for index in 0..<10 { cache.store(try solidImage(16, 1), forKey: ImageKey(source: "\(index)")) }
        cache.configuration.maximumCount = 4
        #expect(cache.statistics.entries == 4 && cache.contains("9") && !cache.contains("5"))
        cache.configuration.capacity = 64
        #expect(cache.statistics.entries == 1 && cache.statistics.bytes == 64)
    }

    @Test("Trims on request, oldest first", .capability("CMM-03", "AFC-09"))
    func trimming() throws {
        let cache = MemoryCache()
        for index in 0..<10 { cache.store(try solidImage(16, 1), forKey: ImageKey(source: "\(index)")) }
        cache.trim(to: 200)
        #expect(cache.statistics.entries == 3 && cache.contains("7") && !cache.contains("6"))
        cache.trim(to: 0)
        #expect(cache.statistics.entries == 0 && cache.statistics.bytes == 0)
    }

    @Test("An image lives as long as its time, counted from when it was stored", .capability("CMM-05"))
    func timeToLive() throws {
        let clock = WallClock()
        let cache = MemoryCache(.init(timeToLive: .seconds(10)), now: { clock.elapsed })
        cache.store(try solidImage(1, 1), forKey: "a")
        clock.advance(.seconds(9))
        #expect(cache.image(forKey: "a") != nil)
        clock.advance(.seconds(1))
        #expect(!cache.contains("a"))
        #expect(cache.image(forKey: "a") == nil)
        #expect(cache.statistics.entries == 0 && cache.statistics.bytes == 0)
    }

    @Test(
        "A time to live that changes counts for what is stored after that; none may be for ever", .capability("CMM-05"))
    func changedTimeToLive() throws {
        let clock = WallClock()
        let cache = MemoryCache(.init(timeToLive: .seconds(10)), now: { clock.elapsed })
        cache.store(try solidImage(1, 1), forKey: "short")
        cache.configuration.timeToLive = .seconds(Int64.max)
        cache.store(try solidImage(1, 1), forKey: "endless")
        cache.configuration.timeToLive = .zero
        cache.store(try solidImage(1, 1), forKey: "over")
        #expect(cache.contains("short") && cache.contains("endless") && !cache.contains("over"))
        clock.advance(.days(10_000))
        #expect(cache.image(forKey: "short") == nil && cache.image(forKey: "endless") != nil)
        #expect(cache.image(forKey: "over") == nil && cache.statistics.entries == 1)
    }

    @Test("The capacity and what a purge leaves can change while images are there", .capability("CCF-10", "AFC-02"))
    func changedCapacity() throws {
        let cache = MemoryCache(.init(capacity: 1_280, policy: .leastRecentlyUsed))
        for index in 0..<20 { cache.store(try solidImage(16, 1), forKey: ImageKey(source: "\(index)")) }
        cache.configuration.capacityAfterPurge = 640
        #expect(cache.statistics.bytes == 1_280, "nothing is over a limit")
        cache.store(try solidImage(16, 1), forKey: "one more")
        #expect(cache.statistics.bytes == 640)
        cache.configuration.capacity = 320
        #expect(cache.statistics.bytes == 320 && cache.contains("one more"))
        cache.configuration.capacity = 6_400
        cache.configuration.capacityAfterPurge = nil
        for index in 0..<40 { cache.store(try solidImage(16, 1), forKey: ImageKey(source: "new \(index)")) }
        #expect(cache.statistics.bytes == 45 * 64)
    }

    @Test(
        "An evicted image that somebody holds is found again as itself, and counts once",
        .capability("CMM-04", "CCF-03"))
    func heldImages() throws {
        let cache = MemoryCache(.init(maximumCount: 1))
        let held = try solidImage(16, 1)
        cache.store(held, forKey: "held")
        cache.store(try solidImage(16, 2), forKey: "other")
        #expect(cache.statistics.entries == 1 && cache.evictedCount == 1)
        #expect(cache.contains("held"))
        #expect(cache.image(forKey: "held")?.isIdentical(to: held) == true)
        #expect(cache.statistics.entries == 1 && cache.statistics.bytes == 64 && cache.evictedCount == 0)
        #expect(cache.image(forKey: "other") == nil, "nobody held it")
    }

    @Test("An image that nobody holds any more is gone, and its entry with it", .capability("CMM-04"))
    func releasedImages() throws {
        let cache = MemoryCache()
        var held: [Image] = []
        for index in 0..<100 {
            held.append(try solidImage(1, 1))
            cache.store(held[index], forKey: ImageKey(source: "\(index)"))
        }
        cache.trim(to: 0)
        #expect(cache.evictedCount == 100)
        held = []
        #expect(cache.image(forKey: "5") == nil)
        for index in 0..<60 { cache.store(try solidImage(1, 1), forKey: ImageKey(source: "new \(index)")) }
        #expect(cache.evictedCount == 0)
    }

    @Test("An image too large to be kept is found as long as it is held", .capability("CMM-04"))
    func heldLargeImage() throws {
        let cache = MemoryCache(.init(capacity: 100))
        var image: Image? = try solidImage(64, 64)
        if let image { cache.store(image, forKey: "a") }
        #expect(cache.image(forKey: "a") != nil && cache.statistics.bytes == 0)
        image = nil
        #expect(cache.image(forKey: "a") == nil)
    }

    @Test("Removing forgets held images too", .capability("CRM-02"))
    func removingHeld() throws {
        let cache = MemoryCache()
        let images = try (0..<3).map { _ in try solidImage(1, 1) }
        for (index, image) in images.enumerated() { cache.store(image, forKey: ImageKey(source: "\(index)")) }
        cache.trim(to: 0)
        #expect(cache.remove("0"))
        #expect(cache.image(forKey: "0") == nil)
        #expect(cache.removeAll(ofSource: "1") == 1)
        cache.removeAll()
        #expect(cache.image(forKey: "2") == nil && cache.evictedCount == 0)
        withExtendedLifetime(images) {}
    }

    @Test("Removes every variant of a source, and only of that", .capability("3.9"))
    func variants() throws {
        let cache = MemoryCache()
        func key(_ source: String, _ variant: String = "") -> ImageKey {
            ImageKey(source: source, variant: ImageVariant(description: variant))
        }
        let keys = [key("a"), key("a", "fit=1x1"), key("a", "fit=2x2"), key("a", "fit=3x3"), key("b", "fit=1x1")]
        for key in keys { cache.store(try solidImage(1, 1), forKey: key) }
        cache.remove(keys[2])
        #expect(cache.removeAll(ofSource: "a") == 3)
        #expect(keys.filter(cache.contains) == [keys[4]])
        #expect(cache.removeAll(ofSource: "a") == 0)
    }

    @Test("Keys that differ in source or variant are different entries", .capability("AFC-07"))
    func keys() throws {
        let cache = MemoryCache()
        cache.store(try solidImage(1, 1), forKey: ImageKey(source: "a", variant: ImageVariant(description: "b")))
        #expect(!cache.contains("a") && !cache.contains("ab"))
    }

    @Test("Behaves like a simple model", arguments: [UInt64.random(in: 0 ... .max), 1, 2])
    func model(seed: UInt64) throws {
        print("memory cache model: seed \(seed)")
        var generator = SeededRandom(seed: seed)
        let limits = MemoryCache.Configuration(
            capacity: 4_000, capacityAfterPurge: 2_500, maximumCount: 30, policy: .leastRecentlyUsed)
        let cache = MemoryCache(limits)
        var model: [(key: ImageKey, image: Image)] = []  // The latest last.
        func bytes() -> Int { model.reduce(0) { $0 + $1.image.memoryCost } }
        for step in 0..<5_000 {
            let variant = ["", "fit=1x1", "fit=2x2"].randomElement(using: &generator) ?? ""
            let source = "\(Int.random(in: 0..<40, using: &generator))"
            let key = ImageKey(source: source, variant: ImageVariant(description: variant))
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<40:
                let image = try solidImage(16, Int.random(in: 1...8, using: &generator))
                cache.store(image, forKey: key)
                model.removeAll { $0.key == key }
                model.append((key, image))
                if bytes() > 4_000 { while bytes() > 2_500, model.count > 1 { model.removeFirst() } }
                while model.count > 30 { model.removeFirst() }
            case 40..<80:
                let found = cache.image(forKey: key)
                let index = model.firstIndex { $0.key == key }
                #expect((found == nil) == (index == nil), "step \(step), seed \(seed)")
                if let index {
                    #expect(found?.isIdentical(to: model[index].image) == true)
                    model.append(model.remove(at: index))
                }
            case 80..<90:
                #expect(cache.remove(key) == model.contains { $0.key == key })
                model.removeAll { $0.key == key }
            case 90..<96:
                #expect(cache.removeAll(ofSource: source) == model.count { $0.key.source == source })
                model.removeAll { $0.key.source == source }
            case 96..<99:
                let target = Int.random(in: 0..<3_000, using: &generator)
                cache.trim(to: ByteCount(target))
                while bytes() > target { model.removeFirst() }
            default:
                cache.removeAll()
                model = []
            }
            #expect(cache.statistics.bytes == bytes() && cache.statistics.entries == model.count, "seed \(seed)")
        }
    }

    @Test("Many threads at once leave the totals right", .capability("AFC-10", "3.7"))
    func stress() async throws {
        let cache = MemoryCache(.init(capacity: 20_000))
        let images = try (1...8).map { try solidImage(16, $0) }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var generator = SeededRandom(seed: UInt64(task))
                    for _ in 0..<3_000 {
                        let key = ImageKey(source: "\(Int.random(in: 0..<200, using: &generator))")
                        switch Int.random(in: 0..<10, using: &generator) {
                        case 0..<4: cache.store(images[Int.random(in: 0..<8, using: &generator)], forKey: key)
                        case 4..<8: _ = cache.image(forKey: key)
                        case 8: cache.remove(key)
                        default: cache.trim(to: 10_000)
                        }
                    }
                }
            }
        }
        #expect(cache.statistics.bytes <= 20_000)
        cache.trim(to: 0)
        #expect(cache.statistics.bytes == 0 && cache.statistics.entries == 0)
    }
}

extension MemoryCache {
    fileprivate func contains(_ literal: String) -> Bool { contains(ImageKey(source: literal)) }

    /// The number of entries with only a weak reference to their image, including those whose image is gone.
    fileprivate var evictedCount: Int { state.withLock { $0.evicted.count } }
}
