import Foundation
import Tintype

@testable import TintypeCaching

/// The disk cache beside the bare calls, at 100,000 entries of usual sizes.
struct DiskSpeed {
    var isSmoke: Bool
    var count: Int
    var folder: String

    private static let sizes = [20_000, 256_000]

    func run() async throws {
        print(
            "\n### Disk: microseconds, \(count) entries on \(BareFiles.fileSystem(of: folder))\n\nMedians: call by call in turn with "
                + "the bare ones. Means, and the processor's time (median): blocks of calls in turn with blocks of bare ones.\n"
        )
        Comparison.printHead()
        let disk = openCache("\(folder)/cache")
        let bare = try BareFiles("\(folder)/bare")
        // One in 25 is large: all of them would fill the memory that the kernel keeps files in.
        func size(_ index: Int) -> Int { index % 25 == 24 ? Self.sizes[1] : Self.sizes[0] }
        let data = Dictionary(uniqueKeysWithValues: Self.sizes.map { ($0, randomBytes($0, seed: $0)) })
        for kind in Self.sizes {
            let indices = (0..<count).filter { size($0) == kind }
            guard let data = data[kind] else { continue }
            let entry = DiskCacheEntry(data: data, created: Date())
            let comparison = try await compare(indices, block: isSmoke ? 10 : 400, bare: { bare.put($0, data) }) {
                try await disk.store(entry, forKey: key($0))
            } afterBlock: {
                await disk.flush()
            }
            comparison.report("put, \(kind / 1_000) KB")
        }
        try await putsWithoutThreads(disk, bare, data)
        try await putsAtOnce(disk, bare, data)
        var random = Generator(state: 3)
        for kind in Self.sizes {
            let known = (0..<count).filter { size($0) == kind }
            let indices = (0..<(isSmoke ? 200 : 40_000)).map { _ in
                known[Int.random(in: 0..<known.count, using: &random)]
            }
            let comparison = try await compare(
                indices, block: isSmoke ? 10 : 500, bare: { if bare.get($0) != kind { fail("short file") } }
            ) {
                if await disk.entry(forKey: key($0))?.data.count != kind { fail("no entry") }
            }
            comparison.report("hit, \(kind / 1_000) KB")
        }
        await misses(disk)
        try await readers(disk, bare, count: count)
    }

    // MARK: Puts without a change of threads

    /// The work of a store alone, on the thread that measures.
    private func putsWithoutThreads(_ disk: DiskCache, _ bare: BareFiles, _ data: [Int: Data]) async throws {
        for kind in Self.sizes {
            guard let data = data[kind] else { continue }
            let entry = DiskCacheEntry(data: data, created: Date())
            let indices = Array(
                5_000_000 + kind..<5_000_000 + kind + (isSmoke ? 40 : kind == Self.sizes[0] ? 16_000 : 1_600))
            try await compare(indices, block: isSmoke ? 10 : 400, bare: { bare.put($0, data) }) {
                try disk.store.store(entry, forKey: key($0))
            }.report("put, \(kind / 1_000) KB, on one thread")
        }
    }

    // MARK: Puts at once

    /// Stores as loads cause them: nobody awaits one before the next begins.
    private func putsAtOnce(_ disk: DiskCache, _ bare: BareFiles, _ data: [Int: Data]) async throws {
        var first = 2_000_000
        for kind in Self.sizes {
            guard let data = data[kind] else { continue }
            let entry = DiskCacheEntry(data: data, created: Date())
            let block = isSmoke ? 10 : kind == Self.sizes[0] ? 400 : 100
            var comparison = Comparison()
            for _ in 0..<(isSmoke ? 2 : 40) {
                let indices = first..<first + block
                first += block
                let one = await times { for index in indices { bare.put(index, data) } }
                let other = try await times {
                    // A group would search a list for each of its tasks that ends.
                    let stores = indices.map { index in
                        Task.detached { try await disk.store(entry, forKey: key(index)) }
                    }
                    for store in stores { try await store.value }
                    await disk.flush()
                }
                let scale = 1_000 * Double(block)
                comparison.blocks.0.add(one.wall / scale)
                comparison.blocks.1.add(other.wall / scale)
                comparison.processor.0.add(one.processor / scale)
                comparison.processor.1.add(other.processor / scale)
            }
            comparison.report("put, \(kind / 1_000) KB, \(block) at once")
        }
    }

