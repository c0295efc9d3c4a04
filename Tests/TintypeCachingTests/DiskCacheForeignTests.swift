import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: directories and files of others", .timeLimited)
struct DiskCacheForeignTests: DiskCacheSuite {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    private func names() throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: path))
    }

    @Test(
        "in the directory of another program, nothing is made, whatever its files are called",
        arguments: ["data/ab/notes.txt", "entries/notes.txt", "entries/", "data/", "trash/notes.txt", "journal/a"])
    func foreignDirectory(file: String) async throws {
        if file.hasSuffix("/") {
            let folder = "\(path)/\(file)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } else {
            try directory.write(Data("x".utf8), to: "cache/\(file)")
        }
        let before = try names()
        let cache = DiskCache.temporary(path)
        #expect(await cache.usage() == CacheUsage())
        #expect(await cache.entry(forKey: key(1)) == nil)
        #expect(await cache.entries().isEmpty)
        #expect(await cache.variants(ofSource: "1").isEmpty)
        #expect(try await cache.verify() == CacheVerification())
        _ = try await cache.removeExpired()
        _ = try? await cache.remove(key(1))
        _ = try? await cache.removeAll(ofSource: "1")
        try? await cache.removeAll()
        await cache.close()
        #expect(try names() == before)
    }

    @Test("a cache is cleared though a file or a link has the name of its trash", arguments: [true, false])
    func trashIsTaken(isLink: Bool) async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<20)
        let other = directory.path + "/other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        if isLink {
            #expect(symlink(other, path + "/trash") == 0)
        } else {
            try directory.write(Data("x".utf8), to: "cache/trash")
        }
        #expect(mkdir("\(path)/\(EntryName(key(30)).path)", 0o700) == 0 || errno == ENOENT)
        try await cache.removeAll()
        #expect(await cache.entry(forKey: key(3)) == nil)
        #expect(try DiskCacheTests.payloadFiles(path).isEmpty)
        #expect(await cache.usage() == CacheUsage())
        #expect(try FileManager.default.contentsOfDirectory(atPath: other).isEmpty)
        var status = stat()
        #expect(lstat(path + "/trash", &status) == 0)
        try await fill(cache, 0..<3)
        #expect(await cache.usage().entries == 3)
    }

    @Test("clearing a full disk says so where it can't look")
    func clearingWithoutDescriptors() async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, files: faulty)
        try await fill(cache, 0..<20)
        faulty.fail { operation, _ in operation == "create directory" ? ENOSPC : operation == "list" ? EMFILE : nil }
        await #expect(throws: ImageError.self) { try await cache.removeAll() }
        faulty.fail { operation, _ in operation == "create directory" ? ENOSPC : nil }
        try await cache.removeAll()
        #expect(try DiskCacheTests.payloadFiles(path).isEmpty)
    }

    @Test("a file of another program that was cleared with the entries doesn't replace a later one of its name")
    func laterForeignFile() async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, files: faulty)
        try await fill(cache, 0..<3)
        try directory.write(Data("old".utf8), to: "cache/entries/ab/notes.txt")
        faulty.fail { operation, path in operation == "list" && path == "trash" ? EMFILE : nil }
        try await cache.removeAll()
        try directory.write(Data("new".utf8), to: "cache/entries/ab/notes.txt")
        faulty.fail { _, _ in nil }
        try await cache.removeAll()
        let files = try names().filter { $0.hasSuffix("notes.txt") }
        let contents = files.compactMap { FileManager.default.contents(atPath: "\(path)/\($0)") }
        #expect(Set(contents) == [Data("old".utf8), Data("new".utf8)])
    }

    @Test("an import from a folder above takes no file of a cache of Tintype, and from such a cache it is refused")
    func importOfCaches() async throws {
        let other = DiskCache.temporary(directory.path + "/caches/other")
        try await fill(other, 0..<3)
        await other.close()
        try await fill(other, 3..<6)
        let name = SDWebImageName.fileName(forKey: "https://example.org/a.png")
        try directory.write(someBytes(30), to: "caches/sd/\(name)")
        let cache = DiskCache.temporary(path)
        let report = try await cache.importSDWebImage(directory: directory.path + "/caches", removingFiles: true)
        #expect(report.imported.entries == 1 && report.total == 1)
        #expect(await other.usage().entries == 6)
        for folder in ["/cache", "/caches/other/", "/caches/other/entries"] {
            let error = await #expect(throws: ImageError.self) {
                try await cache.importSDWebImage(directory: directory.path + folder, removingFiles: true)
            }
            #expect(error?.reason.contains("cache of Tintype") == true)
        }
        #expect(await cache.usage().entries == 1)
    }

    @Test("a directory that others may write to from some time on is only read after the next flush")
    func laterPermissions() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<3)
        #expect(chmod(path, 0o777) == 0)
        await cache.flush()
        let error = await #expect(throws: ImageError.self) { try await fill(cache, 3..<4) }
        #expect(error?.reason.contains("other users may write to it") == true)
        #expect(await cache.entry(forKey: key(1)) != nil)
        #expect(chmod(path, 0o700) == 0)
        try await fill(cache, 3..<5)
        #expect(await cache.usage().entries == 5)
    }
}
