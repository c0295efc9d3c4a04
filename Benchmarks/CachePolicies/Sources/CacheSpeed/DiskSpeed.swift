import Foundation
import Tintype

/// The disk cache beside the bare calls.
struct DiskSpeed {
    var isSmoke: Bool
    var folder: String

    private func open(_ name: String) -> DiskCache {
        DiskCache(
            DiskCache.Configuration(directory: "\(folder)/\(name)", capacity: .gigabytes(100), minimumFreeSpace: 0))
    }

    private func key(_ index: Int) -> ImageKey { ImageKey(source: "https://images.example.org/photo-\(index).jpg") }

    private func bytes(_ count: Int, _ seed: Int) -> Data {
        var random = Generator(state: UInt64(seed))
        var words = (0..<(count + 7) / 8).map { _ in random.next() }
        return Data(bytes: &words, count: count)
    }

    private func time(_ body: () async throws -> Void) async rethrows -> Double {
        let start = nanoseconds(CLOCK_MONOTONIC)
        try await body()
        return nanoseconds(CLOCK_MONOTONIC) - start
    }

    // MARK: Many entries of usual sizes

    func run() async throws {
        let count = isSmoke ? 500 : 100_000
        print(
            "\n### Disk: microseconds, \(count) entries on \(BareFiles.fileSystem(of: folder)), each call in turn with the bare ones\n"
        )
        row("case", "bare calls", "DiskCache", "ratio", "means", "ratio")
        row("---", "---:", "---:", "---:", "---:", "---:")
        let disk = open("cache")
        let bare = try BareFiles("\(folder)/bare")
        // One in 25 is large: all of them would fill the memory that the kernel keeps files in.
        func size(_ index: Int) -> Int { index % 25 == 24 ? 256_000 : 20_000 }
        let data = [20_000: bytes(20_000, 1), 256_000: bytes(256_000, 2)]
        for kind in [20_000, 256_000] {
            var puts = (Sample(), Sample())
            for index in 0..<count where size(index) == kind {
                guard let data = data[kind] else { continue }
                let entry = DiskCacheEntry(data: data, created: Date())
                puts.0.add(wallTime { bare.put(index, data) } / 1_000)
                puts.1.add(try await time { try await disk.store(entry, forKey: key(index)) } / 1_000)
            }
            report("put, \(kind / 1_000) KB", puts.0, puts.1)
        }
        await disk.flush()
        var random = Generator(state: 3)
        for kind in [20_000, 256_000] {
            var gets = (Sample(), Sample())
            let indices = (0..<count).filter { size($0) == kind }
            for _ in 0..<(isSmoke ? 200 : 20_000) {
                let index = indices[Int.random(in: 0..<indices.count, using: &random)]
                let key = key(index)
                gets.0.add(wallTime { if bare.get(index) != kind { fail("short file") } } / 1_000)
                gets.1.add(
                    await time { if await disk.entry(forKey: key)?.data.count != kind { fail("no entry") } } / 1_000)
            }
            report("hit, \(kind / 1_000) KB", gets.0, gets.1)
        }
        let missing = (0..<1_000).map { key(-1 - $0) }
        var misses = Sample()
        for _ in 0..<(isSmoke ? 2 : 50) {
            misses.add(
                await time { for key in missing { if await disk.entry(forKey: key) != nil { fail("found") } } } / 1e6)
        }
        row("miss", "", format(misses.median, digits: 2), "", "", "")
        try await readers(disk, count: count)
    }

    private func report(_ name: String, _ bare: Sample, _ cache: Sample) {
        row(
            name, format(bare.median), format(cache.median), format(cache.median / bare.median, digits: 2),
            "\(format(bare.mean)), \(format(cache.mean))", format(cache.mean / bare.mean, digits: 2))
    }

    // MARK: Readers beside a writer