    // MARK: Misses

    private func misses(_ disk: DiskCache) async {
        let missing = (0..<1_000).map { key(-1 - $0) }
        print("\n### Disk: a miss, nanoseconds, \(missing.count) at a time\n")
        row("", "median", "least", "processor, median")
        row("---", "---:", "---:", "---:")
        let reopened = openCache("\(folder)/cache")
        let caching: any DiskCaching = disk
        let stacked = ImageCache(memory: MemoryCache(), disk: disk)
        let empty = openCache("\(folder)/nothing")
        let folder = folder
        let cases: [(String, (ImageKey) async -> Bool)] = [
            ("an `open` that fails", { open("\(folder)/bare/\($0.source.suffix(20))", O_RDONLY) < 0 }),
            ("of the cache that stored", { await disk.entry(forKey: $0) == nil }),
            ("of a cache that was just opened", { await reopened.entry(forKey: $0) == nil }),
            (
                "through the protocol, with a priority",
                { await caching.entry(forKey: $0, priority: WorkPriority()) == nil }
            ),
            ("`contains`", { await !disk.contains($0) }),
            ("`contains` of an `ImageCache`", { await stacked.contains($0).isEmpty }),
            ("of all variants of a source", { await disk.variants(ofSource: $0.source).isEmpty }),
            ("of a cache in which nothing was ever stored", { await empty.entry(forKey: $0) == nil }),
        ]
        var samples = cases.map { _ in (wall: Sample(), processor: Sample()) }
        for round in 0...(isSmoke ? 2 : 60) {
            for (index, (_, isMissing)) in cases.enumerated() {
                let (wall, processor) = await times {
                    for key in missing where await !isMissing(key) { fail("found what is not there") }
                }
                guard round > 0 else { continue }  // The first one opens what is not open.
                samples[index].wall.add(wall / Double(missing.count))
                samples[index].processor.add(processor / Double(missing.count))
            }
        }
        for (index, (name, _)) in cases.enumerated() {
            row(
                name, format(samples[index].wall.median, digits: 0), format(samples[index].wall.least, digits: 0),
                format(samples[index].processor.median, digits: 0))
        }
    }

    // MARK: Readers beside a writer

    /// Eight tasks that read at once.
    private func measureReaders(count: Int, _ read: @escaping @Sendable (Int) async -> Bool) async -> Sample {
        let reads = isSmoke ? 200 : 5_000
        return await withTaskGroup(of: Sample.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var sample = Sample()
                    var random = Generator(state: UInt64(task))
                    for _ in 0..<reads {
                        let index = Int.random(in: 0..<count, using: &random) / 25 * 25
                        sample.add(await times { if await !read(index) { fail("no entry") } }.wall)
                        await Task.yield()
                    }
                    return sample
                }
            }
            return await group.reduce(into: Sample()) { $0.add($1) }
        }
    }

    private func readers(_ disk: DiskCache, _ bare: BareFiles, count: Int) async throws {
        print(
            "\n### Disk: eight tasks that read 20 KB each while one stores 1,000 entries; microseconds, medians of the rounds\n"
        )
        row("", "idle: median", "p99", "busy: median", "p99", "busy p99 ÷ idle median", "of each round")
        row("---", "---:", "---:", "---:", "---:", "---:", "---")
        let data = randomBytes(20_000, seed: 5)
        let entry = DiskCacheEntry(data: data, created: Date())
        let stores = isSmoke ? 100 : 1_000
        let cases: [(String, @Sendable (Int) async -> Bool, @Sendable (Int) async throws -> Void)] = [
            (
                "`DiskCache`", { await disk.entry(forKey: key($0)) != nil },
                { try await disk.store(entry, forKey: key($0)) }
            ),
            ("bare calls", { bare.get($0) == 20_000 }, { bare.put($0, data) }),
        ]
        var rounds = cases.map { _ in [(idle: Sample, busy: Sample)]() }
        for round in 0..<(isSmoke ? 1 : 9) {
            for (place, (_, read, store)) in cases.enumerated() {
                let idle = await measureReaders(count: count, read)
                let first = 1_000_000 + round * stores
                // A thread of its own, as the cache has for what it writes.
                let writer = Task.detached { for index in first..<first + stores { try await store(index) } }
                let busy = await measureReaders(count: count, read)
                try await writer.value
                rounds[place].append((idle, busy))
            }
        }
        for (place, (name, _, _)) in cases.enumerated() {
            func median(_ value: ((idle: Sample, busy: Sample)) -> Double) -> Double {
                rounds[place].reduce(into: Sample()) { $0.add(value($1)) }.median
            }
            let ratios = rounds[place].map { format($0.busy.quantile(0.99) / $0.idle.median) }
            row(
                name, format(median { $0.idle.median } / 1_000), format(median { $0.idle.quantile(0.99) } / 1_000),
                format(median { $0.busy.median } / 1_000), format(median { $0.busy.quantile(0.99) } / 1_000),
                format(median { $0.busy.quantile(0.99) / $0.idle.median }, digits: 2), ratios.joined(separator: ", "))
        }
    }
}

