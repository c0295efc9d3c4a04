import Foundation
import Glibc
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: SDWebImage's directories", .timeLimited)
struct SDWebImageTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/cache" }
    var old: String { directory.path + "/old" }

    init() throws { directory = try TemporaryDirectory() }

    private func write(_ data: Data, _ name: String, modified: Int = 1_600_000_000) throws {
        let url = URL(fileURLWithPath: old + "/" + name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(modified))], ofItemAtPath: url.path)
    }

    // MARK: Names

    @Test(
        "the digest of RFC 1321",
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

    @Test(
        "a file is named after the digest of its key, with the key's extension", .capability("CPA-02"),
        arguments: [
            ("https://example.com/a.png", "8c11d92f07c76baf29e49afd2301deb2.png"),
            ("http://via.placeholder.com/100x100.png?size=large#frag", "591e24889953d9d0f9985fda2576fa26.png"),
            ("no url: at all.jpeg", "aa4769386ea21e698a0c72af64fb5935.jpeg"),
        ])
    func fileName(key: String, expected: String) {
        #expect(SDWebImageName.fileName(forKey: key) == expected)
        #expect(SDWebImageName.legacyFileName(forKey: key) == String(expected.prefix(32)))
    }

    @Test(
        "what is the extension of a key, and what is none", .capability("CPA-02"),
        arguments: [
            ("https://example.com", ""), ("https://example.com/", ""), ("https://example.com/a", ""),
            ("https://example.com/a.", ""), ("https://example.com/.png", ""), ("https://example.com/a.b/c", ""),
            ("https://example.com/a.png/", "png"), ("https://example.com/a?b=c.png", ""),
            ("https://example.com/a.PNG?x", "PNG"), ("https://example.com/a.p%6Eg", "png"), ("a.tar.gz", "gz"),
            ("a b.p:n\u{0}g", "png"), ("x.y?z w", "y?z w"), ("", ""),
            ("https://example.com/a." + String(repeating: "e", count: 222), String(repeating: "e", count: 222)),
            ("https://example.com/a." + String(repeating: "e", count: 223), ""),
        ])
    func pathExtension(key: String, expected: String) {
        let name = SDWebImageName.fileName(forKey: key)
        #expect(name.dropFirst(32) == (expected.isEmpty ? "" : "." + expected))
        #expect(name.utf8.count <= 255)
    }

    @Test("the digest in a file name; other names have none")
    func digestOfName() {
        let digest = "8c11d92f07c76baf29e49afd2301deb2"
        for name in [digest, digest + ".png", digest + ".a.b"] {
            #expect(SDWebImageName.digest(ofFileName: name) == digest)
        }
        for name in [
            "", "a.png", String(digest.dropLast()), digest + "0", digest + ".", digest.uppercased(), ".DS_Store",
        ] {
            #expect(SDWebImageName.digest(ofFileName: name) == nil)
        }
    }

    // MARK: Search paths

    @Test("a search path is read after a miss, under names of 5.x and 3.x", .capability("CPA-06", "OLD-01", "CPA-03"))
    func searchPath() async throws {
        try write(someBytes(10), SDWebImageName.fileName(forKey: "https://example.org/a.png"))
        try write(someBytes(20), SDWebImageName.legacyFileName(forKey: "https://example.org/b.png"))
        let cache = DiskCache.temporary(path)
        cache.searchPaths = [.directory(directory.path + "/none"), .directory(old)]
        let entry = await cache.entry(forKey: "https://example.org/a.png")
        #expect(entry?.data == someBytes(10) && entry?.created == Date(timeIntervalSince1970: 1_600_000_000))
        #expect(await cache.entry(forKey: "https://example.org/b.png")?.data == someBytes(20))
        #expect(await cache.entry(forKey: "https://example.org/c.png") == nil)
        let thumbnail = ImageKey(source: "https://example.org/a.png", variant: ImageVariant(description: "fit=1x1"))
        #expect(await cache.entry(forKey: thumbnail) == nil, "originals only")
        cache.searchPaths = []
        #expect(await cache.entry(forKey: "https://example.org/a.png") == nil)
    }

    @Test(
        "a search path is never written, and neither contains nor removal look there", .capability("CPA-06", "OLD-01"))
    func searchPathIsReadOnly() async throws {
        let name = SDWebImageName.fileName(forKey: "a")
        try write(someBytes(10), name)
        let cache = DiskCache.temporary(path)
        cache.searchPaths = [.directory(old)]
        #expect(await !cache.contains("a"))
        #expect(try await !cache.remove("a"))
        #expect(try await cache.removeAll(ofSource: "a") == 0)
        try await cache.removeAll()
        try await cache.removeExpired()
        #expect(await cache.usage() == CacheUsage())
        #expect(try FileManager.default.contentsOfDirectory(atPath: old) == [name])
        try await cache.put(someBytes(30), "a")
        #expect(await cache.entry(forKey: "a")?.data == someBytes(30), "the cache comes first")
        #expect(FileManager.default.contents(atPath: old + "/" + name) == someBytes(10))
    }

    @Test("an image of a search path that adopts its files is in the cache once it was read", .capability("CPA-06"))
    func adoptingSearchPath() async throws {
        let (name, shipped) = (SDWebImageName.fileName(forKey: "a"), SDWebImageName.fileName(forKey: "b"))
        try write(someBytes(10), name)
        try write(someBytes(20), shipped)
        let cache = DiskCache.temporary(path)
        cache.searchPaths = [.directory(old, adopts: true)]
        #expect(await cache.entry(forKey: "a")?.data == someBytes(10))
        await cache.flush()
        cache.searchPaths = []
        let entry = await cache.entry(forKey: "a")
        #expect(entry?.data == someBytes(10) && entry?.created == Date(timeIntervalSince1970: 1_600_000_000))
        #expect(await cache.entry(forKey: "b") == nil, "it was not read")
        #expect(try FileManager.default.contentsOfDirectory(atPath: old).sorted() == [name, shipped].sorted())
    }

    @Test("a closure says where a key's file is; what cannot be read there is a miss", .capability("CPA-06"))
    func closure() async throws {
        try write(someBytes(10), "shipped.png")
        try write(Data(), "empty")
        try write(someBytes(2_000), "large")
        try FileManager.default.createSymbolicLink(atPath: old + "/link", withDestinationPath: old + "/shipped.png")
        mkfifo(old + "/pipe", 0o600)
        let cache = DiskCache.temporary(path, capacity: 1_000)
        cache.searchPaths = [.files { [old] key in key.source == "none" ? nil : old + "/" + key.source }]
        #expect(await cache.entry(forKey: "shipped.png")?.data == someBytes(10))
        #expect(await cache.entry(forKey: "link")?.data == someBytes(10))
        for key in ["none", "missing", "empty", "large", "pipe", "", "shipped.png/x"] {
            #expect(await cache.entry(forKey: ImageKey(source: key)) == nil, "\(key)")
        }
    }

    // MARK: Import

    private func key(_ index: Int) -> ImageKey { ImageKey(source: "https://example.org/\(index).png") }

    /// Files of 5.x, 4.x and 3.x in their folders, and some of nobody's.
    private func fillOld() throws {
        try write(
            someBytes(10, seed: 0),
            "com.hackemist.SDImageCache/default/\(SDWebImageName.fileName(forKey: key(0).source))")
        try write(
            someBytes(10, seed: 1),
            "default/com.hackemist.SDWebImageCache.default/\(SDWebImageName.fileName(forKey: key(1).source))")
        try write(
            someBytes(10, seed: 2),
            "com.hackemist.SDWebImageCache.default/\(SDWebImageName.legacyFileName(forKey: key(2).source))")
        try write(someBytes(10), "com.hackemist.SDImageCache/default/.DS_Store")
        try write(someBytes(10), "notes.txt")
        try write(Data(), "com.hackemist.SDImageCache/default/\(SDWebImageName.fileName(forKey: "empty"))")
        try FileManager.default.createSymbolicLink(
            atPath: old + "/" + SDWebImageName.fileName(forKey: "link"), withDestinationPath: old + "/notes.txt")
    }

    @Test(
        "imports directories of 3.x, 4.x and 5.x; entries are found by their keys, listed and removed",
        .capability("CPA-04"))
    func imports() async throws {
        try fillOld()
        let reader = DiskCache.temporary(path)
        #expect(await reader.entry(forKey: key(0)) == nil)
        let cache = DiskCache.temporary(path)
        let steps = Lock<[Int]>([])
        let report = try await cache.importSDWebImage(directory: old) { report in
            steps.withLock { $0.append(report.done) }
        }
        #expect(report.imported == CacheUsage(entries: 3, bytes: 30))
        #expect(report.foreign == 4 && report.done == 7 && report.total == 7 && report.existing == 0)
        #expect(steps.withLock { $0 } == [5, 6, 7])
        for index in 0..<3 {
            let entry = await cache.entry(forKey: key(index))
            #expect(entry?.data == someBytes(10, seed: UInt64(index)))
            #expect(entry?.created == Date(timeIntervalSince1970: 1_600_000_000))
            #expect(await cache.contains(key(index)))
            #expect(await cache.entries(ofSource: key(index).source).count == 1)
        }
        #expect(await cache.entry(forKey: key(9)) == nil)
        #expect(await !cache.contains(ImageKey(source: key(0).source, variant: ImageVariant(description: "fit=1x1"))))
        #expect(await DiskCache.temporary(path).entry(forKey: key(1)) != nil)
        // CPA-03 corrected: files of 3.x can be removed by key.
        #expect(try await cache.remove(key(2)))
        #expect(await cache.entry(forKey: key(2)) == nil)
        #expect(try await cache.removeAll(ofSource: key(1).source) == 1)
        #expect(await cache.usage().entries == 1)
        try await cache.removeAll()
        #expect(await cache.entry(forKey: key(0)) == nil)
        #expect(FileManager.default.fileExists(atPath: old + "/notes.txt"))
    }

    @Test("an entry that is stored takes the place of the one that was imported")
    func replaced() async throws {
        try fillOld()
        let cache = DiskCache.temporary(path)
        try await cache.importSDWebImage(directory: old)
        try await cache.put(someBytes(50), key(0))
        #expect(await cache.entry(forKey: key(0))?.data == someBytes(50))
        #expect(await cache.usage().entries == 3)
        #expect(try await cache.remove(key(0)))
        #expect(await cache.entry(forKey: key(0)) == nil)
        #expect(try DiskCacheTests.payloadFiles(path).count == 2)
    }

    @Test("an import is found by a cache that is opened later")
    func importedEarlier() async throws {
        try fillOld()
        let cache = DiskCache.temporary(path)
        try await cache.importSDWebImage(directory: old)
        await cache.flush()
        let second = DiskCache.temporary(path)
        #expect(await second.entry(forKey: key(1))?.data == someBytes(10))
        #expect(await second.contains(key(2)))
    }

    @Test("an import goes on where it was; entries that are there win; it can move the files")
    func resumes() async throws {
        try fillOld()
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, files: faulty)
        let path = path
        faulty.fail { operation, file in
            guard operation == "write", file.contains("entries/") else { return nil }
            return ((try? DiskCacheTests.payloadFiles(path)) ?? []).count >= 2 ? ENOSPC : nil
        }
        let error = await #expect(throws: ImageError.self) { try await cache.importSDWebImage(directory: old) }
        #expect(error?.code == .cacheWriteFailed)
        faulty.fail { _, _ in nil }
        let report = try await cache.importSDWebImage(directory: old + "/", removingFiles: true)
        #expect(report.imported.entries == 1 && report.existing == 2 && report.foreign == 4)
        for index in 0..<3 { #expect(await cache.entry(forKey: key(index)) != nil) }
        let left = try FileManager.default.subpathsOfDirectory(atPath: old).sorted()
        #expect(left.contains("notes.txt") && left.contains("com.hackemist.SDImageCache/default/.DS_Store"))
        #expect(!left.contains { $0.hasPrefix("com.hackemist.SDWebImageCache.default") }, "emptied directories go")
        #expect(try await cache.importSDWebImage(directory: old).imported.entries == 0)
    }

    @Test("an import that moves files leaves directories that were empty before")
    func emptyDirectories() async throws {
        try write(someBytes(10), "a/b/" + SDWebImageName.fileName(forKey: key(0).source))
        try FileManager.default.createDirectory(atPath: old + "/empty", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: old + "/a/empty", withIntermediateDirectories: true)
        let cache = DiskCache.temporary(path)
        let report = try await cache.importSDWebImage(directory: old, removingFiles: true)
        #expect(report.imported.entries == 1)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: old).sorted() == ["a", "a/empty", "empty"])
    }

    @Test("an import evicts nothing: the latest files come in as long as there is room")
    func room() async throws {
        for index in 0..<10 {
            try write(
                someBytes(1_000, seed: UInt64(index)), SDWebImageName.fileName(forKey: key(index).source),
                modified: 1_600_000_000 + index)
        }
        let cache = DiskCache.temporary(path, capacity: 32_000)
        try await cache.put(someBytes(6_000), "own")
        let report = try await cache.importSDWebImage(directory: old)
        #expect(report.imported.entries + report.withoutRoom == 10 && report.withoutRoom >= 5)
        #expect(await cache.contains("own"))
        #expect(await cache.contains(key(9)))
        #expect(await !cache.contains(key(0)))
        #expect(cache.statistics.evictions == 0)
    }

    @Test("a directory that is not there, or is a file, is an error that names it")
    func noDirectory() async throws {
        try write(someBytes(1), "file")
        for place in [old + "/none", old + "/file"] {
            let error = await #expect(throws: ImageError.self) {
                try await DiskCache.temporary(path).importSDWebImage(directory: place)
            }
            #expect(error?.code == .cacheUnavailable && error?.source == place)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("an import that is cancelled ends, and says so")
    func cancelled() async throws {
        try fillOld()
        let (path, old) = (path, old)
        let task = Task { () -> ImageError? in
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(ImageError) {
                try await DiskCache.temporary(path).importSDWebImage(directory: old)
                return nil
            } catch { return error }
        }
        #expect(await task.value?.code == .cancelled)
    }

    @Test("what SDWebImage kept in an attribute beside the image comes along", .capability("CST-09", "CDK-08"))
    func attributes() async throws {
        let name = SDWebImageName.fileName(forKey: key(0).source)
        try write(someBytes(10), name)
        let value = someBytes(300, seed: 5)
        let result = value.withUnsafeBytes {
            setAttribute(old + "/" + name, "user.com.hackemist.SDDiskCache", $0.baseAddress, $0.count)
        }
        let isSupported = result == 0
        #expect(isSupported || errno == ENOTSUP || errno == EPERM)
        let cache = DiskCache.temporary(path)
        try await cache.importSDWebImage(directory: old)
        #expect(await cache.entry(forKey: key(0))?.extendedData == (isSupported ? value : nil))
        let reader = DiskCache.temporary(directory.path + "/other")
        reader.searchPaths = [.directory(old)]
        #expect(await reader.entry(forKey: key(0))?.extendedData == (isSupported ? value : nil))
    }
}

/// `setxattr`, which the importer of Glibc leaves out.
private func setAttribute(_ path: String, _ name: String, _ value: UnsafeRawPointer?, _ count: Int) -> Int32 {
    typealias Call =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32
        ) -> Int32
    guard let symbol = dlsym(nil, "setxattr") else { return -1 }
    return unsafeBitCast(symbol, to: Call.self)(path, name, value, count, 0)
}
