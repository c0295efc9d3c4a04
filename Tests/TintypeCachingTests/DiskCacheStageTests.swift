import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: what waits", .timeLimited)
struct DiskCacheStageTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    @Test("An entry that waits to be written is found at once; a removal takes it from sight and from disk")
    func stagedReads() async throws {
        let gated = GatedFileSystem()
        let cache = DiskCache.temporary(path, files: gated.files)
        let variant = ImageKey(source: "b", variant: ImageVariant(description: "fit=1x1"))
        let stores = Task {
            try await cache.put(someBytes(10), "a")
            try await cache.put(someBytes(30), "c")
        }
        await gated.arrival(of: 1)
        let second = Task { try await cache.put(someBytes(20), variant) }
        while await cache.entry(forKey: variant) == nil { await Task.yield() }
        #expect(await cache.entry(forKey: "a")?.data == someBytes(10))
        #expect(await cache.contains("a"))
        #expect(await cache.variants(ofSource: "b") == [variant.variant])
        #expect(await cache.entry(forKey: "c") == nil)
        let removal = Task { try await cache.remove("a") }
        while await cache.entry(forKey: "a") != nil { await Task.yield() }
        gated.open()
        #expect(try await removal.value)
        try await stores.value
        try await second.value
        #expect(await cache.entry(forKey: "a") == nil)
        #expect(await cache.entry(forKey: variant)?.data == someBytes(20))
        #expect(await cache.usage().entries == 2)
    }

    @Test("Stores of different sources don't wait for each other; those of one source do")
    func parallelStores() async throws {
        let gated = GatedFileSystem()
        let cache = DiskCache.temporary(path, files: gated.files)
        let first = Task { try await cache.put(someBytes(10), "a") }
        await gated.arrival(of: 1)
        let second = Task { try await cache.put(someBytes(20), "b") }
        await gated.arrival(of: 2)
        let third = Task { try await cache.put(someBytes(30), "a") }
        while await cache.entry(forKey: "a")?.data.count != 30 { await Task.yield() }
        gated.open()
        for task in [first, second, third] { try await task.value }
        #expect(await cache.entry(forKey: "a")?.data == someBytes(30))
        #expect(await cache.usage().entries == 2)
    }

    @Test("An entry whose write fails is not found any more")
    func failedStage() async throws {
        let faulty = FaultyFileSystem()
        faulty.fail { operation, path in operation == "write" && path.contains("entries/") ? ENOSPC : nil }
        let cache = DiskCache.temporary(path, files: faulty)
        await #expect(throws: ImageError.self) { try await cache.put(someBytes(10), "a") }
        #expect(await cache.entry(forKey: "a") == nil)
    }

    @Test("Reads for what is seen go before reads for what is not yet, and may be raised while they wait")
    func priorities() async throws {
        let queue = WorkQueue(label: "reads", width: 1)
        let (gate, order) = (ThreadGate(), Lock<[String]>([]))
        let filler = DiskCache.temporary(path)
        let names = ["first", "prefetch", "raised", "visible"]
        for name in names {
            try await filler.put(someBytes(600_000), ImageKey(source: name))
        }
        await filler.flush()
        let cache = DiskCache(
            .init(directory: path, maximumAge: nil, minimumFreeSpace: 0), queue: queue,
            faults: { operation, path in
                guard operation == "read", path.hasPrefix("entries/") else { return nil }
                let name = names.first { EntryName(source: $0).path == path }
                order.withLock { $0.append(name ?? "?") }
                gate.wait()
                return nil
            },
            now: { Date(timeIntervalSince1970: 1_700_000_000) })
        let raised = WorkPriority(.veryLow)
        await withTaskGroup(of: Void.self) { group in
            func read(_ name: String, _ priority: WorkPriority, waiting: Int) async {
                group.addTask { _ = await cache.entry(forKey: ImageKey(source: name), priority: priority) }
                while queue.load.waiting + queue.load.running < waiting { await Task.yield() }
            }
            await read("first", WorkPriority(), waiting: 1)
            while order.withLock({ $0.isEmpty }) { await Task.yield() }
            await read("prefetch", WorkPriority(.low), waiting: 2)
            await read("raised", raised, waiting: 3)
            await read("visible", WorkPriority(.high), waiting: 4)
            raised.value = .veryHigh
            gate.open()
        }
        #expect(order.withLock { $0 } == ["first", "raised", "visible", "prefetch"])
    }

    @Test("A canceled task doesn't wait for a large image, which then counts as neither hit nor miss")
    func canceledRead() async throws {
        let cache = DiskCache.temporary(path)
        try await cache.put(someBytes(600_000), "a")
        let entry = try await inCanceledTask { await cache.entry(forKey: "a") }
        #expect(entry == nil)
        #expect(cache.statistics.hits == 0 && cache.statistics.misses == 0)
    }

    @Test("A miss where nothing was ever stored waits for no thread")
    func nothingStored() async throws {
        let (queue, gate) = (WorkQueue(label: "busy", width: 1), ThreadGate())
        let busy = Task { try await queue.perform { _ in gate.wait() } }
        while queue.load.running == 0 { await Task.yield() }
        // As the kernel says where it remembers that there is none.
        let cache = DiskCache(
            .init(directory: path), queue: queue,
            faults: { operation, _ in operation == "look for directory" ? ENOENT : nil },
            now: { Date() })
        #expect(await cache.entry(forKey: "a") == nil)
        #expect(await !cache.contains("a"))
        #expect(cache.statistics.misses == 1)
        gate.open()
        try await busy.value
    }

    @Test("What another cache of this process stores in a directory that was missing is found")
    func emptiness() async throws {
        let (one, two) = (DiskCache.temporary(path), DiskCache.temporary(path))
        for _ in 0..<100 {
            #expect(await one.entry(forKey: "a") == nil)
            #expect(await !one.contains("a"))
        }
        try await two.put(someBytes(10), "a")
        #expect(await one.entry(forKey: "a")?.data == someBytes(10))
    }

    @Test("A flush waits for the removal of a damaged entry that a read began")
    func discardUnderWay() async throws {
        let files = FaultyFileSystem()
        let (gate, hasArrived, hasFlushed) = (ThreadGate(), Lock(false), Lock(false))
        defer { gate.open() }
        let cache = DiskCache.temporary(path, files: files)
        try await cache.put(someBytes(10), "a")
        let file = try #require(await cache.path(forKey: "a"))
        #expect(truncate(file, 5) == 0)
        files.fail { operation, path in
            if operation == "remove", path.hasPrefix("entries/") {
                hasArrived.withLock { $0 = true }
                gate.wait()
            }
            return nil
        }
        #expect(await cache.entry(forKey: "a") == nil)
        while !hasArrived.withLock({ $0 }) { await Task.yield() }
        let flush = Task.immediate {
            await cache.flush()
            hasFlushed.withLock { $0 = true }
        }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(!hasFlushed.withLock { $0 })
        gate.open()
        await flush.value
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(cache.statistics.corruptions == 1)
    }
}
