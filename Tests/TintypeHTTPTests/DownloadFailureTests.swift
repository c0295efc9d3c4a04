#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeCore
import TintypeHTTP
import TintypeTesting

@Suite("Failing downloads", .timeLimited, .timeLimit(.minutes(1)))
struct DownloadFailureTests {
    private let downloader = ImageDownloader()

    @Test(
        "URLs that cannot be loaded over HTTP", .capability("DLR-04", "ERR-01"),
        arguments: ["ftp://host/a", "file:///a", "a.png", "http://", "http:///a"])
    func invalidURL(_ text: String) async throws {
        let url = try #require(URL(string: text))
        let error = try await failure(downloader, LoadRequest(url: url))
        #expect(error.code == .invalidURL)
        #expect(error.source == text)
        #expect(downloader.statistics.started == 0 && downloader.statistics.failed == 1)
    }

    @Test(
        "a status other than success", .capability("DLC-10", "ERR-06", "ERR-10"),
        arguments: [(404, "404 Not Found"), (500, "500 Internal Server Error")])
    func badStatus(_ status: Int, _ text: String) async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes, status: status) }
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badStatus && error.stage == .load)
        #expect(error.statusCode == status)
        #expect(error.reason == "the server answered \(text)")
        #expect(error.source == server.url("/a").absoluteString)
    }

    @Test("which status is acceptable can be said", .capability("DLC-10"))
    func acceptableStatus() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes, status: 404) }
        let any = ImageDownloader(.init(acceptableStatusCodes: nil))
        #expect(try await any.load(LoadRequest(url: server.url("/a"))).statusCode == 404)
        let strict = ImageDownloader(.init(acceptableStatusCodes: 200..<201))
        #expect(try await failure(strict, LoadRequest(url: server.url("/a"))).code == .badStatus)
    }

    @Test("a type that is not accepted, or none", .capability("DLC-11", "ERR-09"))
    func badContentType() async throws {
        let server = try await OriginServer.start([
            "/html": OriginResponse(bytes, type: "text/html; charset=utf-8"), "/none": OriginResponse(bytes),
            "/png": OriginResponse(bytes, type: "image/png; x=y"),
        ])
        let strict = ImageDownloader(.init(acceptableContentTypes: ["image/png"]))
        let error = try await failure(strict, LoadRequest(url: server.url("/html")))
        #expect(error.code == .badContentType && error.reason.contains("text/html"))
        #expect(try await failure(strict, LoadRequest(url: server.url("/none"))).code == .badContentType)
        #expect(try await strict.load(LoadRequest(url: server.url("/png"))).data == bytes)
    }

    @Test("nobody listens", .capability("ERR-11"))
    func refused() async throws {
        let server = try await OriginServer.start([:])
        let url = server.url("/a")
        await server.stop()
        let error = try await failure(downloader, LoadRequest(url: url))
        #expect(error.code == .connectionFailed)
        #expect(error.reason.contains("Connection refused"))
        #expect(error.underlying != nil)
    }

    @Test("a name that does not exist")
    func unknownHost() async throws {
        // A label of more than 63 letters cannot be, so that no name server is asked.
        let url = try #require(URL(string: "http://\(String(repeating: "a", count: 64)).invalid/a"))
        #expect(try await failure(downloader, LoadRequest(url: url)).code == .connectionFailed)
    }

    @Test("a server that does not speak TLS")
    func noTLS() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/a"))
        #expect(try await failure(downloader, LoadRequest(url: url)).code == .connectionFailed)
    }

    @Test("the connection breaks in the middle")
    func reset() async throws {
        let gate = OriginGate()
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).reset(after: 100, gate: gate)])
        let reports = Reports()
        let request = reports.request(server.url("/a"))
        async let error = failure(downloader, request)
        try await reports.waitForBytes(100)
        gate.open()
        #expect(try await error.code == .connectionLost)
        #expect(try await error.reason.contains("after 100 of 5000 bytes"))
    }

    @Test("the connection closes without an answer, twice")
    func vanishing() async throws {
        let server = try await OriginServer.start { _ in .vanishing }
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .connectionLost)
        #expect(server.requestCount() == 2)
    }

    @Test("fewer bytes than announced", .capability("3.8"))
    func incomplete() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).announcing(contentLength: 9_000)])
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .incompleteBody)
        #expect(error.reason == "only 5000 of 9000 bytes came")
    }

    @Test("chunks that do not come to an end")
    func incompleteChunks() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).chunked().close(after: 100)])
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .connectionLost)
    }

    @Test("more bytes than announced are not part of the answer")
    func surplus() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).announcing(contentLength: 1_000)])
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes.prefix(1_000))
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes.prefix(1_000))
    }

    @Test("an enormous length that is a lie takes no memory")
    func enormousLength() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).announcing(contentLength: 1 << 50)])
        let open = ImageDownloader(.init(maximumBytes: .unlimited))
        #expect(try await failure(open, LoadRequest(url: server.url("/a"))).code == .incompleteBody)
    }

    @Test("no bytes", .capability("DLR-30"), arguments: [200, 204])
    func empty(_ status: Int) async throws {
        let server = try await OriginServer.start { _ in .status(status) }
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .emptyBody)
    }

    @Test("more bytes than the limit, announced or not")
    func tooLarge() async throws {
        let server = try await OriginServer.start([
            "/announced": OriginResponse(bytes), "/chunked": OriginResponse(bytes).chunked(),
        ])
        let exact = ImageDownloader(.init(maximumBytes: 5_000))
        let tight = ImageDownloader(.init(maximumBytes: 4_999))
        for path in ["/announced", "/chunked"] {
            #expect(try await exact.load(LoadRequest(url: server.url(path))).data == bytes)
            let reports = Reports()
            let error = try await failure(tight, reports.request(server.url(path)))
            #expect(error.code == .bodyTooLarge && error.reason.contains("5.0 kB"))
            #expect((reports.all.value.last?.receivedBytes ?? 0) < 5_000)
        }
    }

    @Test("an answer that is not HTTP")
    func nonsense() async throws {
        var response = OriginResponse(Data("SSH-2.0-OpenSSH_9\r\n".utf8))
        response.sendsHead = false
        response.steps.append(.close)
        let server = try await OriginServer.start { [response] _ in response }
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .badResponse)
    }

    @Test("what a cache holds is still current", .capability("DLR-23", "ERR-03", "D3"))
    func notModified() async throws {
        let server = try await OriginServer.start { request in
            let isKnown = request.header("If-None-Match") == "\"1\"" || request.header("If-Modified-Since") == "then"
            return isKnown ? .status(304) : OriginResponse(bytes, headers: ["ETag": "\"1\""])
        }
        var request = LoadRequest(url: server.url("/a"))
        request.validators = try await downloader.load(request).validators
        #expect(try await downloader.load(request).isNotModified)
        request.validators = CacheValidators(lastModified: "then")
        let answer = try await downloader.load(request)
        #expect(answer.isNotModified && answer.statusCode == 304 && answer.data.isEmpty)
        request.validators = CacheValidators(entityTag: "\"old\"")
        #expect(try await downloader.load(request).data == bytes)
    }

    @Test("304 to a question that was not asked is a bad status", .capability("DLR-23"))
    func unaskedNotModified() async throws {
        let server = try await OriginServer.start { _ in .status(304) }
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .badStatus)
    }

    @Test("a header field that would break the request")
    func badHeader() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        let request = LoadRequest(url: server.url("/a"), headers: ["X": "a\r\nHost: evil"])
        #expect(try await failure(downloader, request).code == .badRequest)
        #expect(server.requestCount() == 0)
    }

    @Test("failures that another try would repeat are remembered, others are not", .capability("DLR-22", "MGR-38"))
    func remembered() {
        let url = URL(string: "https://example.org/a.png")!
        func error(_ code: ImageError.Code, _ status: Int? = nil) -> ImageError {
            ImageError(code, stage: .load, reason: "", statusCode: status)
        }
        #expect(downloader.shouldRememberFailure(error(.badStatus, 404), of: url))
        #expect(downloader.shouldRememberFailure(error(.badRedirect), of: url))
        #expect(!downloader.shouldRememberFailure(error(.badStatus, 503), of: url))
        #expect(!downloader.shouldRememberFailure(error(.badStatus, 429), of: url))
        #expect(!downloader.shouldRememberFailure(error(.timedOut), of: url))
        #expect(!downloader.shouldRememberFailure(error(.connectionFailed), of: url))
        #expect(!downloader.shouldRememberFailure(error(.cancelled), of: url))
    }
}
#endif
