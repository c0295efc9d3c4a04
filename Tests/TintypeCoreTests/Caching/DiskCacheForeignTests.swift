import CSQLite
import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCore

@Suite("Disk cache: directories and files of others", .timeLimited)
struct DiskCacheForeignTests: DiskCacheSuite {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    private func names() throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: path))
    }

    @Test("an import from a folder above takes no file of a cache of Tintype, and from such a cache it is refused")
    func importOfCaches() async throws {
        let other = DiskCache.temporary(directory.path + "/caches/other")
        try await fill(other, 0..<3)
        await other.close()
        try await fill(other, 3..<6)
        let name = SDWebImageName.fileName(forKey: "https://example.org/a.png")
        try directory.write(someBytes(30), to: "caches/sd/\(name)")
        let journals = directory.path + "/caches/other/journal"
        let before = try FileManager.default.contentsOfDirectory(atPath: journals)
        #expect(before.count == 1)
        let cache = DiskCache.temporary(path)
        let report = try await cache.importSDWebImage(directory: directory.path + "/caches", removingFiles: true)
        #expect(report.imported.entries == 1 && report.total == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: journals) == before)
        for folder in ["/cache", "/caches/other/", "/caches/other/journal"] {
            let error = await #expect(throws: ImageError.self) {
                try await cache.importSDWebImage(directory: directory.path + folder, removingFiles: true)
            }
            #expect(error?.reason.contains("cache of Tintype") == true)
        }
        #expect(await cache.usage().entries == 1)
    }
}
