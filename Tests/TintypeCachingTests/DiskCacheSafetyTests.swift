import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: what other programs do to its directory", .timeLimited)
struct DiskCacheSafetyTests: DiskCacheSuite {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    // MARK: Other users, links, and foreign files

    @Test("A directory that others may write to, or that is another user's, is only read")
    func untrustedDirectory() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<3)
        await cache.close()
        func expectReadOnly(_ words: String) async throws {
            let cache = DiskCache.temporary(path)
            #expect(await cache.entry(forKey: key(1))?.data == someBytes(20, seed: 1))
            let errors = [
                await #expect(throws: ImageError.self) { try await cache.put(someBytes(1), "x") },
                await #expect(throws: ImageError.self) { try await cache.remove("1") },
                await #expect(throws: ImageError.self) { try await cache.removeAll() },
            ]
            for error in errors {
                #expect(error?.code == .cacheUnavailable && error?.reason.contains(words) == true)
            }
            #expect(try DiskCacheTests.payloadFiles(path).count == 3)
        }
        #expect(chmod(path, 0o777) == 0)
        try await expectReadOnly("other users may write")
        #expect(chmod(path, 0o700) == 0)
        guard geteuid() == 0 else { return }
        #expect(chown(path, 12_345, 12_345) == 0)
        try await expectReadOnly("belongs to another user")
        #expect(chown(path, 0, 0) == 0)
    }

    @Test("Links in the directory are not followed, neither for reading nor for removing")
    func links() async throws {
        let outside = directory.path + "/outside"
        let precious = EntryName(key(1))
        try directory.write(Data("precious".utf8), to: "outside/\(precious.text)")
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<3)
        await cache.close()
        let folder = "\(path)/\(EntryName.folderPath(precious.folder))"
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: outside)
        try FileManager.default.createSymbolicLink(
            atPath: "\(path)/trash.\(WriterName().text)", withDestinationPath: outside)
        let second = DiskCache.temporary(path)
        #expect(await second.entry(forKey: key(1)) == nil)
        #expect(await !second.contains(key(1)))
        _ = try? await second.remove(key(1))
        _ = try? await second.put(someBytes(1), key(1))
        _ = try? await second.removeExpired()
        _ = try? await second.verify()
        _ = try? await second.removeAll()
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [precious.text])
        #expect(FileManager.default.contents(atPath: "\(outside)/\(precious.text)") == Data("precious".utf8))
    }

    @Test("A folder of entries that another program made is left alone")
    func foreignEntries() async throws {
        let name = "entries/ab/\(EntryName(key(1)).text)"
        try directory.write(Data("precious".utf8), to: "cache/\(name)")
        try directory.write(Data("x".utf8), to: "cache/entries/readme")
        let cache = DiskCache.temporary(path)
        let error = await #expect(throws: ImageError.self) { try await cache.put(someBytes(1), "a") }
        #expect(error?.code == .cacheUnavailable && error?.reason.contains("another program") == true)
        await #expect(throws: ImageError.self) { try await cache.removeAll() }
        _ = try? await cache.removeExpired()
        #expect(FileManager.default.contents(atPath: "\(path)/\(name)") == Data("precious".utf8))
    }

    /// The contents of the files of a name, wherever they are.
    private func contents(of name: String) throws -> [Data?] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.hasSuffix("/\(name)") || $0 == name }
            .map { FileManager.default.contents(atPath: "\(path)/\($0)") }
    }

    @Test("Clearing removes no file that the cache has not named")
    func foreignFiles() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<3)
        try directory.write(Data("x".utf8), to: "cache/entries/ab/notes.txt")
        try directory.write(Data("y".utf8), to: "cache/entries/readme")
        try directory.write(Data("z".utf8), to: "cache/other")
        try await cache.removeAll()
        #expect(try contents(of: "notes.txt") == [Data("x".utf8)])
        #expect(try contents(of: "readme") == [Data("y".utf8)])
        #expect(try contents(of: "other") == [Data("z".utf8)])
        #expect(await cache.usage() == CacheUsage())
    }

    @Test("An entry whose file is gone is neither contained nor has a path")
    func missingFile() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<2)
        await cache.flush()
        try FileManager.default.removeItem(atPath: try #require(await cache.path(forKey: key(0))))
        #expect(await !cache.contains(key(0)))
        #expect(await cache.path(forKey: key(0)) == nil)
        #expect(await cache.entries().map(\.key) == [key(1)])
    }

    @Test("Small images count with the blocks that they take")
    func blocks() async throws {
        let cache = DiskCache.temporary(path, capacity: .kilobytes(100))
        for number in 0..<200 { try await cache.put(someBytes(300), key(number)) }
        await cache.flush()
        let files = try DiskCacheTests.payloadFiles(path)
        #expect(files.count * 4_096 <= 100_000 && files.count >= 20)
    }

    @Test("A URL's credentials are not on disk unless the configuration keeps them, and images are found all the same")
    func credentials() async throws {
        let key: ImageKey = "https://me:hunter2@example.org/a.png?token=geheim&size=3"
        var configuration = DiskCache.Configuration(directory: path, minimumFreeSpace: 0)
        for isKept in [false, true] {
            configuration.keepsCompleteURLs = isKept
            let cache = DiskCache(configuration)
            try await cache.put(someBytes(10), key)
            await cache.close()
            let listed = try #require(await cache.entries().first?.key.source)
            #expect(listed == (isKept ? key.source : "https://example.org/a.png?token=…&size=…"))
            let secrets = ["hunter2", "geheim"].map { Data($0.utf8) }
            let isOnDisk = try FileManager.default.subpathsOfDirectory(atPath: path).contains { name in
                guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else { return false }
                return secrets.contains { data.firstRange(of: $0) != nil }
            }
            #expect(isOnDisk == isKept)
            #expect(await cache.entry(forKey: key) != nil)
            #expect(await cache.variants(ofSource: key.source) == [.original])
            #expect(await cache.entry(forKey: "https://me:hunter3@example.org/a.png?token=geheim&size=3") == nil)
        }
    }

    // MARK: Removals that can't be made

    @Test(
        "A removal that can't look says so, and never that there was nothing",
        arguments: [("look at", EIO), ("list", EIO), ("remove", EROFS), ("open directory", EMFILE)])
    func failedRemoval(operation: String, code: Int32) async throws {
        let faulty = FaultyFileSystem()
        var cache = DiskCache.temporary(path)
        try await fill(cache, 0..<5)
        await cache.close()
        cache = DiskCache.temporary(path, files: faulty)
        faulty.fail { made, _ in made == operation ? code : nil }
        if operation != "list" {
            await #expect(throws: ImageError.self) { try await cache.remove(key(1)) }
        }
        await #expect(throws: ImageError.self) { try await cache.removeAll(ofSource: "2") }
        if operation != "list", operation != "remove" {
            await #expect(throws: ImageError.self) { try await cache.removeAll() }
        }
        faulty.fail { _, _ in nil }
        #expect(await cache.contains(key(2)))
        #expect(try await cache.removeAll(ofSource: "2") == 1)
        #expect(try await !cache.remove("absent"))
    }

    @Test("Cleared entries stay away, also where their files can't be removed", .timeLimited)
    func unremovableFiles() async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, files: faulty)
        try await fill(cache, 0..<520)
        try directory.write(Data("x".utf8), to: "cache/entries/ab/notes.txt")
        faulty.fail { operation, path in operation == "remove" && path.hasPrefix("trash.") ? EROFS : nil }
        try await cache.removeAll()
        for number in 0..<520 { #expect(await cache.entry(forKey: key(number)) == nil) }
        #expect(await cache.usage() == CacheUsage())
        #expect(try contents(of: "notes.txt") == [Data("x".utf8)])
        faulty.fail { _, _ in nil }
        try await cache.put(someBytes(1), "a")
        await cache.maintain()
        #expect(try DiskCacheTests.payloadFiles(path).count == 1)
        #expect(try contents(of: "notes.txt") == [Data("x".utf8)])
    }

    @Test("A full disk, which has no room for a folder, can be cleared")
    func clearingFullDisk() async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, files: faulty)
        try await fill(cache, 0..<20)
        faulty.fail { operation, _ in operation == "create directory" ? ENOSPC : nil }
        try await cache.removeAll()
        #expect(await cache.entry(forKey: key(3)) == nil)
        #expect(try DiskCacheTests.payloadFiles(path).isEmpty)
        faulty.fail { _, _ in nil }
        #expect(await cache.usage() == CacheUsage())
    }

    @Test("Files of other users are none of the cache", .enabled(if: geteuid() == 0))
    func filesOfOthers() async throws {
        var cache = DiskCache.temporary(path)
        try await fill(cache, 0..<5)
        await cache.close()
        #expect(chown("\(path)/\(EntryName(key(1)).path)", 12_345, 12_345) == 0)
        cache = DiskCache.temporary(path)
        #expect(await cache.entry(forKey: key(1)) == nil)
        #expect(await Set(cache.entries().map(\.key)) == [key(0), key(2), key(3), key(4)])
        #expect(await cache.variants(ofSource: "1").isEmpty)
        try await fill(cache, 1..<2)
        #expect(await cache.entry(forKey: key(1)) != nil)
        #expect(await cache.usage().entries == 5)
    }

    @Test("A read renews a time in the future, which would be the first to go")
    func futureTime() async throws {
        let clock = WallClock()
        let cache = DiskCache.temporary(path, maximumAge: .days(7), clock: clock)
        try await fill(cache, 0..<1)
        clock.advance(.days(-1))
        #expect(await cache.entry(forKey: key(0)) != nil)
        await cache.flush()
        #expect(await cache.entries().map(\.accessed) == [clock.date])
    }

    @Test("A file that claims to be huge is damaged, and is not read for that")
    func hugeFile() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<1)
        let file = try #require(await cache.path(forKey: key(0)))
        #expect(truncate(file, 1 << 42) == 0)
        #expect(await cache.entry(forKey: key(0)) == nil)
        await cache.flush()
        #expect(!FileManager.default.fileExists(atPath: file))
        // An eviction may meet it first: it counts with the size that it claims.
        #expect(cache.statistics.corruptions + cache.statistics.evictions == 1)
    }

    @Test("More data beside an image than there may be is refused before anything is copied")
    func hugeExtendedData() async throws {
        let cache = DiskCache.temporary(path)
        var entry = DiskCacheEntry(data: someBytes(3), created: Date())
        entry.extendedData = Data(count: 17 << 20)
        let error = await #expect(throws: ImageError.self) { try await cache.store(entry, forKey: "a") }
        #expect(error?.code == .cacheWriteFailed && error?.reason.contains("beside the image") == true)
    }

    @Test("The time of a file may be any number")
    func anyFileTime() {
        for seconds in [Int.min, -1 << 44, 1 << 44, Int.max] {
            var status = stat()
            status.st_mtim.tv_sec = seconds
            #expect((FileStatus(status).modified > 0) == (seconds > 0))
        }
    }

    // MARK: Cancelled tasks, and caches that are released

    @Test("Removing and clearing work in a cancelled task")
    func cancelledRemoval() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<20)
        try await inCanceledTask { try await cache.remove("1") }
        try await inCanceledTask { try await cache.removeAll(ofSource: "2") }
        #expect(await cache.usage().entries == 18)
        try await inCanceledTask { try await cache.removeAll() }
        #expect(try DiskCacheTests.payloadFiles(path).isEmpty)
        #expect(await cache.usage() == CacheUsage())
    }

    @Test("A canceled task stores, sweeps, and learns what is there, also with a codec", arguments: [true, false])
    func canceledStoreAndQuestions(hasCodec: Bool) async throws {
        let codec = PayloadCodec(identifier: "same", encode: { $0 }, decode: { $0 })
        let cache = DiskCache(.init(directory: path, minimumFreeSpace: 0, payloadCodec: hasCodec ? codec : nil))
        try await inCanceledTask {
            try await cache.put(someBytes(20), "a")
            #expect(await cache.contains("a"))
            #expect(await cache.path(forKey: "a") != nil)
            #expect(await cache.variants(ofSource: "a") == [.original])
            #expect(await cache.usage().entries == 1)
            #expect(await cache.entries().count == 1)
            #expect(try await cache.removeExpired() == CacheUsage())
        }
        #expect(await cache.entry(forKey: "a")?.data == someBytes(20))
    }

    @Test("Clearing removes what a codec is at work on")
    func clearDuringEncode() async throws {
        let (isEncoding, mayEnd) = (Watched(false), Lock(false))
        let slow = PayloadCodec(identifier: "slow") { data in
            isEncoding.update { $0 = true }
            while !mayEnd.withLock({ $0 }) {}
            return data
        } decode: {
            $0
        }
        let cache = DiskCache(.init(directory: path, minimumFreeSpace: 0, payloadCodec: slow))
        let storing = Task { try await cache.put(someBytes(10), "a") }
        try await isEncoding.wait { $0 }
        try await cache.removeAll()
        mayEnd.withLock { $0 = true }
        try await storing.value
        #expect(await cache.entry(forKey: "a") == nil)
        #expect(await cache.usage().entries == 0)
    }

    // MARK: Names that are taken

    @Test("A link or a folder in the place of an entry is no entry")
    func namesOfEntries() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<31)
        func replace(_ number: Int) throws -> String {
            let file = "\(path)/\(EntryName(key(number)).path)"
            try FileManager.default.removeItem(atPath: file)
            return file
        }
        #expect(try symlink("/etc/passwd", replace(1)) == 0)
        #expect(try mkdir(replace(2), 0o700) == 0)
        #expect(try await cache.verify().damaged.isEmpty)
        #expect(await cache.usage().entries == 29)
        for number in 1...2 { #expect(await cache.entry(forKey: key(number)) == nil) }
        try await fill(cache, 1..<2)
        #expect(await cache.contains(key(1)), "a link is replaced")
        await #expect(throws: ImageError.self) { try await fill(cache, 2..<3) }
        #expect(FileManager.default.fileExists(atPath: "/etc/passwd"))
    }

    @Test("Clearing removes nothing from folders that the cache has not named")
    func foreignFolders() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<3)
        let files = ["8F", "old"].map { "entries/\($0)/\(EntryName(key(7)).text)" }
        for file in files { try directory.write(Data("x".utf8), to: "cache/\(file)") }
        try await cache.removeAll()
        #expect(try contents(of: EntryName(key(7)).text) == [Data("x".utf8), Data("x".utf8)])
        #expect(await cache.usage() == CacheUsage())
    }

    @Test("A cache whose mark was removed goes on, in the process and in the next", arguments: [true, false])
    func removedMark(isSameProcess: Bool) async throws {
        var cache = DiskCache.temporary(path)
        try await fill(cache, 0..<30)
        await cache.flush()
        try FileManager.default.removeItem(atPath: "\(path)/\(DiskStore.marker)")
        if !isSameProcess { cache = DiskCache.temporary(path) }
        // Some are in new folders.
        try await fill(cache, 30..<60)
        #expect(try await cache.remove(key(0)))
        #expect(await cache.entry(forKey: key(0)) == nil)
        #expect(await cache.usage().entries == 59)
        try await cache.removeAll()
        #expect(await cache.usage() == CacheUsage())
    }

    @Test("The folder of entries of a process that ended before it marked the folder is used")
    func unmarkedFolder() async throws {
        #expect(mkdir(path, 0o700) == 0 && mkdir(path + "/entries", 0o700) == 0)
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<3)
        #expect(FileManager.default.fileExists(atPath: "\(path)/\(DiskStore.marker)"))
        #expect(await cache.contains(key(1)))
    }

    @Test("A directory that is moved away, or replaced, is made anew by the next store", arguments: [true, false])
    func movedDirectory(isReplaced: Bool) async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<3)
        #expect(rename(path, path + ".old") == 0)
        if isReplaced { #expect(mkdir(path, 0o700) == 0) }
        try await fill(cache, 3..<4)
        #expect(try DiskCacheTests.payloadFiles(path).count == 1)
        #expect(try DiskCacheTests.payloadFiles(path + ".old").count == 3)
        #expect(await cache.usage().entries == 1 && cache.statistics.entries == 1)
    }

    @Test("A relative directory counts from the working directory at the time when the cache was made")
    func relativeDirectory() {
        let cache = DiskCache(.init(directory: "images/cache/"))
        let expected = FileManager.default.currentDirectoryPath + "/images/cache"
        #expect(cache.configuration.directory == expected && cache.store.path == expected)
        #expect(DiskCache(.init(directory: "")).configuration.directory.isEmpty)
    }
}
