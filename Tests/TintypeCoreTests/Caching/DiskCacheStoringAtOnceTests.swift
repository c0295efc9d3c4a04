import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCore

@Suite("Disk cache: what is written on the caller's thread", .timeLimited, .enabled(if: DiskStore.hasSeveralProcessors))
struct DiskCacheStoringAtOnceTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    private func entry(_ count: Int, seed: UInt64 = 1) -> DiskCacheEntry {
        DiskCacheEntry(data: someBytes(count, seed: seed), created: Date(timeIntervalSince1970: 1_700_000_000))
    }

    /// A cache whose index is open, and which has nothing to do in the background any more.
    private func openCache(
        _ files: any CacheFileSystem = PosixFileSystem(), maximumCount: Int? = nil, minimumFreeSpace: ByteCount = 0
    ) async throws -> DiskCache {
        let cache = DiskCache.temporary(
            path, maximumCount: maximumCount, minimumFreeSpace: minimumFreeSpace, files: files)
        try await cache.put(someBytes(10), "first")
        await cache.close()
        try await cache.put(someBytes(10), "first")
        await cache.flush()  // Takes the first file away.
        return cache
    }

    private func storeAtOnce(_ count: Int, _ key: ImageKey, in cache: DiskCache) -> Bool {
        // What the machine had to do meanwhile is not the disk's slowness.
        cache.store.writePace.withLock { $0 = WritePace() }
        return cache.store.storeAtOnce(entry(count), forKey: key)
    }

    /// How many files there are, of whatever is known of them.
    private var fileCount: Int {
        let data = path + "/data"
        let shards = (try? FileManager.default.contentsOfDirectory(atPath: data)) ?? []
        return shards.reduce(0) { count, shard in
            count + ((try? FileManager.default.contentsOfDirectory(atPath: "\(data)/\(shard)").count) ?? 0)
        }
    }

    @Test("what was stored at once is an entry like any other")
    func storing() async throws {
        let cache = try await openCache()
        #expect(storeAtOnce(20_000, "a", in: cache))
        #expect(storeAtOnce(300, "first", in: cache), "in place of another")
        #expect(cache.statistics.stores == 4)
        let other = DiskCache.temporary(path)
        #expect(await other.entry(forKey: "a")?.data == someBytes(20_000))
        #expect(await other.entry(forKey: "first")?.data == someBytes(300))
        #expect(await cache.usage().entries == 2)
        #expect(await cache.usage() == other.usage())
        #expect(fileCount == 2)
        #expect(try await cache.verify().damaged.isEmpty)
    }

    @Test("without an open index a thread that may wait opens it")
    func closedIndex() async throws {
        let unused = DiskCache.temporary(path)
        #expect(!storeAtOnce(10, "a", in: unused))
        #expect(!FileManager.default.fileExists(atPath: path))
        let cache = try await openCache()
        #expect(storeAtOnce(10, "b", in: cache))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        #expect(!storeAtOnce(10, "c", in: cache), "the index is gone")
        try await cache.put(someBytes(10), "c")
        #expect(await cache.entry(forKey: "c") != nil)
    }

    @Test("large images, and disks that are not the machine's own, are left to a thread that may wait")
    func waitingElsewhere() async throws {
        let faulty = FaultyFileSystem()
        let cache = try await openCache(faulty)
        #expect(storeAtOnce(DiskStore.largestWriteAtOnce, "a", in: cache))
        #expect(!storeAtOnce(DiskStore.largestWriteAtOnce + 1, "b", in: cache))
        #expect(fileCount == 2)
        faulty.fail { operation, _ in operation == "is local" ? EIO : nil }
        let remote = try await openCache(faulty)
        #expect(!storeAtOnce(10, "d", in: remote))
    }

    @Test("kinds of file systems: this one's temporary folder is local, processes are not")
    func localFileSystems() {
        #expect(PosixFileSystem().isLocal("/dev/shm") || !FileManager.default.fileExists(atPath: "/dev/shm"))
        #expect(!PosixFileSystem().isLocal("/proc"))
        #expect(!PosixFileSystem().isLocal(directory.path + "/missing"))
    }

    @Test("nothing is evicted, and nothing is written when a limit would be passed")
    func limits() async throws {
        let counted = try await openCache(maximumCount: 2)
        #expect(storeAtOnce(10, "a", in: counted))
        #expect(!storeAtOnce(10, "b", in: counted))
        #expect(fileCount == 2)
        try await counted.put(someBytes(10), "b")
        #expect(await counted.usage().entries <= 2)

        counted.configuration.maximumCount = nil
        counted.configuration.capacity = .kilobytes(3)
        #expect(!storeAtOnce(2_900, "c", in: counted))
        #expect(!storeAtOnce(4_000, "c", in: counted), "more than the whole cache takes")
        #expect(await counted.usage().bytes < 3_000)

        let faulty = FaultyFileSystem()
        faulty.fail { operation, _ in operation == "free space" ? 1_000_000 : nil }
        counted.configuration.capacity = .megabytes(10)
        let full = try await openCache(faulty, minimumFreeSpace: ByteCount(990_000))
        #expect(storeAtOnce(10, "e", in: full))
        #expect(!storeAtOnce(20_000, "f", in: full))
    }

    @Test("what fails leaves nothing behind, and the error is told by the thread that tries again")
    func failure() async throws {
        let faulty = FaultyFileSystem()
        let cache = try await openCache(faulty)
        faulty.fail { operation, path in operation == "write" && path.contains("/data/") ? ENOSPC : nil }
        #expect(!storeAtOnce(10, "a", in: cache))
        #expect(fileCount == 1)
        let error = await #expect(throws: ImageError.self) { try await cache.put(someBytes(10), "a") }
        #expect(error?.code == .cacheWriteFailed)
        #expect(await cache.entry(forKey: "a") == nil)
    }

    @Test("it waits neither for another process nor for another thread")
    func others() async throws {
        let cache = try await openCache()
        let lock = try #require(WriteLock(path + "/write-lock"))
        #expect(lock.lock(mayWait: false))
        #expect(!storeAtOnce(10, "a", in: cache))
        #expect(fileCount == 1, "the file was written before the lock was asked for")
        lock.unlock()
        #expect(storeAtOnce(10, "a", in: cache))
        cache.store.writer.withLock { _ in
            let store = cache.store
            let entry = entry(10)
            let isStored = Lock<Bool?>(nil)
            let thread = Thread { isStored.withLock { $0 = store.storeAtOnce(entry, forKey: "b") } }
            thread.start()
            while isStored.withLock({ $0 }) == nil { usleep(100) }
            #expect(isStored.withLock { $0 } == false)
        }
    }

    @Test("rows that are due are written by a thread that may wait, and all are found")
    func pendingRows() async throws {
        let cache = try await openCache()
        var refusals = 0
        for number in 0..<2 * EntryTable.maximumPending {
            let key = ImageKey(source: "\(number)")
            if !storeAtOnce(8, key, in: cache) {
                refusals += 1
                try await cache.put(someBytes(8), key)
            }
        }
        #expect((1...2).contains(refusals))
        #expect(fileCount == 2 * EntryTable.maximumPending + 1)
        for number in 0..<2 * EntryTable.maximumPending {
            #expect(await cache.contains(ImageKey(source: "\(number)")))
        }
    }

    @Test("a cancelled task stores nothing")
    func cancellation() async throws {
        let cache = try await openCache()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await cache.put(someBytes(10), "a")
        }
        task.cancel()
        let error = await #expect(throws: ImageError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(await cache.entry(forKey: "a") == nil)
    }

    @Test("after a slow write the next ones wait elsewhere for twenty times as long")
    func pace() {
        var pace = WritePace()
        let start = ContinuousClock.now
        func after(_ milliseconds: Int) -> ContinuousClock.Instant { start.advanced(by: .milliseconds(milliseconds)) }
        #expect(pace.allowsWrite(at: start))
        pace.note(from: start, to: after(1))
        #expect(pace.allowsWrite(at: after(1)))
        pace.note(from: after(10), to: after(20))
        #expect(!pace.allowsWrite(at: after(20)))
        #expect(!pace.allowsWrite(at: after(219)))
        #expect(pace.allowsWrite(at: after(220)))
        pace.note(from: after(300), to: after(1_300))
        pace.note(from: after(1_300), to: after(1_303))
        #expect(!pace.allowsWrite(at: after(21_299)), "a shorter wait ends no longer one")
        #expect(pace.allowsWrite(at: after(21_300)))
    }
}
