import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Lookups in a memory cache, and the notes of them", .timeLimited)
struct MemoryEntriesTests {
    private func key(_ number: Int) -> ImageKey { ImageKey(source: "https://example.org/image-\(number).jpg") }

    @Test("a table finds what a dictionary finds", arguments: [UInt64.random(in: 0 ... .max), 1, 2])
    func model(seed: UInt64) throws {
        print("memory entries model: seed \(seed)")
        var random = SeededRandom(seed: seed)
        let images = try (1...8).map { try solidImage($0, 1).storage }
        let entries = MemoryEntries()
        var model: [ImageKey: (cell: MemoryTable.Index, image: Int)] = [:]
        for step in 0..<20_000 {
            // Grows to some hundreds, and shrinks again.
            let limit = step / 5_000 % 2 == 0 ? 600 : 40
            let key = key(Int.random(in: 0..<limit, using: &random))
            let image = Int.random(in: 0..<8, using: &random)
            #expect(entries.find(key)?.place == model[key]?.cell, "step \(step), seed \(seed)")
            if let known = model[key] {
                #expect(
                    entries.find(key)?.slot == Slot(known.image) && entries.image(known.cell) === images[known.image])
                switch Int.random(in: 0..<3, using: &random) {
                case 0:
                    #expect(entries.remove(known.cell) === images[known.image])
                    model[key] = nil
                case 1:
                    let old = entries.replace(
                        known.cell, images[image], deadline: MemoryTable.forever, slot: Slot(image))
                    #expect(old === images[known.image])
                    model[key]?.image = image
                default:
                    switch entries.lookUp(key, now: { 0 }) {
                    case .hit(let found), .fullHit(let found): #expect(found === images[known.image])
                    default: Issue.record("step \(step), seed \(seed): no hit")
                    }
                }
            } else {
                let cell = entries.insert(key, images[image], deadline: MemoryTable.forever, slot: Slot(image))
                model[key] = (cell, image)
            }
            if step % 100 == 0 {
                var uses: [MemoryReader.Use] = []
                entries.takeUses(&uses)
                #expect(uses.allSatisfy { $0.count >= 1 && images.indices.contains(Int($0.slot)) })
            }
        }
        for (key, known) in model { #expect(entries.find(key)?.place == known.cell) }
    }

    @Test("an image that is replaced again and again is never missing")
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

    @Test("hits of many entries, in any order: what was used last stays, exactly", arguments: [40, 3_000])
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

    @Test("hits and misses of all threads are counted")
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

    @Test("a lock for each part keeps threads apart in each")
    func stripes() async {
        let parts = StripedLock(count: 3) { 0 }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for step in 0..<3_000 { parts.withLock(step % 3) { $0 += 1 } } }
            }
        }
        #expect((0..<3).map { parts.withLock($0) { $0 } } == [4_000, 4_000, 4_000])
    }

    @Test("a lock that somebody holds is not waited for where that is asked")
    func busyLock() {
        let lock = Lock(1)
        #expect(lock.withLockIfFree { $0 } == 1)
        let inside: Int?? = lock.withLockIfFree { _ in lock.withLockIfFree { $0 } }
        #expect(inside == .some(.none))
    }

    @Test("a duration in nanoseconds, also where it is longer than they can tell")
    func nanoseconds() {
        #expect(Duration.milliseconds(1_500).inNanoseconds == 1_500_000_000)
        #expect(Duration.nanoseconds(-7).inNanoseconds == -7)
        #expect(Duration.seconds(Int64.max).inNanoseconds == .max)
        #expect(Duration.seconds(Int64.min).inNanoseconds == .min)
    }
}
