import Foundation
import Tintype

/// The disk cache with a million entries beside one with ten thousand, and beside a directory without an index.
struct ManyEntries {
    var isSmoke: Bool
    var count: Int
    var folder: String

    private var small: Int { count / (isSmoke ? 10 : 100) }
    /// Small, so that what is measured is entries: a million files take 4 GB as it is.
    private let entry = DiskCacheEntry(data: randomBytes(100, seed: 7), created: Date())

    func run() async throws {
        print("\n### Disk: \(count) entries of 100 bytes on \(BareFiles.fileSystem(of: folder))\n")
        let places = ["\(folder)/few", "\(folder)/many"]
        try await fill(places[0], small)
        try await fill(places[1], count)
        try await calls(places.map { openCache($0) })
        try opening(places)
        try await eviction(places[1])
    }

    /// Stores many at a time, so that the thread that writes never waits for the next.
    private func fill(_ place: String, _ count: Int) async throws {
        let (cache, entry) = (openCache(place), entry)
        let (wall, _) = try await times {
            var done = 0
            for start in stride(from: 0, to: count, by: 10_000) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for lane in 0..<16 {
                        group.addTask {
                            for index in stride(from: start + lane, to: min(start + 10_000, count), by: 16) {
                                try await cache.store(entry, forKey: key(index))
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                done = min(start + 10_000, count)
                if done.isMultiple(of: 50_000) { note("stored \(done) of \(count)") }
            }
            await cache.flush()
        }
        print("Stored \(count) entries in \(format(wall / 1e9)) s.\n")
    }

    // MARK: Get and put

    private func calls(_ caches: [DiskCache]) async throws {
        print("Microseconds, in turn:\n")
        Comparison.printHead("\(small)", "\(count)")
        let (steps, block) = isSmoke ? (200, 10) : (20_000, 500)
        var random = Generator(state: 11)
        /// A number that both have, if taken from the end of the larger one.
        let known = (0..<steps).map { _ in Int.random(in: 0..<small, using: &random) }
        let offset = count - small
        let factor = offset / small
        try await compare(known, block: block) {
            if await caches[0].entry(forKey: key($0)) == nil { fail("no entry") }
        } _: {
            // Spread over all of them.
            if await caches[1].entry(forKey: key($0 * factor + $0 % factor)) == nil { fail("no entry") }
        }.report("hit")
        try await compare((0..<steps).map { -1 - $0 }, block: block) {
            if await caches[0].entry(forKey: key($0)) != nil { fail("found what is not there") }
        } _: {
            if await caches[1].entry(forKey: key($0)) != nil { fail("found what is not there") }
        }.report("miss")
        try await compare(Array(2_000_000..<2_000_000 + steps), block: block) {
            try await caches[0].store(entry, forKey: key($0))
        } _: {
            try await caches[1].store(entry, forKey: key($0))
        }.report("put")
        for cache in caches { await cache.flush() }
    }

    // MARK: Opening

    /// In processes of their own, which have nothing of it in memory.
    private func opening(_ places: [String]) throws {
        print("\nOpened by a process of its own, medians:\n")
        row("entries", "first hit, ms", "MB more in memory", "first store after it, ms", "MB more in memory, both")
        row("---:", "---:", "---:", "---:", "---:")
        for (count, place) in zip([small, count], places) {
            var samples = [Sample(), Sample(), Sample(), Sample()]
            for round in 0..<(isSmoke ? 1 : 7) {
                let numbers = try runChild(["--open", place, "\(count / 2 + round)"], expecting: 4)
                for (index, number) in numbers.enumerated() { samples[index].add(number) }
            }
            row(["\(count)"] + samples.map { format($0.median, digits: 2) })
        }
    }

    /// What such a process does: opens, reads one entry, and stores another one; prints what that took.
    static func open(_ place: String, known: Int) async throws {
        let entry = DiskCacheEntry(data: randomBytes(100, seed: 8), created: Date())
        // What any program has done by then.
        _ = await openCache("\(place)-nothing").entry(forKey: key(0))
        let memory = residentBytes()
        let cache = openCache(place)
        let hit = await times { if await cache.entry(forKey: key(known)) == nil { fail("no entry") } }.wall
        let afterHit = residentBytes()
        let store = try await times { try await cache.store(entry, forKey: key(3_000_000 + known)) }.wall
        let afterStore = residentBytes()
        print(hit / 1e6, Double(afterHit - memory) / 1e6, store / 1e6, Double(afterStore - memory) / 1e6)
        await cache.flush()
    }

    // MARK: Eviction

    private func eviction(_ place: String) async throws {
        let cache = openCache(place)
        await cache.flush()
        var evictions = (wall: Sample(), processor: Sample(), files: Sample())
        var whole = (wall: Sample(), processor: Sample())
        for round in 0..<(isSmoke ? 1 : 5) {
            let usage = await cache.usage()
            cache.configuration.maximumCount = usage.entries - (isSmoke ? 0 : 999)
            let before = cache.statistics.evictions
            let time = try await times { try await cache.store(entry, forKey: key(4_000_000 + round)) }
            evictions.wall.add(time.wall / 1e6)
            evictions.processor.add(time.processor / 1e6)
            // Until the files are gone too, which the store does not wait for.
            let rest = await times { await cache.flush() }
            whole.wall.add((time.wall + rest.wall) / 1e6)
            whole.processor.add((time.processor + rest.processor) / 1e6)
            evictions.files.add(Double(cache.statistics.evictions - before))
        }
        let files = Int(evictions.files.median)
        var sweeps = (wall: Sample(), processor: Sample())
        var listed = 0
        for _ in 0..<(isSmoke ? 1 : 3) {
            let time = await times { listed = BareFiles.removeOldest(files, in: "\(place)/entries") }
            sweeps.wall.add(time.wall / 1e6)
            sweeps.processor.add(time.processor / 1e6)
        }
        print("\nMilliseconds, medians:\n")
        row("", "time", "processor")
        row("---", "---:", "---:")
        row("a store that evicts \(files) entries", format(evictions.wall.median), format(evictions.processor.median))
        row("until their files are gone", format(whole.wall.median), format(whole.processor.median))
        row(
            "list, look at and sort \(listed) files, and remove \(files)", format(sweeps.wall.median),
            format(sweeps.processor.median))
        var unlinks = (wall: Sample(), processor: Sample())
        for round in 0..<(isSmoke ? 1 : 5) {
            let paths = BareFiles.paths(files, in: "\(place)/entries", skipping: round * files)
            let time = await times { for path in paths { unlink(path) } }
            unlinks.wall.add(time.wall / 1e6)
            unlinks.processor.add(time.processor / 1e6)
        }
        row("unlink \(files) files", format(unlinks.wall.median), format(unlinks.processor.median))
        row(
            "the store ÷ unlinks", format(evictions.wall.median / unlinks.wall.median, digits: 2),
            format(evictions.processor.median / unlinks.processor.median, digits: 2))
        row(
            "part: the store", "\(format(evictions.wall.median / sweeps.wall.median * 100, digits: 2)) %",
            "\(format(evictions.processor.median / sweeps.processor.median * 100, digits: 2)) %")
        row(
            "part: until the files are gone", "\(format(whole.wall.median / sweeps.wall.median * 100, digits: 2)) %",
            "\(format(whole.processor.median / sweeps.processor.median * 100, digits: 2)) %")
    }

    private func note(_ message: String) { FileHandle.standardError.write(Data("\(message)\n".utf8)) }
}