    private func readers(_ disk: DiskCache, count: Int) async throws {
        let reads = isSmoke ? 200 : 5_000
        /// Eight tasks that read at once.
        func measure() async -> Sample {
            await withTaskGroup(of: Sample.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        var sample = Sample()
                        var random = Generator(state: UInt64(task))
                        for _ in 0..<reads {
                            let index = Int.random(in: 0..<count, using: &random) / 25 * 25
                            let key = key(index)
                            sample.add(await time { if await disk.entry(forKey: key) == nil { fail("no entry") } })
                            await Task.yield()
                        }
                        return sample
                    }
                }
                return await group.reduce(into: Sample()) { $0.add($1) }
            }
        }
        let idle = await measure()
        let data = bytes(20_000, 5)
        let writer = Task {
            for index in 0..<(isSmoke ? 100 : 1_000) {
                try await disk.store(DiskCacheEntry(data: data, created: Date()), forKey: key(1_000_000 + index))
            }
        }
        let busy = await measure()
        try await writer.value
        print("\n### Disk: eight tasks that read 20 KB each, microseconds\n")
        row("", "median", "p90", "p99", "p99 ÷ idle median")
        row("---", "---:", "---:", "---:", "---:")
        for (name, sample) in [("idle", idle), ("beside one that stores 1,000 entries", busy)] {
            row(
                name, format(sample.median / 1_000), format(sample.quantile(0.9) / 1_000),
                format(sample.quantile(0.99) / 1_000), format(sample.quantile(0.99) / idle.median, digits: 2))
        }
    }

    // MARK: A million entries

    func runLarge() async throws {
        let count = isSmoke ? 5_000 : 1_000_000
        let small = isSmoke ? 500 : 10_000
        let data = bytes(100, 7)
        print("\n### Disk: \(count) entries of 100 bytes on \(BareFiles.fileSystem(of: folder))\n")
        var (large, few) = (open("large"), open("few"))
        func fill(_ disk: DiskCache, _ range: Range<Int>, expires: Date? = nil) async throws {
            for index in range {
                try await disk.store(DiskCacheEntry(data: data, created: Date(), expires: expires), forKey: key(index))
            }
        }
        let filling = try await time {
            try await fill(large, 0..<count)
            try await fill(few, 0..<small)
        }
        print("Filled in \(format(filling / 1e9)) s.\n")
        await large.flush()
        await few.flush()

        row("case", "\(small) entries", "\(count) entries", "ratio")
        row("---", "---:", "---:", "---:")
        var random = Generator(state: 11)
        var samples = [Sample(), Sample(), Sample(), Sample()]
        for step in 0..<(isSmoke ? 200 : 10_000) {
            for (place, disk, count) in [(0, few, small), (1, large, count)] {
                let known = key(Int.random(in: 0..<count, using: &random))
                samples[place].add(
                    await time { if await disk.entry(forKey: known) == nil { fail("no entry") } } / 1_000)
                let entry = DiskCacheEntry(data: data, created: Date())
                let new = key(2_000_000 + step)
                samples[2 + place].add(try await time { try await disk.store(entry, forKey: new) } / 1_000)
            }
        }
        for (name, place) in [("get, µs, median", 0), ("put, µs, median", 2)] {
            let (one, other) = (samples[place].median, samples[place + 1].median)
            row(name, format(one), format(other), format(other / one, digits: 2))
        }
        let (one, other) = (samples[2].mean, samples[3].mean)
        row("put, µs, mean", format(one), format(other), format(other / one, digits: 2))
        await large.flush()

        let memory = residentBytes()
        let opening = await time {
            large = open("large")
            if await large.entry(forKey: key(count / 2)) == nil { fail("no entry") }
        }
        few = open("few")
        print(
            "\nOpened, with the first hit, in \(format(opening / 1e6)) ms; \(format(Double(residentBytes() - memory) / 1e6)) MB more in memory.\n"
        )

        // What is over its time is found by the index, as what was not used for the longest time is.
        try await fill(large, 3_000_000..<3_001_000, expires: Date(timeIntervalSinceNow: -1))
        await large.flush()
        var removed = 0
        let evicting = try await time { removed = try await large.removeExpired().files }
        var listed = 0
        let sweeping = wallTime { listed = BareFiles.removeOldest(1_000, in: "\(folder)/large/data") }
        print(
            "Removing \(removed) entries: \(format(evicting / 1e6)) ms; listing, looking at and sorting \(listed) files, and removing "
                + "1,000: \(format(sweeping / 1e6)) ms; \(format(evicting / sweeping * 100, digits: 2)) %.")
    }

    private func residentBytes() -> Int {
        let fields = ((try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? "").split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
