import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Order of eviction: MemoryCache", .timeLimited)
struct EvictionOrderTests {
    @Test(
        "Decides as a slow model of itself does", .capability("CMM-02"),
        arguments: [UInt64.random(in: 0 ... .max), 1, 2, 3])
    func model(seed: UInt64) {
        print("eviction order model: seed \(seed)")
        var random = SeededRandom(seed: seed)
        var room = Room(bytes: 40_000_000)
        var order = EvictionOrder(.adaptive, room: room)
        var model = EvictionModel(room: room)
        var slots: [Int: Slot] = [:]
        var changes = 0
        var position = 0
        for step in 0..<6_000 {
            // Popular ones, then a list that is scrolled to and fro, so that both ways of choosing are followed.
            position = (position + 1) % 240
            let popular = min(Int.random(in: 0..<60, using: &random), Int.random(in: 0..<60, using: &random))
            let key = step / 1_000 % 2 == 0 ? popular : 100 + min(position, 239 - position)
            let cost = key % 10 == 0 ? 4_000_000 + key : 100_000 + key % 7 * 150_000 + key
            if step % 500 == 499 {
                room = Room(bytes: Int.random(in: 20_000_000...40_000_000, using: &random), count: 60)
                order.room = room
                model.room = room
            }
            let before = order.comparison.prefersLRU
            if let slot = slots[key] {
                if Int.random(in: 0..<50, using: &random) == 0 {
                    order.remove(slot)
                    model.remove(key)
                    slots[key] = nil
                } else {
                    order.use(slot)
                    model.use(key)
                }
                continue
            }
            slots[key] = order.insert(UInt64(key), bytes: cost)
            model.insert(key, bytes: cost)
            while model.bytes > room.bytes || slots.count > room.count {
                let evicted = order.evict(to: room, newcomer: slots[key])
                let expected = model.evict(to: room, newcomer: slots[key] == nil ? nil : key)
                guard let evicted, let expected, slots[expected] == evicted else {
                    Issue.record("step \(step), seed \(seed): \(String(describing: expected)) was to be evicted")
                    return
                }
                slots[expected] = nil
            }
            #expect(order.comparison.prefersLRU == model.prefersLRU, "step \(step), seed \(seed)")
            #expect(Set(order.latestFirst) == Set(slots.values), "step \(step), seed \(seed)")
            if order.comparison.prefersLRU != before { changes += 1 }
        }
        #expect(changes > 0, "both ways were to be seen, seed \(seed)")
        var count = slots.count
        while order.evict(to: Room(bytes: 0)) != nil { count -= 1 }
        #expect(count == 0, "no entry is lost")
    }

    @Test("With LRU, what was used last goes last, and an evicted entry leaves nothing")
    func leastRecentlyUsed() {
        var order = EvictionOrder(.adaptive, room: Room(bytes: 30))
        let slots = (0..<3 as Range<UInt64>).map { order.insert($0, bytes: 10) }
        order.use(slots[0])
        #expect(order.latestFirst == [slots[0], slots[2], slots[1]])
        #expect(order.evict(to: Room(bytes: 20)) == slots[1])
        order.policy = .leastRecentlyUsed
        #expect(order.evict(to: Room(bytes: 10)) == slots[2])
        #expect(order.evict(to: Room(bytes: 0)) == slots[0] && order.evict(to: Room(bytes: 0)) == nil)
        #expect(slots.contains(order.insert(7, bytes: 10)), "slots are used again, also those of ghosts")
    }

    @Test("Never holds more than the limits, and loses no entry", arguments: [UInt64.random(in: 0 ... .max), 4])
    func limits(seed: UInt64) throws {
        print("eviction order limits: seed \(seed)")
        var random = SeededRandom(seed: seed)
        let buffers = try (1...40).map { try solidImage(16, $0).pixels }
        let cache = MemoryCache(.init(capacity: 40_000, capacityAfterPurge: 30_000, maximumCount: 40))
        for _ in 0..<10_000 {
            let key = ImageKey(source: "\(Int.random(in: 0..<80, using: &random))")
            switch Int.random(in: 0..<40, using: &random) {
            case 0: cache.remove(key)
            case 1: cache.trim(to: 10_000)
            case 2:
                cache.configuration.policy = MemoryCache.Policy.allCases.randomElement(using: &random) ?? .adaptive
            case 3..<20: _ = cache.image(forKey: key)
            default: cache.store(Image(pixels: buffers[Int.random(in: 0..<40, using: &random)]), forKey: key)
            }
            #expect(cache.statistics.bytes <= 40_000 && cache.statistics.entries <= 40)
        }
        let held = (0..<80).compactMap { cache.image(forKey: ImageKey(source: "\($0)")) }
        #expect(held.count == cache.statistics.entries)
        #expect(held.reduce(0) { $0 + $1.memoryCost } == cache.statistics.bytes)
        cache.trim(to: 0)
        #expect(cache.statistics.entries == 0 && cache.statistics.bytes == 0)
    }