// MARK: What both disk benchmarks use

func openCache(_ path: String) -> DiskCache {
    DiskCache(DiskCache.Configuration(directory: path, capacity: .gigabytes(100)))
}

@Sendable func key(_ index: Int) -> ImageKey { ImageKey(source: "https://images.example.org/photo-\(index).jpg") }

func randomBytes(_ count: Int, seed: Int) -> Data {
    var random = Generator(state: UInt64(seed))
    var words = (0..<(count + 7) / 8).map { _ in random.next() }
    return Data(bytes: &words, count: count)
}

/// One thing beside another.
struct Comparison {
    /// Microseconds.
    var calls = (Sample(), Sample())
    var blocks = (Sample(), Sample())
    var processor = (Sample(), Sample())

    static func printHead(_ first: String = "bare calls", _ second: String = "`DiskCache`") {
        row(
            "", "\(first): median", "\(second): median", "ratio", "\(first): mean", "\(second): mean", "ratio",
            "\(first): processor", "\(second): processor", "ratio")
        row("---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:")
    }

    func report(_ name: String) {
        var cells = [name]
        for (one, other) in [
            (calls.0.median, calls.1.median), (blocks.0.mean, blocks.1.mean), (processor.0.median, processor.1.median),
        ] { cells += [format(one), format(other), format(other / one, digits: 2)] }
        row(cells)
    }
}

/// Half of the numbers are for calls in turn, the other half for blocks of calls in turn. Each number is used once with both.
func compare(
    _ indices: [Int], block: Int, bare: (Int) async throws -> Void, _ body: (Int) async throws -> Void,
    afterBlock: () async throws -> Void = {}
) async throws -> Comparison {
    var comparison = Comparison()
    for start in stride(from: 0, to: indices.count, by: 2 * block) {
        let end = min(start + 2 * block, indices.count)
        let middle = min(start + block, end)
        for index in indices[start..<middle] {
            comparison.calls.0.add(try await times { try await bare(index) }.wall / 1_000)
            comparison.calls.1.add(try await times { try await body(index) }.wall / 1_000)
        }
        // What the calls left to do is not the blocks'.
        try await afterBlock()
        guard middle < end else { continue }
        let scale = 1_000 * Double(end - middle)
        let one = try await times { for index in indices[middle..<end] { try await bare(index) } }
        let other = try await times {
            for index in indices[middle..<end] { try await body(index) }
            try await afterBlock()
        }
        comparison.blocks.0.add(one.wall / scale)
        comparison.blocks.1.add(other.wall / scale)
        comparison.processor.0.add(one.processor / scale)
        comparison.processor.1.add(other.processor / scale)
    }
    return comparison
}
