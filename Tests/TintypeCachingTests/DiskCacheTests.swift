import Foundation
import TestSupport
import Testing

import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache", .timeLimited)
struct DiskCacheTests {
    let directory: TemporaryDirectory
    let clock = WallClock()
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    @Test("Gives back what was stored, with all that was stored with it", .capability("CDK-01", "CST-09", "MET-12"))
    func roundTrip() async throws {
        let cache = DiskCache.temporary(path)
        let entry = DiskCacheEntry(
            data: someBytes(20_000), created: Date(timeIntervalSince1970: 1_690_000_000.25),
            expires: Date(timeIntervalSince1970: 1_800_000_000), mimeType: "image/png",
            validators: CacheValidators(entityTag: "\"x\"", lastModified: "yesterday"), extendedData: Data([1, 2, 3]))
        try await cache.store(entry, forKey: "https://example.org/ä.png")
        #expect(await cache.entry(forKey: "https://example.org/ä.png") == entry)
        #expect(await cache.contains("https://example.org/ä.png"))
        // Another cache on the directory: what was stored outlives the object.
        #expect(await DiskCache.temporary(path).entry(forKey: "https://example.org/ä.png") == entry)
    }

    @Test("Empty data, and none beside it, are kept as they are")
    func emptyEntry() async throws {
        let cache = DiskCache.temporary(path)
        var entry = DiskCacheEntry(data: Data(), created: Date(timeIntervalSince1970: 1))
        entry.extendedData = Data()
        try await cache.store(entry, forKey: "")
        #expect(await cache.entry(forKey: "") == entry)
    }

    @Test("A miss is a miss, and asking makes no directory")
    func miss() async throws {
        let cache = DiskCache.temporary(path)
        #expect(await cache.entry(forKey: "a") == nil)
        #expect(await !cache.contains("a"))
        #expect(await cache.usage() == CacheUsage())
        #expect(try await cache.remove("a") == false)
        try await cache.removeAll()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(cache.statistics.misses == 1)
    }

