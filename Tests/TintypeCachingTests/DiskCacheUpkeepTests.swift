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

    @Test("The use of an entry that was replaced since leaves the new one its time")
    func useBeforeReplacement() async throws {
        let clock = WallClock(Date())
        let cache = DiskCache.temporary(path, clock: clock)
        try await fill(cache, 0..<1)
        clock.advance(.seconds(100))
        #expect(await cache.entry(forKey: key(0)) != nil)
        clock.advance(.seconds(100))
        try await fill(cache, 0..<1)
        await cache.flush()
        let root = try cache.store.directoryForWriting().descriptor
        let modified = try #require(FileStatus(of: EntryName(key(0)).path, in: root)).modified
        #expect(abs(modified - clock.date.cacheTime) < 2_000_001)
    }

    @Test("An entry that the disk can't read counts")
    func unreadableEntry() async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<5)
        await cache.close()
        let bad = EntryName(key(2)).path
        faulty.fail { operation, path in operation == "read" && path == bad ? EIO : nil }
        let next = DiskCache.temporary(path, files: faulty)
        #expect(await next.usage().entries == 5)
    }

    @Test(
        "An entry that a bad medium keeps from being read is removed, but not one that has replaced it",
        arguments: [true, false])
    func unreadableMedium(isReplaced: Bool) async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, files: faulty)
        try await fill(cache, 0..<1)
        let name = EntryName(key(0)).path
        let (file, other) = (path + "/" + name, directory.path + "/other")
        try FileManager.default.copyItem(atPath: file, toPath: other)
        faulty.fail { operation, path in
            guard path == name, operation == "read" || operation == "read at once" else { return nil }
            // The file is open by now.
            if operation == "read", isReplaced { rename(other, file) }
            return EIO
        }
        #expect(await cache.entry(forKey: key(0)) == nil)
        await cache.flush()
        faulty.fail { _, _ in nil }
        #expect(cache.statistics.corruptions == (isReplaced ? 0 : 1))
        #expect(await cache.entry(forKey: key(0))?.data == (isReplaced ? someBytes(20, seed: 0) : nil))
    }

    @Test("The sizes that a process was writing when it was killed are removed an hour later, and no other file is")
    func leftoverSizes() async throws {
        let clock = WallClock(Date())
        let cache = DiskCache.temporary(path, clock: clock)
        try await fill(cache, 0..<1)
        let (leftover, others) = (
            "sizes.0123456789abcdef", ["sizes.0123456789ABCDEF", "sizes.bak", "old.sizes.0123456789abcdef"]
        )
        for name in others + [leftover] { try directory.write(Data("x".utf8), to: "cache/\(name)") }
        func left() throws -> Set<String> { try Set(FileManager.default.contentsOfDirectory(atPath: path)) }
        await cache.maintain()
        #expect(try left().isSuperset(of: others + [leftover]))
        clock.advance(.hours(2))
        await cache.maintain()
        #expect(try left().isSuperset(of: others) && !left().contains(leftover))
    }

    @Test(
        "A process that stores once knows how full the cache is, with the file of the sizes or without",
        arguments: [true, false])
    func knownSizes(hasFile: Bool) async throws {
        var cache = DiskCache.temporary(path, maximumCount: 100)
        try await fill(cache, 0..<100)
        await cache.close()
        if !hasFile { try FileManager.default.removeItem(atPath: path + "/sizes") }
        cache = DiskCache.temporary(path, maximumCount: 100)
        try await fill(cache, 100..<101)
        if !hasFile { await cache.maintain() }
        #expect(try DiskCacheTests.payloadFiles(path).count == 100)
    }

    @Test("Sizes that are wrong come right, so that the limits hold")
    func wrongSizes() async throws {
        var cache = DiskCache.temporary(path, maximumCount: 100)
        try await fill(cache, 0..<100)
        await cache.close()
        try directory.write(FolderSizes().encoded, to: "cache/sizes")
        cache = DiskCache.temporary(path, maximumCount: 100)
        try await fill(cache, 100..<190)
        try await cache.removeExpired()
        #expect(try DiskCacheTests.payloadFiles(path).count == 100)
    }

    @Test("A damaged file that was mended in its place is not removed for what it was")
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
        // The removal waits for its turn until the file is whole again.
        let ticket = cache.order.begin(EntryName(key(0)))
        #expect(await cache.entry(forKey: key(0)) == nil)
        try write(good)
        #expect(utimes(file, nil) == 0)
        cache.order.end(ticket)
        await cache.flush()
        #expect(await cache.entry(forKey: key(0)) != nil)
    }

    @Test(
        "A volume that was read-only is written to once it is writable",
        .enabled(if: DiskCacheVolumeTests.mayMount))
    func remountedVolume() async throws {
        let volume = directory.path + "/volume"
        try FileManager.default.createDirectory(atPath: volume, withIntermediateDirectories: true)
        try #require(DiskCacheVolumeTests.run("/bin/mount", "-t", "tmpfs", "-o", "size=16m", "none", volume))
        defer { DiskCacheVolumeTests.run("/bin/umount", "-l", volume) }
        let place = volume + "/cache"
        var cache = DiskCache.temporary(place)
        try await fill(cache, 0..<10)
        await cache.close()
        try #require(DiskCacheVolumeTests.run("/bin/mount", "-o", "remount,ro", volume))
        cache = DiskCache.temporary(place, maximumCount: 20)
        #expect(await cache.usage().entries == 10)
        #expect(await cache.entry(forKey: key(1)) != nil)
        await #expect(throws: ImageError.self) { try await fill(cache, 10..<11) }
        try #require(DiskCacheVolumeTests.run("/bin/mount", "-o", "remount,rw", volume))
        try await fill(cache, 10..<200)
        #expect(try DiskCacheTests.payloadFiles(place).count <= 20)
        await cache.close()
    }

    @Test("A folder that can't be read is not an empty one")
    func unreadableFolder() async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, files: faulty)
        try await fill(cache, 0..<20)
        faulty.fail { operation, path in operation == "list" && path.hasPrefix("entries/") ? EACCES : nil }
        try await cache.removeExpired()
        _ = try await cache.verify()
        #expect(await cache.usage().entries == 20)
        faulty.fail { _, _ in nil }
        #expect(await cache.usage().entries == 20)
    }

    @Test("Without free descriptors no entry is taken for missing", arguments: ["look at", "read"])
    func noDescriptors(operation: String) async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, files: faulty)
        try await fill(cache, 0..<50)
        faulty.fail { made, path in made == operation && path.hasPrefix("entries/") ? EMFILE : nil }
        _ = try? await cache.removeExpired()
        await cache.flush()
        faulty.fail { _, _ in nil }
        #expect(await cache.usage().entries == 50)
    }

    @Test(
        "On a volume that is too small, older entries go for new ones",
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
