import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Lookups in a memory cache", .timeLimited)
struct MemoryLookupTests {
    private func key(_ number: Int) -> ImageKey { ImageKey(source: "https://example.org/image-\(number).jpg") }

    @Test("An image that is replaced again and again is never missing")
    func replacing() async throws {
        let cache = MemoryCache(.init(policy: .leastRecentlyUsed))
        let images = try (0..<2).map { _ in try solidImage(4, 4) }
        let keys = (0..<4).map(key)
        for key in keys { cache.store(images[0], forKey: key) }
        let isDone = Lock(false)
        await withTaskGroup(of: Int.self) { group in
            group.addTask {
                for round in 0..<5_000 { for key in keys { cache.store(images[round & 1], forKey: key) } }
                isDone.withLock { $0 = true }
                return 0
            }
            group.addTask {
                var missing = 0
                while !isDone.withLock({ $0 }) {
                    for key in keys where cache.image(forKey: key) == nil { missing += 1 }
                }
                return missing
            }
            for await missing in group { #expect(missing == 0) }
        }
        #expect(cache.statistics.misses == 0 && cache.statistics.entries == 4)
    }

    @Test("Hits of many entries, in any order: what was used last stays, exactly", arguments: [40, 3_000])
    func order(count: Int) throws {
        let image = try solidImage(16, 1)
        let cache = MemoryCache(.init(capacity: .unlimited, policy: .leastRecentlyUsed))
        for number in 0..<count { cache.store(Image(pixels: image.pixels), forKey: key(number)) }
        var random = SeededRandom(seed: 9)
        var last: [Int: Int] = [:]
        for step in 0..<5 * count {
            let number = step < count ? step : Int.random(in: 0..<count, using: &random)
            #expect(cache.image(forKey: key(number)) != nil)
            last[number] = step
        }
        cache.trim(to: ByteCount(image.memoryCost * (count / 2)))
        let kept = Set((0..<count).filter { cache.contains(key($0)) })
        #expect(kept == Set((0..<count).sorted { last[$0, default: 0] > last[$1, default: 0] }.prefix(count / 2)))
    }

    @Test("Hits and misses of all threads are counted")
    func counting() async throws {
        let cache = MemoryCache()
        for number in 0..<100 { cache.store(try solidImage(1, 1), forKey: key(number)) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for number in 0..<2_000 { _ = cache.image(forKey: key(number % 200)) } }
            }
        }
        #expect(cache.statistics.hits == 4_000 && cache.statistics.misses == 4_000)
        #expect(cache.statistics.hitRatio == 0.5)
    }
}
