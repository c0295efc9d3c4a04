#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

@Suite("Interrupted downloads in files", .timeLimited, .timeLimit(.minutes(1)))
struct PartialFileTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private var path: String { folder.path + "/partial" }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path) }

    private func downloader() -> ImageDownloader { ImageDownloader(.init(partialDownloads: .directory(path))) }

    @Test("A new downloader continues with the file of another, and removes it at the end", .capability("3.11"))
    func newDownloader() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000, 500])
        _ = try await failure(downloader(), LoadRequest(url: origin.url))
        #expect(try names().count == 1)
        _ = try await failure(downloader(), LoadRequest(url: origin.url))
        #expect(try await downloader().load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, "bytes=1000-", "bytes=1500-"])
        #expect(try names().isEmpty)
    }

    @Test("A damaged file is not used")
    func damage() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        _ = try await failure(downloader(), LoadRequest(url: origin.url))
        let name = try #require(try names().first)
        let file = URL(filePath: path + "/" + name)
        let whole = try Data(contentsOf: file)
        let key = try #require(
            PartialBodyKey(
                DownloadRequest(url: origin.url, headers: HTTPFields(ImageDownloader.Configuration.defaultHeaders)),
                for: LoadRequest(url: origin.url)))
        func parsed(_ data: Data) async throws -> PartialBody? {
            try data.write(to: file)
            return await PartialDownloads.directory(path).take(key)
        }
        #expect(try await parsed(whole)?.bytes.data == bytes.prefix(1_000))
        for count in 0..<whole.count { #expect(try await parsed(whole.prefix(count)) == nil, "\(count)") }
        for index in 0..<whole.count {
            var changed = whole
            changed[index] ^= 0x01 << (index % 8)
            #expect(try await parsed(changed) == nil, "\(index)")
        }
        try Data("nonsense".utf8).write(to: file)
        #expect(try await downloader().load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, nil])
    }

    @Test("A file whose last bytes are damaged continues with those before them")
    func damagedEnd() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000, 500, 200])
        for _ in 1...2 { _ = try await failure(downloader(), LoadRequest(url: origin.url)) }
        let name = try #require(try names().first)
        let file = URL(filePath: path + "/" + name)
        var data = try Data(contentsOf: file)
        data[data.count - 100] ^= 0x10
        try (data + Data([1, 2, 3])).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        // The second piece is requested again, and replaces the damaged one in the file.
        _ = try await failure(downloader(), LoadRequest(url: origin.url))
        #expect(try await downloader().load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, "bytes=1000-", "bytes=1000-", "bytes=1200-"])
        #expect(try names().isEmpty)
    }

    @Test("A file has no secrets of the request's URL and header fields")
    func secrets() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        let url = try #require(URL(string: origin.url.absoluteString + "?signature=s3cret"))
        let request = LoadRequest(url: url, headers: ["Authorization": "Bearer s3cret", "X-Token": "s3cret"])
        _ = try await failure(downloader(), request)
        let name = try #require(try names().first)
        let file = try Data(contentsOf: URL(filePath: path + "/" + name))
        #expect(file.range(of: Data("s3cret".utf8)) == nil && file.range(of: Data("\"v1\"".utf8)) != nil)
        #expect(try await downloader().load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, nil])
    }

    @Test("A transfer that was cancelled or timed out is in the file, too")
    func cancelled() async throws {
        let server = try await OriginServer.start { _ in
            OriginResponse(bytes, headers: ["ETag": "\"1\""]).silence(after: 100)
        }
        let reports = Reports()
        let request = reports.request(server.url("/a"))
        let downloader = downloader()
        let task = Task { try await failure(downloader, request) }
        try await reports.waitForBytes(100)
        task.cancel()
        _ = try await task.value
        let key = try #require(
            PartialBodyKey(
                DownloadRequest(url: request.url, headers: HTTPFields(ImageDownloader.Configuration.defaultHeaders)),
                for: request))
        #expect(await PartialDownloads.directory(path).take(key)?.bytes.data == bytes.prefix(100))
    }

    @Test("A directory that can't be used doesn't stop transfers")
    func unusable() async throws {
        let origin = try await RangeServer(bytes)
        let downloader = ImageDownloader(.init(partialDownloads: .directory("/dev/null/x")))
        #expect(try await downloader.load(LoadRequest(url: origin.url)).data == bytes)
    }

    @Test("Two transfers of the same URL at once both succeed")
    func concurrent() async throws {
        let origin = try await RangeServer(bytes)
        let (first, second) = (downloader(), downloader())
        let url = origin.url
        async let one = first.load(LoadRequest(url: url))
        async let two = second.load(LoadRequest(url: url))
        #expect(try await one.data == bytes)
        #expect(try await two.data == bytes)
        #expect(try names().isEmpty)
    }
}
#endif
