import Foundation
import Glibc
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: search paths", .timeLimited)
struct DiskCacheSearchPathTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/cache" }
    var old: String { directory.path + "/old" }

    init() throws { directory = try TemporaryDirectory() }

    private func write(_ data: Data, _ name: String) throws { try directory.write(data, to: "old/\(name)") }

    @Test(
        "The digest of RFC 1321",
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"
            ),
            (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
        ])
    func digest(message: String, expected: String) { #expect(MD5.hexadecimal(message.utf8) == expected) }

    @Test("The directory of another disk cache is read after a miss", .capability("CPA-06", "OLD-01"))
    func directoryOfAnother() async throws {
        let other = DiskCache.temporary(old)
        try await other.put(someBytes(10), "a")
        try await other.put(someBytes(20), "damaged")
        await other.close()
        let file = try #require(await other.path(forKey: "damaged"))
        try Data(count: 30).write(to: URL(filePath: file))
        let cache = DiskCache.temporary(path)
        cache.searchPaths = [old + "\0/none"]
        #expect(await cache.entry(forKey: "a") == nil)
        cache.searchPaths = [directory.path + "/none", old]
        #expect(await cache.entry(forKey: "a")?.data == someBytes(10))
        #expect(await cache.entry(forKey: "b") == nil)
        #expect(await cache.entry(forKey: "damaged") == nil)
        #expect(FileManager.default.fileExists(atPath: file), "it isn't this cache's to remove")
        cache.searchPaths = []
        #expect(await cache.entry(forKey: "a") == nil)
    }

    @Test(
        "An entry that ended isn't found in a search path, but one of any age is; statistics count both",
        .capability("CPA-06", "3.13"))
    func endedEntry() async throws {
        let clock = WallClock()
        let other = DiskCache.temporary(old, clock: clock)
        var entry = DiskCacheEntry(data: someBytes(10), created: clock.date)
        try await other.store(entry, forKey: "old")
        entry.expires = clock.date + 50
        try await other.store(entry, forKey: "ended")
        await other.close()
        let cache = DiskCache.temporary(path, maximumAge: .seconds(10), clock: clock)
        cache.searchPaths = [old]
        clock.advance(.seconds(49))
        #expect(await cache.entry(forKey: "ended") != nil)
        clock.advance(.seconds(1))
        #expect(await cache.entry(forKey: "ended") == nil)
        #expect(await cache.entry(forKey: "old") != nil)
        #expect(cache.statistics.hits == 2 && cache.statistics.misses == 1)
    }

    @Test("A search path is read with the codec that wrote it, and with no other", .capability("CPA-06", "3.18"))
    func codec() async throws {
        func makeCache(_ path: String, _ identifier: String?) -> DiskCache {
            let codec = identifier.map { identifier in
                PayloadCodec(
                    identifier: identifier, encode: { Data($0.map { ~$0 }) }, decode: { Data($0.map { ~$0 }) })
            }
            return DiskCache(.init(directory: path, minimumFreeSpace: 0, payloadCodec: codec))
        }
        let codecs = ["one", "other", nil]
        for writer in codecs {
            let place = "\(old)-\(writer ?? "")"
            let shipped = makeCache(place, writer)
            try await shipped.put(someBytes(10), "a")
            await shipped.close()
            for reader in codecs {
                let cache = makeCache(path, reader)
                cache.searchPaths = [place]
                #expect(await cache.entry(forKey: "a")?.data == (reader == writer ? someBytes(10) : nil))
            }
        }
    }

    @Test("A search path that is set again is that of the directory which is there now", .capability("CPA-06"))
    func replacedDirectory() async throws {
        let cache = DiskCache.temporary(path)
        for bytes in [10, 20] {
            try? FileManager.default.removeItem(atPath: old)
            let other = DiskCache.temporary(old)
            try await other.put(someBytes(bytes), "a")
            await other.close()
            cache.searchPaths = [old]
            #expect(await cache.entry(forKey: "a")?.data == someBytes(bytes))
        }
    }

    @Test("A search path on a disk that hangs holds up the lookup that opens it, and no caller", .capability("CPA-06"))
    func hangingSearchPath() async throws {
        let (files, answer) = (FaultyFileSystem(), BlockingSignal())
        let (openings, opening) = AsyncStream.makeStream(of: Void.self)
        files.fail { [old] operation, path in
            guard operation == "open directory", path == old else { return nil }
            opening.yield()
            while answer.wait(milliseconds: 60_000) == nil {}
            return EIO
        }
        let cache = DiskCache.temporary(path, files: files)
        cache.searchPaths = [old]
        let lookup = Task.detached { await cache.entry(forKey: "a") }
        for await _ in openings { break }
        #expect(cache.searchPaths == [old])
        cache.searchPaths = []
        answer.send(true)
        #expect(await lookup.value == nil)
    }

    @Test(
        "A search path is never written, and neither contains nor removal look there", .capability("CPA-06", "OLD-01"))
    func searchPathIsReadOnly() async throws {
        let other = DiskCache.temporary(old)
        try await other.put(someBytes(10), "a")
        await other.close()
        let file = try #require(await other.path(forKey: "a"))
        let early = Date(timeIntervalSince1970: 1_600_000_000)
        try FileManager.default.setAttributes([.modificationDate: early], ofItemAtPath: file)
        let cache = DiskCache.temporary(path)
        cache.searchPaths = [old]
        #expect(await cache.entry(forKey: "a")?.data == someBytes(10))
        #expect(await !cache.contains("a"))
        #expect(try await !cache.remove("a"))
        #expect(try await cache.removeAll(ofSource: "a") == 0)
        try await cache.removeAll()
        try await cache.removeExpired()
        #expect(await cache.usage() == CacheUsage())
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.modificationDate] as? Date == early, "a use isn't noted there")
        try await cache.put(someBytes(30), "a")
        #expect(await cache.entry(forKey: "a")?.data == someBytes(30), "the cache comes first")
    }

    @Test("A closure says where a key's file is; what cannot be read there is a miss", .capability("CPA-06"))
    func closure() async throws {
        try write(someBytes(10), "shipped.png")
        try write(Data(), "empty")
        try write(someBytes(2_000), "large")
        try FileManager.default.createSymbolicLink(atPath: old + "/link", withDestinationPath: old + "/shipped.png")
        mkfifo(old + "/pipe", 0o600)
        let cache = DiskCache.temporary(path, capacity: 1_000)
        cache.searchFile = { [old] key in key.source == "none" ? nil : old + "/" + key.source }
        #expect(await cache.entry(forKey: "shipped.png")?.data == someBytes(10))
        #expect(await cache.entry(forKey: "link")?.data == someBytes(10))
        for key in ["none", "missing", "empty", "large", "pipe", "", "shipped.png/x", "shipped.png\0x"] {
            #expect(await cache.entry(forKey: ImageKey(source: key)) == nil, "\(key)")
        }
    }

    @Test(
        "Search paths that are set again lead to the directories of now, also for lookups at the same time",
        .capability("CPA-06"))
    func replacedSearchPath() async throws {
        let cache = DiskCache.temporary(path)
        for round in 0..<20 {
            let lookups = (0..<4).map { number in
                Task.detached {
                    for index in 0..<200 { _ = await cache.entry(forKey: ImageKey(source: "\(number) \(index)")) }
                }
            }
            let key = ImageKey(source: "\(round)")
            if round > 0 { try FileManager.default.moveItem(atPath: old, toPath: "\(old)-\(round)") }
            let shipped = DiskCache.temporary(old)
            try await shipped.put(someBytes(10), key)
            await shipped.close()
            cache.searchPaths = [old]
            for lookup in lookups { await lookup.value }
            #expect(await cache.entry(forKey: key) != nil)
        }
    }
}
