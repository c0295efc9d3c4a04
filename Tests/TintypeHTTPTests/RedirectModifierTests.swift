#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

@Suite("Closures for redirects", .timeLimited)
struct RedirectModifierTests {
    private struct Refusal: Error {}

    private func server() async throws -> OriginServer {
        try await OriginServer.start { request in
            switch request.path {
            case "/a": .redirect(to: "/b").header("X-Reason", "moved")
            case "/b": .redirect(to: "/c")
            default: OriginResponse(bytes)
            }
        }
    }

    @Test(
        "A closure sees each redirect, and changes the request that follows", .capability("DLR-37", "DLR-38", "3.10"),
        arguments: [true, false])
    func changes(ofRequest: Bool) async throws {
        let server = try await server()
        let seen = Watched<[String]>([])
        let modify: @Sendable (inout DownloadRequest, ResponseHead) async throws -> Void = { request, response in
            seen.update {
                $0.append(
                    "\(response.url.path) \(response.statusCode ?? 0) \(response.headers["X-Reason"] ?? "-") \(request.url.path)"
                )
            }
            request.headers["X-Token"] = "1"
            if request.url.path == "/c" { request.url = server.url("/d", user: "me:pass") }
        }
        let downloader = ImageDownloader(.init(redirectModifier: ofRequest ? nil : modify))
        var request = LoadRequest(url: server.url("/a"))
        if ofRequest { request.hooks = DownloadHooks(identifier: "1", modifyRedirect: modify) }
        let loaded = try await downloader.load(request)
        #expect(loaded.data == bytes && loaded.url == server.url("/d"))
        #expect(seen.value == ["/a 302 moved /b", "/b 302 - /c"])
        #expect(server.requests.map(\.path) == ["/a", "/b", "/d"])
        #expect(server.requests.map { $0.header("X-Token") } == [nil, "1", "1"])
        #expect(server.requests[2].header("Authorization") == "Basic " + Data("me:pass".utf8).base64EncodedString())
    }

    @Test("A closure refuses a redirect", .capability("DLR-37", "DLR-38", "3.10"))
    func refuses() async throws {
        let server = try await server()
        let downloader = ImageDownloader(
            .init(redirectModifier: { request, _ in
                if request.url.path == "/c" { throw Refusal() }
            }))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badRedirect && error.reason.contains("/c") && error.underlying is Refusal)
        #expect(server.requestCount() == 2)
    }

    @Test(
        "A URL that the closure chooses must be one that may be loaded", .capability("DLR-38", "3.10"),
        arguments: ["file:///etc/passwd", "ftp://images.example/a", "http://127.0.0.1:99999/a", "http:///a"])
    func badURL(_ text: String) async throws {
        let server = try await server()
        let url = try #require(URL(string: text))
        let downloader = ImageDownloader(.init(redirectModifier: { request, _ in request.url = url }))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badRedirect)
        #expect(server.requestCount() == 1)
    }

    @Test("The guard checks the URL that the closure chooses", .capability("DLR-38", "3.10"))
    func guarded() async throws {
        let server = try await server()
        let forbidden = try await OriginServer.start(host: "127.0.0.2") { _ in OriginResponse(bytes) }
        let allowed = try #require(IPNetwork("127.0.0.1"))
        let downloader = ImageDownloader(
            .init(
                redirectModifier: { request, _ in request.url = forbidden.url("/a") },
                networkGuard: NetworkGuard(ports: nil, allowedNetworks: [allowed])))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badRedirect && forbidden.acceptedConnections == 0)
    }

    @Test("A closure that redirects for ever is stopped")
    func circle() async throws {
        let server = try await OriginServer.start { _ in .redirect(to: "/b") }
        let number = Watched(0)
        let downloader = ImageDownloader(
            .init(redirectModifier: { request, _ in
                request.url = server.url("/\(number.update { $0 += 1; return $0 })")
            }))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badRedirect && server.requestCount() == 6)
    }
}
#endif
