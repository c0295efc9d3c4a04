import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: upkeep", .timeLimited)
struct DiskCacheUpkeepTests: DiskCacheSuite {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    private func journals() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/journal")
    }

    @Test("a program that only removes doesn't gather names without end", .timeLimited)
    func removalsAlone() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<1)
        await cache.flush()
        for number in 1..<600 { try await cache.remove(key(number)) }
        while cache.store.pending.unwritten.entries >= 512 { await Task.yield() }
        #expect(cache.store.pending.unwritten.entries < 512)
    }

    @Test("the journal of a store that failed goes with the next batch")
    func journalOfFailedStore() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<1)
        let journal = try cache.store.pending.begin(EntryName(key(7)), in: cache.store.directoryForWriting())
        // A batch of the timer may have taken the entry already, and only a batch with changes retires the journal.
        cache.store.pending.note(EntryName(key(8)))
        await cache.flush()
        cache.store.pending.end(journal)
        await cache.flush()
        #expect(cache.store.pending.isEmpty)
        #expect(try journals().isEmpty)
    }

    @Test("the use of an entry that was replaced since leaves the new one its time")
    func useBeforeReplacement() async throws {
        let clock = WallClock(Date())
        let cache = DiskCache.temporary(path, clock: clock)
        try await fill(cache, 0..<1)
        clock.advance(.seconds(100))
        #expect(await cache.entry(forKey: key(0)) != nil)
        clock.advance(.seconds(100))
        try await fill(cache, 0..<1)
        await cache.flush()
        let modified = try cache.store.directoryForWriting().status(of: EntryName(key(0))).modified
        #expect(abs(modified - clock.date.cacheTime) < 2_000_001)
    }

    @Test(
        "an index with triggers or constraints of others is made anew",
        arguments: [
            "CREATE TRIGGER t BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'no'); END",
            "CREATE TRIGGER t BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
            "CREATE VIEW v AS SELECT * FROM entries", "CREATE UNIQUE INDEX i ON entries (size)",
        ])
    func foreignSchema(statement: String) async throws {
        var cache = DiskCache.temporary(path)
        try await fill(cache, 0..<1)
        await cache.close()
        do {
            let database = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 0)
            try database.execute(statement)
        }
        cache = DiskCache.temporary(path, maximumCount: 8)
        try await fill(cache, 1..<30)
        await cache.flush()
        #expect(await cache.usage().entries == 8)
        #expect(try DiskCacheTests.payloadFiles(path).count == 8)
        #expect(!cache.store.keeper.hasFailed)
    }

    @Test("totals that are wrong but possible are counted again after some sweeps, so that the limits hold")
    func possibleTotals() async throws {
        var cache = DiskCache.temporary(path, maximumCount: 100)
        try await fill(cache, 0..<100)
        await cache.close()
        do {
            let database = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 0)
            try database.execute("UPDATE state SET entries = 0, bytes = 0")
        }
        cache = DiskCache.temporary(path, maximumCount: 100)
        try await fill(cache, 100..<190)
        for _ in 0..<66 { try await cache.removeExpired() }
        #expect(await cache.usage().entries <= 100)
        #expect(try DiskCacheTests.payloadFiles(path).count <= 100)
    }

    @Test("an entry that the disk can't read holds up no journal, and counts")
    func unreadableEntry() async throws {
        let faulty = FaultyFileSystem()
        var cache: DiskCache? = DiskCache.temporary(path)
        try await fill(try #require(cache), 0..<5)
        await cache?.close()
        try await fill(try #require(cache), 1..<5)
        cache = nil
        try await waitForRelease(ofCacheAt: path)
        let bad = EntryName(key(2)).path
        faulty.fail { operation, path in operation == "read" && path == bad ? EIO : nil }
        let next = DiskCache.temporary(path, files: faulty)
        await next.flush()
        #expect(next.store.pending.isEmpty)
        #expect(try journals().isEmpty)
        #expect(await next.usage().entries == 5)
    }

    @Test("a damaged file that was mended in its place is not removed for what it was")
    func mendedFile() async throws {
        let clock = WallClock()
        let cache = DiskCache.temporary(path, clock: clock)
        try await fill(cache, 0..<1)
        let file = try #require(await cache.path(forKey: key(0)))
        let good = try Data(contentsOf: URL(fileURLWithPath: file))
        func write(_ data: Data) throws {
            let handle = try #require(FileHandle(forWritingAtPath: file))
            try handle.write(contentsOf: data)
            try handle.close()
        }
        var damaged = good
        damaged[3] ^= 1
        try write(damaged)
        #expect(cache.store.reader.entry(forKey: key(0)) == nil)
        try write(good)
        #expect(utimes(file, nil) == 0)
        await cache.flush()
        #expect(await cache.entry(forKey: key(0)) != nil)
    }

    @Test(
        "an index that was opened while the volume was read-only is written once the volume is writable",
        .enabled(if: DiskCacheVolumeTests.mayMount), arguments: [true, false])
    func remountedVolume(isAfterRestart: Bool) async throws {
        let volume = directory.path + "/volume"
        try FileManager.default.createDirectory(atPath: volume, withIntermediateDirectories: true)
        try #require(DiskCacheVolumeTests.run("/bin/mount", "-t", "tmpfs", "-o", "size=16m", "none", volume))
        defer { DiskCacheVolumeTests.run("/bin/umount", "-l", volume) }
        let place = volume + "/cache"
        var cache = DiskCache.temporary(place)
        try await fill(cache, 0..<10)
        await cache.close()
        if isAfterRestart {
            let database = try Database(path: place + "/index.sqlite", mode: .readWrite, busyTimeout: 0)
            try database.execute("UPDATE state SET boot = 'another', closed = 0")
        }
        try #require(DiskCacheVolumeTests.run("/bin/mount", "-o", "remount,ro", volume))
        cache = DiskCache.temporary(place, maximumCount: 20)
        #expect(await cache.usage().entries == 10)
        #expect(await cache.entry(forKey: key(1)) != nil)
        await #expect(throws: ImageError.self) { try await fill(cache, 10..<11) }
        try #require(DiskCacheVolumeTests.run("/bin/mount", "-o", "remount,rw", volume))
        try await fill(cache, 10..<200)
        await cache.flush()
        #expect(await cache.usage().entries <= 20)
        #expect(try DiskCacheTests.payloadFiles(place).count <= 20)
        await cache.close()
    }

    @Test("a folder that can't be listed to its end is an error, not a shorter one")
    func brokenListing() throws {
        try directory.write(Data("x".utf8), to: "cache/a")
        let stream = try #require(opendir(path))
        defer { closedir(stream) }
        let file = open(path + "/a", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(dup2(file, dirfd(stream)) >= 0)
        let error = #expect(throws: FileError.self) { try OpenFile.names(in: stream, of: "cache") }
        #expect(error?.code == ENOTDIR)
    }

    @Test(
        "a new index gets the entries of folders that could not be listed at first",
        arguments: ["entries", EntryName(source: "3").path.split(separator: "/").dropLast().joined(separator: "/")])
    func unreadableFolder(folder: String) async throws {
        let faulty = FaultyFileSystem()
        var cache = DiskCache.temporary(path)
        try await fill(cache, 0..<20)
        await cache.close()
        try FileManager.default.removeItem(atPath: path + "/index.sqlite")
        cache = DiskCache.temporary(path, files: faulty)
        faulty.fail { operation, path in operation == "list" && path == folder ? EMFILE : nil }
        _ = await cache.usage()
        faulty.fail { _, _ in nil }
        #expect(await cache.usage().entries == 20)
    }

    @Test("records behind one that was cut are read")
    func cutRecord() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let folder = try OpenDirectory.open(path, faults: nil)
        do {
            let journal = try Journal.create(in: folder)
            try journal.append(EntryName(key(1)))
            let handle = try #require(FileHandle(forWritingAtPath: "\(path)/\(journal.path)"))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(repeating: 7, count: 16))
            try handle.close()
            try journal.append(EntryName(key(2)))
        }
        #expect(Set(Journal.dead(in: folder).flatMap { $0.names ?? [] }) == [EntryName(key(1)), EntryName(key(2))])
    }

    @Test(
        "on a volume that is too small, older entries go for new ones, also where the index can't be written",
        .enabled(if: DiskCacheVolumeTests.mayMount), arguments: ["size=600k", "size=16m,nr_inodes=100"])
    func smallVolume(options: String) async throws {
        let volume = directory.path + "/volume"
        try FileManager.default.createDirectory(atPath: volume, withIntermediateDirectories: true)
        try #require(DiskCacheVolumeTests.run("/bin/mount", "-t", "tmpfs", "-o", options, "none", volume))
        defer { DiskCacheVolumeTests.run("/bin/umount", "-l", volume) }
        let cache = DiskCache.temporary(volume + "/cache", minimumFreeSpace: 1)
        var failures = 0
        for number in 0..<400 {
            do {
                try await fill(cache, number..<number + 1)
            } catch {
                failures += 1
            }
        }
        #expect(failures < 20)
        #expect(await cache.contains(key(399)))
        #expect(await cache.usage().entries >= 10)
        try await cache.removeAll()
        try await fill(cache, 0..<3)
        #expect(await cache.usage().entries == 3)
        await cache.close()
    }
}
