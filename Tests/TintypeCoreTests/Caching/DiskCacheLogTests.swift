import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCore

@Suite("Disk cache: the log of the index", .timeLimited)
struct DiskCacheLogTests {
    let directory: TemporaryDirectory
    let clock = WallClock()
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    private func cache(logLimit: Int) -> DiskCache {
        DiskCache(
            .init(directory: path, capacity: .megabytes(100), maximumAge: nil, minimumFreeSpace: 0), logLimit: logLimit,
            now: { [clock] in clock.date })
    }

    /// The rows that are in the database itself.
    private func rowsWithoutLog() throws -> Int64 {
        let database = try Database(path: path + "/index.sqlite", mode: .immutable, busyTimeout: 0)
        return try database.integer("SELECT count(*) FROM entries") ?? 0
    }

    @Test("a log that is long enough is brought into the index while others store and read")
    func checkpoints() async throws {
        let cache = cache(logLimit: 16)
        var stored = 0
        // While a checkpoint writes, what is there may not be readable.
        while (try? rowsWithoutLog()) ?? 0 < 200 {
            for index in stored..<stored + 20 { try await cache.put(someBytes(10), ImageKey(source: "\(index)")) }
            stored += 20
            await cache.flush()
            #expect(await cache.entry(forKey: ImageKey(source: "\(stored - 1)")) != nil)
            try #require(stored < 20_000, "no checkpoint ever came")
        }
        await cache.close()
        #expect(try rowsWithoutLog() == stored)
        let reopened = self.cache(logLimit: 16)
        #expect(await reopened.usage().entries == stored)
        #expect(try await reopened.verify().damaged.isEmpty)
    }

    @Test("a log that nobody else takes care of stays bounded")
    func bounded() throws {
        let store = DiskStore(
            .init(directory: path, capacity: .megabytes(100), maximumAge: nil, minimumFreeSpace: 0),
            files: PosixFileSystem(), logLimit: 8, now: { [clock] in clock.date }, log: { _ in })
        for index in 0..<400 {
            let entry = DiskCacheEntry(data: someBytes(10), created: clock.date)
            try store.store(entry, forKey: ImageKey(source: "\(index)"))
            try store.doChores()
        }
        #expect(store.takeDueCheckpoint() && !store.takeDueCheckpoint(), "told once")
        let size = try FileManager.default.attributesOfItem(atPath: path + "/index.sqlite-wal")[.size] as? Int
        // A transaction of one row has up to six pages; 400 of them have more than a thousand.
        #expect(try #require(size) < 64 * 4_200)
        store.close()
    }

    @Test(
        "reading what the index says of itself leaves SQLite its locks, by which other processes know that the log is in use"
    )
    func locks() async throws {
        let cache = cache(logLimit: 1_000)
        try await cache.put(someBytes(10), "a")
        await cache.flush()
        // Not closed before the end, because that is what takes the locks away.
        let file = open(path + "/index.sqlite", O_RDWR | O_CLOEXEC)
        defer { close(file) }
        func isLocked() -> Bool {
            // The bytes that SQLite locks, https://sqlite.org/fileformat.html, section 1.3.
            var lock = flock()
            (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
            (lock.l_start, lock.l_len) = (0x4000_0002, 510)
            // F_OFD_GETLK, which Swift does not import: asks as somebody else would.
            return fcntl(file, 36, &lock) == 0 && lock.l_type != F_UNLCK
        }
        #expect(isLocked())
        _ = await cache.variants(ofSource: "a")
        _ = await cache.entries()
        #expect(await DiskCache.temporary(path).entry(forKey: "a") != nil, "opens the table")
        await cache.flush()
        #expect(isLocked())
        _ = try Data(contentsOf: URL(fileURLWithPath: path + "/index.sqlite"))
        #expect(!isLocked(), "so it is when anybody opens and closes the file")
        await cache.close()
    }

    @Test("a store over the limits evicts no more than is stored next, however much there is")
    func evictionMargin() throws {
        let store = DiskStore(
            .init(
                directory: path, capacity: .megabytes(100), maximumAge: nil, maximumCount: 9_600, minimumFreeSpace: 0),
            files: PosixFileSystem(), now: { [clock] in clock.date }, log: { _ in })
        let entry = DiskCacheEntry(data: Data(), created: clock.date)
        for index in 0...9_600 {
            clock.advance(.milliseconds(1))
            try store.store(entry, forKey: ImageKey(source: "\(index)"))
        }
        #expect(store.counters.withLock { $0.evictions } == EntryTable.maximumPending + 1)
        #expect(store.usage().entries == 9_600 - EntryTable.maximumPending)
        #expect(!store.contains("448") && store.contains("449"))
        store.close()
    }

    @Test("a miss where nothing was ever stored waits for no thread")
    func nothingStored() async throws {
        let faulty = FaultyFileSystem()
        // As the kernel says where it remembers that there is none.
        faulty.fail { operation, path in operation == "read" && path.hasSuffix("/data") ? ENOENT : nil }
        let (queue, gate) = (WorkQueue(label: "busy", width: 1), ThreadGate())
        let busy = Task { try await queue.perform { _ in gate.wait() } }
        while queue.load.running == 0 { await Task.yield() }
        let cache = DiskCache(.init(directory: path), queue: queue, files: faulty, now: { Date() })
        #expect(await cache.entry(forKey: "a") == nil)
        #expect(await !cache.contains("a"))
        #expect(cache.statistics.misses == 1)
        gate.open()
        try await busy.value
    }
}
