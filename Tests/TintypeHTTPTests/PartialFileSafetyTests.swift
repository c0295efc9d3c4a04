#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

#if canImport(Glibc)
import Glibc
#endif

@Suite("Safety of interrupted transfers", .timeLimited)
struct PartialFileSafetyTests {
    @Test("Files that others can write, or that have another name, are neither read nor written")
    func foreignFiles() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let files = PartialFiles(directory: folder.path, limit: 1_000_000)
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        let key = try #require(PartialBodyKey(DownloadRequest(url: url), for: LoadRequest(url: url)))
        let path = folder.path + "/\(key.digest.prefix(32)).partial"
        do {
            let file = try #require(await files.open(key, validator: "\"1\"", total: 100, continuing: nil))
            #expect(await file.append(Data(repeating: 1, count: 10)))
        }
        #expect(await files.read(key)?.bytes.count == 10)
        #expect(chmod(path, 0o666) == 0)
        #expect(await files.read(key) == nil)
        #expect(await files.open(key, validator: "\"1\"", total: 100, continuing: nil) == nil)
        #expect(chmod(path, 0o600) == 0 && link(path, path + "2") == 0)
        #expect(await files.open(key, validator: "\"1\"", total: 100, continuing: nil) == nil)
        #expect(try Data(contentsOf: URL(filePath: path)).count > 10)
    }

    @Test("Only files that the downloader has named are ever removed")
    func cleaning() async throws {
        let folder = try TemporaryDirectory()
        let digits = String(repeating: "0a", count: 16)
        let names = ["movie.partial", "\(digits)0.partial", "\(digits.uppercased()).partial", "\(digits).partial"]
        for name in names {
            let url = try folder.write(Data(count: 1_000), to: name)
            try FileManager.default.setAttributes(
                [.modificationDate: Date.distantPast, .posixPermissions: 0o600], ofItemAtPath: url.path)
        }
        let files = PartialFiles(directory: folder.path, limit: 100)
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        let key = try #require(PartialBodyKey(DownloadRequest(url: url), for: LoadRequest(url: url)))
        let file = await files.open(key, validator: "\"1\"", total: 100, continuing: nil)
        #expect(file != nil)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(left == (names.dropLast() + ["\(key.digest.prefix(32)).partial"]).sorted())
    }

    @Test(
        "The lock of a file ends with its transfer, although a process that is being started has a copy of its descriptor"
    )
    func lock() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        let copy = dup(descriptor)
        defer { close(copy) }
        try #require(flock(descriptor, LOCK_EX) == 0)
        var file: PartialFile? = PartialFile(descriptor: descriptor, path: path)
        let other = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(other) }
        #expect(flock(other, LOCK_SH | LOCK_NB) == -1)
        withExtendedLifetime(file) {}
        file = nil
        #expect(flock(other, LOCK_SH | LOCK_NB) == 0)
    }

    @Test("A file can be continued as soon as its transfer has ended, although something still refers to it")
    func finish() async throws {
        let folder = try TemporaryDirectory()
        let files = PartialFiles(directory: folder.path, limit: 1_000_000)
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        let key = try #require(PartialBodyKey(DownloadRequest(url: url), for: LoadRequest(url: url)))
        let file = try #require(await files.open(key, validator: "\"1\"", total: 100, continuing: nil))
        #expect(await file.append(Data(repeating: 1, count: 10)))
        #expect(await files.read(key) == nil)
        await file.finish(Data(repeating: 1, count: 5))
        #expect(await files.read(key)?.bytes.count == 15)
        withExtendedLifetime(file) {}
    }

    @Test("A part of another date is an error, and tags that can't be sent back are not used")
    func dates() throws {
        let beginning = ArrivingBytes()
        #expect(beginning.append(Data(repeating: 1, count: 10)))
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let partial = PartialBody(bytes: beginning, validator: date, owner: "", total: 20)
        func check(_ modified: String) throws(ImageError) {
            _ = try RangeRules.checkPart(
                HTTPFields(["Content-Range": "bytes 10-19/20", "Last-Modified": modified]), continues: partial)
        }
        #expect(throws: Never.self) { try check(date) }
        #expect(throws: ImageError.self) { try check("Sun, 06 Nov 1994 08:49:38 GMT") }
        #expect(RangeRules.strongValidator(HTTPFields(["ETag": "\"a\u{1}b\""])) == nil)
    }

    @Test("A body that is complete is not kept, because no rest of it could be requested", arguments: [10, 11, nil])
    func complete(total: Int?) async throws {
        let body = ArrivingBytes()
        #expect(body.append(Data(repeating: 1, count: 10)))
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        let key = try #require(PartialBodyKey(DownloadRequest(url: url), for: LoadRequest(url: url)))
        let partials = PartialDownloads.memory
        partials.put(PartialBody(bytes: body, validator: "\"1\"", owner: "", total: total), for: key)
        #expect((await partials.take(key) == nil) == (total == 10))
    }

    @Test("Requests with other methods, conditions, or ranges of their own are left alone")
    func others() {
        let url = URL(filePath: "/")
        let plain = LoadRequest(url: url)
        #expect(PartialBodyKey(DownloadRequest(url: url), for: plain) != nil)
        #expect(PartialBodyKey(DownloadRequest(url: url, method: "POST"), for: plain) == nil)
        #expect(PartialBodyKey(DownloadRequest(url: url, body: Data()), for: plain) == nil)
        #expect(PartialBodyKey(DownloadRequest(url: url, headers: ["range": "bytes=0-1"]), for: plain) == nil)
        let conditional = LoadRequest(url: url, validators: CacheValidators(entityTag: "\"1\""))
        #expect(PartialBodyKey(DownloadRequest(url: url), for: conditional) == nil)
    }
}

extension PartialFiles {
    fileprivate func open(
        _ key: PartialBodyKey, validator: String, total: Int?, continuing partial: PartialBody?
    ) async -> PartialFile? {
        let owner = PartialBody.owner(key.url)
        return await open(
            key, Head(validator: validator, owner: owner, total: total, digest: key.digest), continuing: partial)
    }
}
#endif
