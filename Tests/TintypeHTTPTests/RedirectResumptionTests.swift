#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// Two files of equal size and equal validator, and a redirect that leads to the first, and later to the second.
private final class MovingServer: Sendable {
    static let files = ["/1": bytes, "/2": Data(bytes.map { ~$0 })]
    let target = Watched("/1")
    let cuts = Watched([1_000])
    let server: OriginServer

    init() async throws {
        let (target, cuts) = (target, cuts)
        server = try await OriginServer.start { request in
            guard let file = Self.files[request.path] else { return .redirect(to: target.value) }
            let fields = ["ETag": "\"same\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
            var response = OriginResponse(file, headers: fields)
            if let range = request.header("Range"), let first = Int(range.dropFirst(6).dropLast()) {
                response = OriginResponse(file.dropFirst(first), status: 206, headers: fields)
                    .header("Content-Range", "bytes \(first)-\(file.count - 1)/\(file.count)")
            }
            let cut = cuts.update { $0.isEmpty ? nil : $0.removeFirst() }
            return cut.map { response.close(after: $0) } ?? response
        }
    }

    var request: LoadRequest { LoadRequest(url: server.url("/latest")) }
    var ranges: [String] {
        server.requests.map { "\($0.path) \($0.header("Range") ?? "-") \($0.header("If-Range") ?? "-")" }
    }
}

@Suite("Interrupted downloads after redirects", .timeLimited)
struct RedirectResumptionTests {
    @Test("A transfer is continued at the URL that sent its beginning, which alone is asked for a part")
    func continues() async throws {
        let origin = try await MovingServer()
        let partials = PartialDownloads()
        #expect(try await failure(.init(.continuing(partials)), origin.request).code == .incompleteBody)
        let loaded = try await ImageDownloader(.continuing(partials)).load(origin.request)
        #expect(loaded.data == bytes && loaded.statusCode == 200)
        #expect(
            origin.ranges == ["/latest - -", "/1 - -", "/latest - -", "/1 bytes=1000- \"same\""])
    }

    @Test(
        "Parts of two URLs are never joined, even if their sizes and validators are equal", .capability("3.11"))
    func changes() async throws {
        let origin = try await MovingServer()
        let partials = PartialDownloads()
        #expect(try await failure(.init(.continuing(partials)), origin.request).code == .incompleteBody)
        origin.target.update { $0 = "/2" }
        let loaded = try await ImageDownloader(.continuing(partials)).load(origin.request)
        #expect(loaded.data == MovingServer.files["/2"])
        #expect(origin.ranges == ["/latest - -", "/1 - -", "/latest - -", "/2 - -"])
    }

    @Test("The second URL's own beginning is continued")
    func changesTwice() async throws {
        let origin = try await MovingServer()
        origin.cuts.update { $0 = [1_000, 2_000] }
        let partials = PartialDownloads()
        let downloader = ImageDownloader(.continuing(partials))
        #expect(try await failure(downloader, origin.request).code == .incompleteBody)
        origin.target.update { $0 = "/2" }
        #expect(try await failure(downloader, origin.request).code == .incompleteBody)
        #expect(try await downloader.load(origin.request).data == MovingServer.files["/2"])
        #expect(origin.ranges.last == "/2 bytes=2000- \"same\"")
    }

    @Test("A beginning of the redirect's own URL is not continued at its target")
    func becomesRedirect() async throws {
        let (body, isMoved) = (bytes, Watched(false))
        let server = try await OriginServer.start { request in
            if request.path == "/b" { return OriginResponse(Data(body.reversed()), headers: ["ETag": "\"same\""]) }
            if isMoved.value { return .redirect(to: "/b") }
            return OriginResponse(body, headers: ["ETag": "\"same\""]).close(after: 100)
        }
        let downloader = ImageDownloader(.init(resumesTransfers: true))
        let request = LoadRequest(url: server.url("/a"))
        #expect(try await failure(downloader, request).code == .incompleteBody)
        isMoved.update { $0 = true }
        #expect(try await downloader.load(request).data == Data(body.reversed()))
        #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=100-", nil])
    }
}
#endif
