import Foundation
import TestSupport
import Testing

import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: damage and failures", .timeLimited)
struct DiskCacheFailureTests {
    let directory: TemporaryDirectory
    let messages = Lock<[String]>([])
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    private func cache(
        _ path: String? = nil, clock: WallClock = WallClock(), files: FaultyFileSystem? = nil,
        minimumFreeSpace: ByteCount = 0
    ) -> DiskCache {
        DiskCache.temporary(
            path ?? self.path, minimumFreeSpace: minimumFreeSpace, clock: clock, files: files,
            log: { [messages] message in messages.withLock { $0.append(message) } })
    }

    private func files() throws -> [String] { try DiskCacheTests.payloadFiles(path) }

    private func change(_ path: String, _ body: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        body(&data)
        try data.write(to: URL(fileURLWithPath: path))
    }

    // MARK: Damaged entries

    enum Damage: CaseIterable { case flippedBit, truncated, emptied, grown, missing }
    @Test("An entry that was damaged is noticed, counted, and dropped", .capability("3.8"), arguments: Damage.allCases)
    func damagedEntry(damage: Damage) async throws {
        let cache = cache()
        try await cache.put(someBytes(10_000), "bad")
        let file = try #require(try files().first)
        try await cache.put(someBytes(10, seed: 2), "good")
        switch damage {
        case .flippedBit: try change(file) { $0[7_777] ^= 4 }
        case .truncated: try change(file) { $0.removeLast(100) }
        case .emptied: try change(file) { $0 = Data() }
        case .grown: try change(file) { $0.append(0) }
        case .missing: try FileManager.default.removeItem(atPath: file)
        }
        #expect(await cache.entry(forKey: "bad") == nil)
        await cache.flush()
        #expect(cache.statistics.corruptions == (damage == .missing ? 0 : 1), "what is gone is not damaged")
        #expect(await cache.usage().entries == 1)
        #expect(try files().count == 1)
        #expect(await cache.entry(forKey: "good")?.data == someBytes(10, seed: 2))
        try await cache.put(someBytes(10_000), "bad")
        #expect(await cache.entry(forKey: "bad")?.data == someBytes(10_000))
    }

    @Test("A check of the whole cache finds and drops what is damaged")
    func verification() async throws {
        let cache = cache()
        for index in 0..<10 { try await cache.put(someBytes(100), ImageKey(source: "\(index)")) }
        let file = try #require(await cache.path(forKey: "4"))
        try change(file) { $0[3] ^= 1 }
        let report = try await cache.verify()
        #expect(report.checked.entries == 10 && report.damaged == ["4"])
        #expect(await cache.usage().entries == 9)
        #expect(try await cache.verify().damaged.isEmpty)
    }

    // MARK: Directories that are none

    @Test("A path below a file: reads find nothing, writes say why, one message is logged")
    func directoryIsFile() async throws {
        let file = directory.path + "/file"
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        for path in [file, file + "/below"] {
            let cache = cache(path)
            for _ in 0..<2 {
                let error = await #expect(throws: ImageError.self) { try await cache.put(someBytes(1), "a") }
                #expect(error?.code == .cacheUnavailable)
                #expect(error?.description.contains(file) == true && error?.reason.contains("Not a directory") == true)
            }
            #expect(await cache.entry(forKey: "a") == nil)
            #expect(messages.withLock { $0.count } == 1)
            #expect(await cache.usage() == CacheUsage())
            #expect(messages.withLock { $0.contains { $0.contains(path) && $0.contains("Not a directory") } })
            messages.withLock { $0 = [] }
        }
    }

    @Test("A directory that nothing can be written to: typed errors with the system's words")
    func readOnlyDirectory() async throws {
        let faulty = FaultyFileSystem()
        let cache = cache(files: faulty)
        faulty.fail { operation, _ in operation == "create directory" ? EROFS : nil }
        let error = await #expect(throws: ImageError.self) { try await cache.put(someBytes(1), "a") }
        #expect(error?.code == .cacheUnavailable && error?.reason.contains("Read-only file system") == true)
        #expect(await cache.entry(forKey: "a") == nil)
        // It is tried again, so that a cache comes back without a restart.
        faulty.fail { _, _ in nil }
        try await cache.put(someBytes(1), "a")
        #expect(await cache.contains("a"))
    }