    @Test("Makes the directory with those above it, for the user alone", .capability("CDK-02", "3.18"))
    func makesDirectory() async throws {
        let deep = path + "/a/b"
        try await DiskCache.temporary(deep).put(someBytes(1), "a")
        let mode = try FileManager.default.attributesOfItem(atPath: deep)[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test("Replacing leaves one entry and one file")
    func replacing() async throws {
        let cache = DiskCache.temporary(path)
        try await cache.put(someBytes(100, seed: 1), "a")
        try await cache.put(someBytes(50, seed: 2), "a")
        #expect(await cache.entry(forKey: "a")?.data == someBytes(50, seed: 2))
        #expect(await cache.usage().entries == 1)
        #expect(try payloadFiles().count == 1)
        let usage = await cache.usage()
        #expect(cache.statistics.entries == 1 && cache.statistics.bytes == usage.bytes)
        #expect(cache.statistics.stores == 2)
    }

    @Test(
        "The image comes first in its file; usage counts whole files, in blocks of 4 KB",
        .capability("CPA-02", "CRM-06"))
    func fileLayout() async throws {
        let cache = DiskCache.temporary(path)
        let data = someBytes(5_000)
        try await cache.put(data, "a")
        let file = try #require(try payloadFiles().first)
        let stored = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(stored.prefix(5_000) == data && stored.suffix(8) == Data("TINTYPE\n".utf8))
        #expect(stored.count < 8_192 && stored.count > 5_000)
        #expect(await cache.usage() == CacheUsage(entries: 1, bytes: 8_192))
    }

    @Test("Removes one variant, or all of a source", .capability("CRM-01", "#3630", "3.9"))
    func removing() async throws {
        let cache = DiskCache.temporary(path)
        let keys = ["", "fit=1x1", "fit=2x2"].map {
            ImageKey(source: "a", variant: ImageVariant(description: $0))
        }
        for key in keys + ["b"] { try await cache.put(someBytes(10), key) }
        #expect(try await cache.remove(keys[1]))
        #expect(try await !cache.remove(keys[1]))
        #expect(await Set(cache.entries(ofSource: "a").map(\.key)) == [keys[0], keys[2]] as Set)
        #expect(try await cache.removeAll(ofSource: "a") == 2)
        #expect(await cache.contains("b"))
        #expect(try payloadFiles().count == 1)
    }

    @Test("Removes everything, and goes on", .capability("CRM-03"))
    func removingAll() async throws {
        let cache = DiskCache.temporary(path)
        for index in 0..<20 { try await cache.put(someBytes(10), ImageKey(source: "\(index)")) }
        try await cache.removeAll()
        #expect(await cache.usage() == CacheUsage())
        #expect(await cache.entry(forKey: "3") == nil)
        #expect(try payloadFiles().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).allSatisfy { $0 != "trash" })
        try await cache.put(someBytes(10), "new")
        #expect(await cache.contains("new"))
    }

    // MARK: Limits

    @Test(
        "The byte limit holds after every store; the least recently used go first",
        .capability("#1206", "CCF-09", "CDK-06", "CDK-07", "3.13")
    )
    func byteLimit() async throws {
        let cache = DiskCache.temporary(path, capacity: ByteCount(11 * 4_096 + 100), clock: clock)
        for index in 0..<10 {
            try await cache.put(someBytes(1_000), ImageKey(source: "\(index)"))
            clock.advance(.seconds(1))
        }
        _ = await cache.entry(forKey: "0")
        clock.advance(.seconds(1))
        for index in 10..<13 {
            try await cache.put(someBytes(1_000), ImageKey(source: "\(index)"))
            clock.advance(.seconds(1))
            #expect(await cache.usage().bytes <= 11 * 4_096 + 100)
        }
        #expect(await cache.contains("0"))
        #expect(await cache.contains("12"))
        #expect(await !cache.contains("1"))
        let entries = await cache.usage().entries
        #expect(try payloadFiles().count == entries)
        #expect(cache.statistics.evictions == 13 - (try payloadFiles().count))
    }

    @Test("The count limit holds")
    func countLimit() async throws {
        let cache = DiskCache.temporary(path, maximumCount: 3, clock: clock)
        for index in 0..<5 {
            try await cache.put(someBytes(10), ImageKey(source: "\(index)"))
            clock.advance(.seconds(1))
        }
        #expect(await cache.entries().map(\.key.source).sorted() == ["2", "3", "4"])
    }

    @Test("Limits that are lowered hold after the next sweep; the directory stays")
    func liveLimits() async throws {
        let cache = DiskCache.temporary(path, clock: clock)
        for index in 0..<5 {
            try await cache.put(someBytes(10), ImageKey(source: "\(index)"))
            clock.advance(.seconds(1))
        }
        // What the cache does once in the background may find that there is too much, too.
        await cache.close()
        cache.configuration = DiskCache.Configuration(directory: "/elsewhere", maximumAge: nil, maximumCount: 2)
        #expect(cache.configuration.directory == path)
        #expect(try await cache.removeExpired().entries == 3)
        #expect(await cache.entries().map(\.key.source).sorted() == ["3", "4"])
    }

    @Test("An entry larger than the cache is refused and nothing has to go for it")
    func tooLarge() async throws {
        let cache = DiskCache.temporary(path, capacity: 10_000)
        try await cache.put(someBytes(100), "a")
        let error = await #expect(throws: ImageError.self) { try await cache.put(someBytes(10_000), "b") }
        #expect(error?.code == .cacheWriteFailed && error?.source == "b")
        #expect(await cache.contains("a"))
    }

    @Test(
        "What is as old as the limit goes", .capability("CCF-08", "CCF-12", "CDK-05", "CRM-04"),
        arguments: DiskCache.Configuration.Expiry.allCases)
    func age(expiry: DiskCache.Configuration.Expiry) async throws {
        let cache = DiskCache.temporary(path, maximumAge: .seconds(100), expiry: expiry, clock: clock)
        try await cache.put(someBytes(10), "a")
        try await cache.put(someBytes(10), "b")
        clock.advance(.seconds(60))
        #expect(await cache.entry(forKey: "a") != nil)
        clock.advance(.seconds(39))
        #expect(try await cache.removeExpired().entries == 0)
        clock.advance(.seconds(1))
        #expect(await !cache.contains("b"), "not only at sweeps")
        #expect(await cache.contains("a") == (expiry == .byAccess))
        let sweep = try await cache.removeExpired()
        #expect(sweep.entries == (expiry == .byAccess ? 1 : 2))
        #expect(await cache.usage().entries == 2 - sweep.entries)
    }

    @Test("A negative age is none; an age of zero lasts until the next sweep", .capability("CCF-08"))
    func specialAges() async throws {
        let forever = DiskCache.temporary(path, maximumAge: .seconds(-1), clock: clock)
        try await forever.put(someBytes(10), "a")
        clock.advance(.days(10_000))
        #expect(try await forever.removeExpired() == CacheUsage())
        let never = DiskCache.temporary(path, maximumAge: .zero, clock: clock)
        #expect(await never.entry(forKey: "a") != nil)
        #expect(try await never.removeExpired().entries == 1)
    }

    @Test("An entry's own end counts, whatever the limit", .capability("3.13"))
    func ownEnd() async throws {
        let cache = DiskCache.temporary(path, clock: clock)
        let entry = DiskCacheEntry(data: someBytes(10), created: clock.date, expires: clock.date + 10)
        try await cache.store(entry, forKey: "a")
        clock.advance(.seconds(10))
        #expect(await cache.entry(forKey: "a") == nil)
        await cache.flush()
        #expect(await cache.usage().entries == 0)
        #expect(cache.statistics.corruptions == 0)
    }

    @Test("Reads count as use across processes once they are written", .capability("CDK-04", "#3759"))
    func accessTimes() async throws {
        let cache = DiskCache.temporary(path, clock: clock)
        try await cache.put(someBytes(10), "a")
        clock.advance(.seconds(50))
        _ = await cache.entry(forKey: "a")
        await cache.flush()
        #expect(await DiskCache.temporary(path).entries().first?.accessed == clock.date)
    }

    @Test("A clock that was set back does not make old entries the newest")
    func clockSetBack() async throws {
        let cache = DiskCache.temporary(path, maximumCount: 2, clock: clock)
        clock.advance(.days(1_000))
        try await cache.put(someBytes(10), "future")
        clock.advance(.days(-1_000))
        try await cache.put(someBytes(10), "a")
        try await cache.put(someBytes(10), "b")
        #expect(await cache.contains("b"), "what was just stored stays")
        clock.advance(.seconds(1))
        try await cache.put(someBytes(10), "c")
        clock.advance(.seconds(1))
        try await cache.put(someBytes(10), "d")
        #expect(await cache.entries().map(\.key.source).sorted() == ["c", "d"])
    }

    @Test("Two caches on one directory see each other's entries and totals", .capability("CRM-06"))
    func twoCaches() async throws {
        let (one, two) = (DiskCache.temporary(path), DiskCache.temporary(path))
        try await one.put(someBytes(10), "a")
        try await two.put(someBytes(10), "b")
        #expect(await one.contains("b"))
        #expect(await two.contains("a"))
        let usage = await one.usage()
        #expect(await two.usage() == usage && usage.entries == 2)
        try await two.put(someBytes(20, seed: 3), "a")
        #expect(await one.entry(forKey: "a")?.data == someBytes(20, seed: 3))
        try await one.removeAll()
        #expect(await two.entry(forKey: "b") == nil)
        try await two.put(someBytes(10), "c")
        #expect(await one.contains("c"))
    }

    @Test("Behaves like a simple model", arguments: [UInt64.random(in: 0 ... .max), 1])
    func model(seed: UInt64) async throws {
        print("disk cache model: seed \(seed)")
        var generator = SeededRandom(seed: seed)
        // As many as there are keys: which entries go is a matter of the hand's tests.
        var cache = DiskCache.temporary(path, maximumCount: 40, clock: clock)
        var model: [(key: ImageKey, data: Data)] = []
        for step in 0..<600 {
            clock.advance(.milliseconds(10))
            let source = "\(Int.random(in: 0..<20, using: &generator))"
            let variant = ["", "fit=1x1"].randomElement(using: &generator) ?? ""
            let key = ImageKey(source: source, variant: ImageVariant(description: variant))
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<45:
                let data = someBytes(Int.random(in: 0..<200, using: &generator), seed: UInt64(step))
                try await cache.put(data, key)
                model.removeAll { $0.key == key }
                model.append((key, data))
            case 45..<80:
                let found = await cache.entry(forKey: key)?.data
                #expect(found == model.first { $0.key == key }?.data, "step \(step), seed \(seed)")
            case 80..<88:
                #expect(try await cache.remove(key) == model.contains { $0.key == key }, "step \(step), seed \(seed)")
                model.removeAll { $0.key == key }
            case 88..<94:
                #expect(try await cache.removeAll(ofSource: source) == model.count { $0.key.source == source })
                model.removeAll { $0.key.source == source }
            case 94..<96:
                try await cache.removeAll()
                model = []
            default:
                await cache.flush()
                cache = DiskCache.temporary(path, maximumCount: 40, clock: clock)
            }
            #expect(await cache.usage().entries == model.count, "step \(step), seed \(seed)")
        }
        #expect(try await cache.verify().damaged.isEmpty)
        #expect(try payloadFiles().count == model.count)
    }

    @Test("Readers, writers and clearing at once: every entry is seen whole", .capability("CDK-03", "3.7"))
    func stress() async throws {
        let (one, two) = (DiskCache.temporary(path), DiskCache.temporary(path))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                group.addTask {
                    var generator = SeededRandom(seed: UInt64(task))
                    let cache = task.isMultiple(of: 2) ? one : two
                    for step in 0..<60 {
                        let name = UInt64.random(in: 0..<8, using: &generator)
                        let key = ImageKey(source: "\(name)")
                        switch (task, step) {
                        case (0, 30), (3, 45): try await cache.removeAll()
                        case (0, _), (1, _), (2, _):
                            try await cache.put(
                                someBytes(Int.random(in: 1..<3_000, using: &generator), seed: name), key)
                        default:
                            guard let data = await cache.entry(forKey: key)?.data else { continue }
                            #expect(data == someBytes(data.count, seed: name))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(one.statistics.corruptions + two.statistics.corruptions == 0)
        #expect(try await one.verify().damaged.isEmpty)
        let entries = await one.usage().entries
        #expect(try payloadFiles().count == entries)
    }

    private func payloadFiles() throws -> [String] { try Self.payloadFiles(path) }

    /// The files of entries, without unfinished ones.
    static func payloadFiles(_ path: String) throws -> [String] {
        let data = path + "/entries"
        guard FileManager.default.fileExists(atPath: data) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: data)
            .filter { $0.contains("/") && !$0.contains("/.") }.map { "\(data)/\($0)" }
    }
}
