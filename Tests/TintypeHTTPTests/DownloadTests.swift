#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

@Suite("Downloads", .timeLimited)
struct DownloadTests {
    private let downloader = ImageDownloader()

    @Test("The bytes arrive with the properties of the response", .capability("DLR-30", "DLR-33"))
    func success() async throws {
        let response = OriginResponse(
            bytes, type: "Image/PNG; charset=x", headers: ["ETag": "\"1\"", "Last-Modified": "then"])
        let server = try await OriginServer.start(["/a.png": response])
        let loaded = try await downloader.load(LoadRequest(url: server.url("/a.png")))
        #expect(loaded.data == bytes)
        #expect(loaded.url == server.url("/a.png"))
        #expect(loaded.statusCode == 200)
        #expect(loaded.mimeType == "image/png")
        #expect(loaded.validators == CacheValidators(entityTag: "\"1\"", lastModified: "then"))
        #expect(loaded.networkProtocol == "HTTP/1.1")
        let statistics = downloader.statistics
        #expect(statistics.started == 1 && statistics.succeeded == 1 && statistics.receivedBytes == 5_000)
        #expect(statistics.active == 0 && statistics.waiting == 0)
    }

    @Test(
        "Default header fields are sent unless the configuration or the request replaces them",
        .capability("DLR-02", "DLR-03"))
    func headers() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        _ = try await downloader.load(LoadRequest(url: server.url("/")))
        let other = ImageDownloader(.init(headers: ["accept": "image/webp", "User-Agent": "", "X-A": "1"]))
        _ = try await other.load(LoadRequest(url: server.url("/"), headers: ["x-a": "2"]))
        let requests = server.requests
        #expect(requests[0].header("Accept") == ImageDownloader.Configuration.defaultHeaders["Accept"])
        #expect(requests[0].header("Accept-Encoding") == "identity")
        #expect(requests[0].header("User-Agent")?.hasPrefix("Tintype/") == true)
        #expect(requests[1].header("Accept") == "image/webp")
        #expect(requests[1].header("User-Agent") == nil)
        #expect(requests[1].header("X-A") == "2")
    }

    @Test("Progress begins with the head and counts every piece", .capability("DLR-26"))
    func progress() async throws {
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in
            var response = OriginResponse(chunks: [bytes.prefix(1_000), bytes.dropFirst(1_000)], gate: gate)
            response.framing = .contentLength(nil)
            return response
        }
        let reports = Reports()
        let load = Task { try await downloader.load(reports.request(server.url("/a"))) }
        try await reports.all.wait { $0.count == 1 }
        gate.open()
        try await reports.waitForBytes(1_000)
        #expect(reports.all.value.last.map { [$0.receivedBytes, $0.expectedBytes] } == [1_000, 5_000])
        gate.open()
        #expect(try await load.value.data == bytes)
        let all = reports.all.value
        #expect(all.first?.chunk.isEmpty == true && all.first?.receivedBytes == 0)
        #expect(all.allSatisfy { $0.expectedBytes == 5_000 })
        #expect(all.map(\.chunk).reduce(Data(), +) == bytes)
        #expect(all.dropFirst().allSatisfy { !$0.chunk.isEmpty })
        #expect(all.last?.receivedBytes == 5_000)
    }

    @Test("A body of unknown length arrives whole, whether it is chunked or ends with the connection")
    func unknownLength() async throws {
        var untilClose = OriginResponse(bytes)
        untilClose.framing = .untilClose
        let server = try await OriginServer.start(["/chunked": OriginResponse(bytes).chunked(), "/close": untilClose])
        for path in ["/chunked", "/close"] {
            let reports = Reports()
            #expect(try await downloader.load(reports.request(server.url(path))).data == bytes)
            #expect(reports.all.value.allSatisfy { $0.expectedBytes == nil })
        }
    }

    @Test("Connections are reused, also after errors and redirects")
    func keepAlive() async throws {
        // On a clock that stands still: a loaded machine may need longer for the rest of a body than it is waited for.
        let downloader = ImageDownloader(clock: ManualClock())
        let server = try await OriginServer.start([
            "/a": OriginResponse(bytes), "/b": .redirect(to: "/a"), "/c": OriginResponse(Data("no".utf8), status: 404),
        ])
        for path in ["/a", "/b", "/c", "/a"] { _ = try? await downloader.load(LoadRequest(url: server.url(path))) }
        #expect(server.requests.map(\.path) == ["/a", "/b", "/a", "/c", "/a"])
        #expect(Set(server.requests.map(\.connection)) == [1])
    }

    @Test("A kept connection that the server has closed costs one more attempt")
    func staleConnection() async throws {
        let server = try await OriginServer.start { request in
            request.path == "/a" || request.connection > 1 ? OriginResponse(bytes) : .vanishing
        }
        _ = try await downloader.load(LoadRequest(url: server.url("/a")))
        #expect(try await downloader.load(LoadRequest(url: server.url("/b"))).data == bytes)
        #expect(server.requests.map(\.path) == ["/a", "/b", "/b"])
    }

    @Test("A downloader that is shut down loads nothing more", .capability("DLR-01"))
    func shutdown() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        _ = try await downloader.load(LoadRequest(url: server.url("/a")))
        await downloader.shutdown()
        await downloader.shutdown()
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .loadingDisallowed)
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test("The downloader that the program shares can't be shut down", .capability("DLR-01"))
    func sharedDownloader() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        await ImageDownloader.shared.shutdown()
        await ImageDownloader.shared.shutdown(cancelsLoads: false)
        #expect(try await ImageDownloader.shared.load(LoadRequest(url: server.url("/a"))).data == bytes)
    }

    @Test("Header fields can change after the downloader was created", .capability("DLR-02"))
    func liveHeaders() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let downloader = ImageDownloader(.init(headers: ["X-A": "1", "X-B": "1"]))
        #expect(downloader.headers == ["X-A": "1", "X-B": "1"])
        _ = try await downloader.load(LoadRequest(url: server.url("/")))
        downloader.headers["X-A"] = "2"
        downloader.headers["X-B"] = nil
        _ = try await downloader.load(LoadRequest(url: server.url("/")))
        #expect(server.requests.map { $0.header("X-A") } == ["1", "2"])
        #expect(server.requests.map { $0.header("X-B") } == ["1", nil])
    }

    @Test("A downloader that is released closes its connections", .capability("DLR-41"))
    func lifetime() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        do {
            let short = ImageDownloader()
            _ = try await short.load(LoadRequest(url: server.url("/a")))
            #expect(server.openConnections == 1)
        }
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test("The method and the body of a load are sent", .capability("MGR-03"))
    func methodAndBody() async throws {
        let server = try await OriginServer.start { OriginResponse(Data("\($0.method) \($0.target)".utf8)) }
        let loaded = try await ImageDownloader().load(
            LoadRequest(url: server.url("/a"), method: "POST", body: Data("x=1".utf8)))
        #expect(loaded.data == Data("POST /a".utf8))
        #expect(server.requests[0].body == Data("x=1".utf8))
    }

    @Test("A request modifier changes or refuses a request", .capability("DLR-05", "DLR-06", "ERR-05"))
    func requestModifier() async throws {
        struct Denied: Error {}
        let server = try await OriginServer.start { OriginResponse(Data("\($0.method) \($0.target)".utf8)) }
        let signing = ImageDownloader(
            .init(requestModifier: { request in
                guard request.url.path() != "/no" else { throw Denied() }
                // Something else that the closure waited for was canceled.
                guard request.url.path() != "/late" else { throw CancellationError() }
                request.url.append(queryItems: [URLQueryItem(name: "signature", value: "1")])
                request.headers["X-Token"] = "t"
                request.method = "POST"
                request.body = Data("body".utf8)
            }))
        let loaded = try await signing.load(LoadRequest(url: server.url("/a")))
        #expect(loaded.data == Data("POST /a?signature=1".utf8))
        #expect(server.requests[0].header("X-Token") == "t")
        #expect(server.requests[0].body == Data("body".utf8))
        let error = try await failure(signing, LoadRequest(url: server.url("/no")))
        #expect(error.code == .badRequest && error.underlying is Denied)
        #expect(try await failure(signing, LoadRequest(url: server.url("/late"))).code == .badRequest)
        #expect(server.requestCount() == 1)
    }

    @Test(
        "A response modifier runs before every check, and can refuse a response",
        .capability("DLR-07", "DLR-21", "ERR-08"))
    func responseModifier() async throws {
        struct Denied: Error {}
        let server = try await OriginServer.start { _ in OriginResponse(bytes, status: 404, type: "text/html") }
        let lenient = ImageDownloader(
            .init(
                acceptableContentTypes: ["image/png"],
                responseModifier: { response in
                    guard response.url.path() != "/no" else { throw Denied() }
                    response.statusCode = 200
                    response.headers["content-type"] = "image/png"
                }))
        let loaded = try await lenient.load(LoadRequest(url: server.url("/a")))
        #expect(loaded.statusCode == 200 && loaded.mimeType == "image/png")
        let error = try await failure(lenient, LoadRequest(url: server.url("/no")))
        #expect(error.code == .badResponse && error.underlying is Denied)
    }
}
#endif