    @Test("A large newcomer takes the place of others when it was asked for again and again, not before")
    func largeNewcomer() throws {
        let small = try solidImage(200, 200).pixels
        let large = try solidImage(1_600, 1_200).pixels
        let cache = MemoryCache(.init(capacity: ByteCount(100 * small.byteCount), capacityAfterPurge: .megabytes(14)))
        let keys = (0..<100).map { ImageKey(source: "\($0)") }
        for key in keys { cache.store(Image(pixels: small), forKey: key) }
        for key in keys { _ = cache.image(forKey: key) }
        cache.store(Image(pixels: large), forKey: "large")
        #expect(keys.allSatisfy(cache.contains) && !cache.contains(ImageKey(source: "large")))
        var times = 1
        while !cache.contains(ImageKey(source: "large")), times < 20 {
            cache.store(Image(pixels: large), forKey: "large")
            times += 1
        }
        #expect((2...5).contains(times))
        #expect(cache.statistics.bytes <= 100 * small.byteCount)
    }

    @Test("One-hit images do not drive out what is used")
    func scans() throws {
        let cache = MemoryCache(.init(capacity: 64_000))
        let keys = (0..<50).map { ImageKey(source: "\($0)") }
        for key in keys { cache.store(try solidImage(16, 10), forKey: key) }
        for key in keys { _ = cache.image(forKey: key) }
        for index in 0..<500 { cache.store(try solidImage(16, 10), forKey: ImageKey(source: "once \(index)")) }
        #expect(keys.allSatisfy(cache.contains))
    }

    @Test(
        "Costs at least 10 % less time than LRU where popularity differs, and no more than 3 % more on a scrolled list")
    func gain() {
        var random = SeededRandom(seed: 7)
        func size(_ key: Int) -> Int { key % 7 == 0 ? 5_000_000 + key : 80_000 + key % 13 * 20_000 }
        // The square of an even number leans towards the first keys.
        let popular = (0..<30_000).map { _ in
            let unit = Double.random(in: 0..<1, using: &random)
            return Int(unit * unit * unit * 2_000)
        }
        let list = (0..<20).flatMap { turn in turn % 2 == 0 ? Array(0..<1_000) : Array((0..<1_000).reversed()) }
        for (requests, most) in [(popular, 0.9), (list, 1.03)] {
            let capacity = 80_000_000
            let adaptive = timeOfMisses(requests, size, capacity, .adaptive)
            let leastRecentlyUsed = timeOfMisses(requests, size, capacity, .leastRecentlyUsed)
            #expect(adaptive <= most * leastRecentlyUsed, "\(adaptive) ms, \(leastRecentlyUsed) ms")
        }
    }

    @Test("A size class lets go of its own when it has too many, and changes at once", .capability("CMM-05"))
    func sizeClasses() throws {
        let cache = MemoryCache(.init(sizeClasses: [640: 3, 100: 2]))
        func store(_ name: String, _ height: Int) throws {
            cache.store(try solidImage(16, height), forKey: ImageKey(source: name))
        }
        func has(_ name: String) -> Bool { cache.contains(ImageKey(source: name)) }
        for index in 0..<3 { try store("medium \(index)", 10) }
        for index in 0..<2 { try store("small \(index)", 1) }
        try store("too large", 11)
        #expect(cache.statistics.entries == 5 && !has("too large"))
        _ = cache.image(forKey: ImageKey(source: "small 0"))
        try store("small 2", 1)
        #expect(has("small 0") && !has("small 1") && has("small 2") && has("medium 0"))
        try store("medium 3", 10)
        #expect(!has("medium 0") && cache.statistics.entries == 5)
        cache.configuration.sizeClasses = [100: 1]
        #expect(cache.statistics.entries == 1 && cache.statistics.bytes == 64)
        cache.configuration.sizeClasses = [:]
        try store("medium 4", 10)
        try store("large", 1_000)
        #expect(cache.statistics.entries == 3)
    }

    @Test("A smaller limit for one image lets go of what is larger at once", .capability("CMM-05"))
    func smallerEntries() throws {
        let cache = MemoryCache()
        cache.store(try solidImage(16, 1), forKey: "small")
        cache.store(try solidImage(16, 100), forKey: "large")
        cache.configuration.maximumEntryBytes = 1_000
        #expect(cache.contains(ImageKey(source: "small")) && !cache.contains(ImageKey(source: "large")))
        #expect(cache.statistics.bytes == 64)
    }
}

/// What the misses cost when the requests are played to a policy, in milliseconds.
private func timeOfMisses(
    _ requests: [Int], _ size: (Int) -> Int, _ capacity: Int, _ policy: MemoryCache.Policy
) -> Double {
    var order = EvictionOrder(policy, room: Room(bytes: capacity))
    var slots: [Int: Slot] = [:]
    var keys: [Slot: Int] = [:]
    var bytes = 0
    var time = 0.0
    for key in requests {
        if let slot = slots[key] {
            order.use(slot)
            continue
        }
        time += LossComparison.timeOfMiss(bytes: size(key))
        let slot = order.insert(UInt64(key), bytes: size(key))
        (slots[key], keys[slot]) = (slot, key)
        bytes += size(key)
        while bytes > capacity, let evicted = order.evict(to: Room(bytes: capacity), newcomer: slot) {
            let key = keys[evicted] ?? 0
            bytes -= size(key)
            slots[key] = nil
        }
    }
    return time
}
