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
        "In the directory of another program, nothing is made, whatever its files are called",
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
        do throws(ImageError) {
            #expect(try await cache.verify().checked == CacheUsage())
        } catch {
            #expect(error.code == .cacheUnavailable)
        }
        _ = try? await cache.removeExpired()
        _ = try? await cache.remove(key(1))
        _ = try? await cache.removeAll(ofSource: "1")
        try? await cache.removeAll()
        await cache.close()
        #expect(try names() == before)
    }

    @Test("A directory that others may write to from some time on is only read after the next flush")
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