    @Test(
        "A full disk: the write fails with the path, what was there stays, nothing is left over",
        .capability("CST-08", "3.13"))
    func fullDisk() async throws {
        let faulty = FaultyFileSystem()
        let cache = cache(files: faulty)
        try await cache.put(someBytes(10), "a")
        faulty.fail { operation, _ in operation == "write" ? ENOSPC : nil }
        for key in ["a", "b"] as [ImageKey] {
            let error = await #expect(throws: ImageError.self) { try await cache.put(someBytes(10, seed: 2), key) }
            #expect(
                error?.code == .cacheWriteFailed && error?.source == path
                    && error?.reason.contains("cannot write") == true)
            #expect(error?.reason.contains("No space left on device") == true)
        }
        #expect(messages.withLock { $0.count } == 1)
        #expect(await cache.entry(forKey: "a")?.data == someBytes(10))
        #expect(try files().count == 1)
    }

    @Test("Free space is kept: old entries go for new ones, and without any the write is refused", .capability("3.13"))
    func freeSpace() async throws {
        let faulty = FaultyFileSystem()
        let cache = cache(files: faulty, minimumFreeSpace: 5_000)
        let path = path
        faulty.fail { operation, _ in
            guard operation == "free space" else { return nil }
            let used = (try? DiskCacheTests.payloadFiles(path))?.count ?? 0
            return Int32(10_000 - 1_000 * used)
        }
        for index in 0..<8 { try await cache.put(someBytes(900), ImageKey(source: "\(index)")) }
        #expect(await cache.usage().entries <= 5)
        #expect(await cache.contains(ImageKey(source: "7")))
        faulty.fail { operation, _ in operation == "free space" ? 100 : nil }
        let error = await #expect(throws: ImageError.self) { try await cache.put(someBytes(10), "x") }
        #expect(error?.code == .cacheWriteFailed && error?.reason.contains("must stay free") == true)
    }

    @Test("A medium with errors: reads are misses")
    func badMedium() async throws {
        let faulty = FaultyFileSystem()
        let cache = cache(files: faulty)
        try await cache.put(someBytes(10), "a")
        faulty.fail { operation, _ in operation.hasPrefix("read") ? EMFILE : nil }
        #expect(await cache.entry(forKey: "a") == nil)
        faulty.fail { _, _ in nil }
        #expect(await cache.entry(forKey: "a") != nil, "too many open files is no damage")
    }

    @Test("A directory that is deleted under the cache is made anew")
    func deletedDirectory() async throws {
        let cache = cache()
        try await cache.put(someBytes(10), "a")
        #expect(await cache.entry(forKey: "a") != nil)
        // The cache may be looking after its files just now, which can make a removal fail half-way.
        while FileManager.default.fileExists(atPath: path) { try? FileManager.default.removeItem(atPath: path) }
        #expect(await cache.entry(forKey: "a") == nil)
        try await cache.put(someBytes(10), "b")
        #expect(await cache.entry(forKey: "b") != nil)
        #expect(await cache.usage().entries == 1)
        #expect(await self.cache().entry(forKey: "b") != nil)
    }

    @Test("A store succeeds, whatever it is doing while the directory is removed")
    func directoryDeletedDuringStore() throws {
        let entry = DiskCacheEntry(data: someBytes(10), created: Date(timeIntervalSince1970: 1))
        var (moment, wasDeleted) = (0, true)
        while wasDeleted {
            let (place, calls) = ("\(directory.path)/\(moment)", Lock(0))
            // Before each call to the system in turn.
            let store = DiskStore(
                .init(directory: place, minimumFreeSpace: 0),
                faults: { [moment] _, _ in
                    let number = calls.withLock { count in
                        count += 1
                        return count
                    }
                    if number == moment { try? FileManager.default.removeItem(atPath: place) }
                    return nil
                },
                now: { Date() }, log: { _ in })
            try store.store(entry, forKey: "a")
            wasDeleted = calls.withLock { $0 } >= moment
            moment += 1
        }
        #expect(moment > 10)
    }

    @Test("A process that only reads finds a directory that others made anew within a second")
    func replacedDirectory() async throws {
        let clock = WallClock()
        let (reader, writer) = (cache(clock: clock), cache())
        try await writer.put(someBytes(10), "a")
        await writer.close()
        #expect(await reader.entry(forKey: "a") != nil)
        #expect(await reader.entry(forKey: "b") == nil)
        try FileManager.default.removeItem(atPath: path)
        #expect(await reader.entry(forKey: "a") == nil)
        try await writer.put(someBytes(10), "b")
        clock.advance(.seconds(1))
        #expect(await reader.entry(forKey: "b") != nil)
        #expect(await reader.entry(forKey: "a") == nil)
    }

    @Test("The path of an entry is the one that earlier versions gave it")
    func pathOfEntry() {
        let name = EntryName(source: 0xABCD_EF01_2345_6789_0011_2233_4455_6677, variant: 0x10)
        #expect(name.path == "entries/ab/abcdef01234567890011223344556677-0000000000000010")
        #expect(name.text == "abcdef01234567890011223344556677-0000000000000010")
    }

    // MARK: Leftovers

    @Test("Files that a crash left behind go once they are old enough, and no others")
    func orphans() async throws {
        let clock = WallClock(Date())
        let cache = cache(clock: clock)
        try await cache.put(someBytes(10), "a")
        await cache.maintain()
        let writer = WriterName()
        for folder in 0..<256 {
            let place = path + "/" + EntryName.folderPath(folder)
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            let name = EntryName(source: UInt128(folder) << 120 | 1, variant: 0)
            let unfinished = name.unfinishedPath(writer)
            try Data().write(to: URL(fileURLWithPath: "\(path)/\(unfinished)"))
            try Data("x".utf8).write(to: URL(fileURLWithPath: place + "/foreign"))
        }
        func files() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: path + "/entries").filter { $0.contains("/") }
        }
        try await cache.removeExpired()
        #expect(try files().count == 513, "somebody may be writing them")
        // More than a slow machine needs from the clock's start to the files.
        clock.advance(.minutes(120))
        try await cache.removeExpired()
        #expect(try files().count { $0.hasSuffix("/foreign") } == 256, "files of other programs stay")
        #expect(try files().count == 257)
        #expect(await cache.entry(forKey: "a") != nil)
    }

    @Test("What a crash left of clearing is removed by the next one who stores")
    func trash() async throws {
        let first = cache()
        try await first.put(someBytes(1), "a")
        await first.close()
        let trash = "\(path)/trash.\(WriterName().text)"
        try FileManager.default.moveItem(atPath: path + "/entries", toPath: trash)
        let cache = cache()
        #expect(await cache.entry(forKey: "a") == nil)
        try await cache.put(someBytes(1), "b")
        await cache.maintain()
        #expect(!FileManager.default.fileExists(atPath: trash))
        #expect(await cache.entry(forKey: "b") != nil)
    }

    @Test("The description of an entry with any byte flipped, or cut anywhere, is not believed")
    func hostileTrailers() throws {
        let entry = DiskCacheEntry(
            data: someBytes(20), created: Date(timeIntervalSince1970: 1), mimeType: "image/png",
            extendedData: Data([1, 2]))
        let key = ImageKey(source: "https://example.org/", variant: ImageVariant(description: "fit=1x1"))
        let file = entry.data + EntryFile.trailer(for: entry, key: key, stored: 1)
        func read(_ file: Data) -> ImageKey? {
            guard case .entry(let found) = file.withUnsafeBytes({ EntryFile.contents($0, key: key) }) else {
                return nil
            }
            return found.key
        }
        #expect(read(file) == key)
        for offset in 0..<file.count {
            var changed = file
            changed[offset] ^= 0x10
            #expect(read(changed) == nil, "byte \(offset)")
        }
        for count in 0..<file.count { #expect(read(file.prefix(count)) == nil) }
    }

    @Test("An entry of a newer version is a miss, and stays until it is replaced")
    func newerEntry() async throws {
        let cache = cache()
        try await cache.put(someBytes(10), "a")
        let file = try #require(try files().first)
        try change(file) { $0[$0.count - 12] = 9 }
        #expect(await cache.entry(forKey: "a") == nil)
        await cache.flush()
        #expect(try files() == [file] && cache.statistics.corruptions == 0)
        try await cache.put(someBytes(20), "a")
        #expect(await cache.entry(forKey: "a")?.data == someBytes(20))
    }

    @Test("The default directory follows the XDG specification, and has the name of the program", .capability("CPA-01"))
    func defaultDirectory() {
        func directory(_ environment: [String: String], of program: String = "/usr/bin/gallery") -> String {
            DiskCache.Configuration.directory(of: program, environment: { environment[$0] })
        }
        #expect(directory(["XDG_CACHE_HOME": "/x", "HOME": "/home/me"]) == "/x/gallery/tintype")
        #expect(directory(["XDG_CACHE_HOME": "relative", "HOME": "/home/me"]) == "/home/me/.cache/gallery/tintype")
        #expect(directory(["HOME": "/home/me"]) == "/home/me/.cache/gallery/tintype")
        for program in ["", "/", "..", "/usr/bin/."] {
            #expect(directory(["HOME": "/home/me"], of: program) == "/home/me/.cache/tintype")
        }
        #expect(directory([:]) == "", "no name that anybody else could make first")
        #expect(
            DiskCache.Configuration.directory(of: "server", environment: { _ in nil }, home: { "/srv/me" })
                == "/srv/me/.cache/server/tintype")
    }
}
