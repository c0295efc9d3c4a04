import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: volumes", .timeLimited)
struct DiskCacheVolumeTests {
    let directory: TemporaryDirectory
    let messages = Lock<[String]>([])

    private func cache(_ path: String) -> DiskCache {
        DiskCache.temporary(path, log: { [messages] message in messages.withLock { $0.append(message) } })
    }

    init() throws { directory = try TemporaryDirectory() }

    /// Runs a program of the system.
    @discardableResult
    static func run(_ program: String, _ arguments: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Whether this user may mount a small volume, which containers rarely allow.
    static let mayMount: Bool = {
        guard getuid() == 0, let folder = try? TemporaryDirectory() else { return false }
        guard run("/bin/mount", "-t", "tmpfs", "-o", "size=64k", "none", folder.path) else { return false }
        run("/bin/umount", folder.path)
        return true
    }()

    @Test("A volume that is really full", .capability("CST-08", "3.13"), .enabled(if: DiskCacheVolumeTests.mayMount))
    func fullVolume() async throws {
        let volume = directory.path + "/volume"
        try FileManager.default.createDirectory(atPath: volume, withIntermediateDirectories: true)
        try #require(Self.run("/bin/mount", "-t", "tmpfs", "-o", "size=2m", "none", volume))
        defer { Self.run("/bin/umount", "-l", volume) }
        let place = volume + "/cache"
        let cache = self.cache(place)
        var stored = 0
        var failure: ImageError?
        for index in 0..<400 {
            do {
                try await cache.put(someBytes(20_000, seed: UInt64(index)), ImageKey(source: "\(index)"))
                stored += 1
            } catch let error as ImageError {
                failure = error
                break
            }
        }
        #expect(stored > 10 && failure?.code == .cacheWriteFailed && failure?.source == place)
        #expect(failure?.reason.contains("No space left on device") == true)
        #expect(messages.withLock { $0.count } == 1)
        // All that was told to be kept is, for another cache too; what was refused is gone without a trace.
        for reader in [cache, self.cache(place)] {
            for index in 0..<stored {
                let entry = await reader.entry(forKey: ImageKey(source: "\(index)"))
                #expect(entry?.data == someBytes(20_000, seed: UInt64(index)))
            }
            #expect(await reader.entry(forKey: ImageKey(source: "\(stored)")) == nil)
        }
        // Clearing needs room for the transaction's log, and has it once anything has gone.
        try await cache.removeAll()
        try await cache.put(someBytes(20_000), "after")
        #expect(await cache.entry(forKey: "after") != nil)
        #expect(await cache.usage().entries == 1)
        await cache.close()
    }

    /// True if the system has the program that makes a volume, and knows Btrfs.
    static let hasBtrfs: Bool = {
        let systems = (try? String(contentsOfFile: "/proc/filesystems", encoding: .utf8)) ?? ""
        return mayMount && systems.contains("btrfs") && run("/sbin/mkfs.btrfs", "--version")
    }()

    @Test(
        "A copy-on-write volume that another program fills: stores fail with an error, reads and clearing go on",
        .capability("CST-08"), .enabled(if: DiskCacheVolumeTests.hasBtrfs))
    func fullCopyOnWriteVolume() async throws {
        let (image, volume) = (directory.path + "/image", directory.path + "/volume")
        try FileManager.default.createDirectory(atPath: volume, withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: image, contents: nil))
        try #require(truncate(image, 128 << 20) == 0)
        try #require(Self.run("/sbin/mkfs.btrfs", "-q", "--mixed", image))
        try #require(Self.run("/bin/mount", "-t", "btrfs", "-o", "loop", image, volume))
        defer { Self.run("/bin/umount", "-l", volume) }
        let cache = self.cache(volume + "/cache")
        for index in 0..<20 {
            try await cache.put(someBytes(20_000, seed: UInt64(index)), ImageKey(source: "\(index)"))
        }
        await cache.flush()
        let filler = open(volume + "/filler", O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](someBytes(1 << 20))
        for count in [1 << 20, 4_096, 1] { while write(filler, block, count) == count {} }
        close(filler)
        var failures = 0
        for index in 20..<200 {
            do {
                try await cache.put(someBytes(20_000, seed: UInt64(index)), ImageKey(source: "\(index)"))
            } catch let error as ImageError {
                #expect(error.code == .cacheWriteFailed)
                failures += 1
            }
        }
        await cache.flush()
        #expect(failures > 0)
        for index in 0..<20 {
            let entry = await cache.entry(forKey: ImageKey(source: "\(index)"))
            #expect(entry?.data == someBytes(20_000, seed: UInt64(index)))
        }
        try await cache.removeAll()
        #expect(await cache.entry(forKey: "3") == nil)
        unlink(volume + "/filler")
        sync()
        try await cache.put(someBytes(20_000), "after")
        #expect(await cache.entry(forKey: "after") != nil)
        #expect(await cache.usage().entries == 1)
        #expect(try await cache.verify().damaged.isEmpty)
        await cache.close()
    }
}
