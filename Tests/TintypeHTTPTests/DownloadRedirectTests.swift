#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeCore
import TintypeHTTP
import TintypeTesting

@Suite("Redirected downloads", .timeLimited, .timeLimit(.minutes(1)))
struct DownloadRedirectTests {
    private let downloader = ImageDownloader()

    @Test("redirects are followed", .capability("DLR-37"), arguments: [301, 302, 303, 307, 308])
    func followed(_ status: Int) async throws {
        let server = try await OriginServer.start([
            "/a": .redirect(to: "dir/b", status: status), "/dir/b": .redirect(to: "/c"), "/c": OriginResponse(bytes),
        ])
        let loaded = try await downloader.load(LoadRequest(url: server.url("/a")))
        #expect(loaded.data == bytes)
        #expect(loaded.url == server.url("/c"))
    }

    @Test("a redirect without a location is a bad status")
    func noLocation() async throws {
        let server = try await OriginServer.start { _ in .status(302) }
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badStatus && error.statusCode == 302)
    }

    @Test("a circle is noticed and told")
    func circle() async throws {
        let server = try await OriginServer.start(["/a": .redirect(to: "/b"), "/b": .redirect(to: "/a")])
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        let chain = ["/a", "/b", "/a"].map { server.url($0).absoluteString }.joined(separator: " → ")
        #expect(error.code == .badRedirect)
        #expect(error.reason == "the server redirected in a circle: \(chain)")
        #expect(error.source == server.url("/a").absoluteString)
        #expect(server.requestCount() == 2)
    }

    @Test("too many redirects are noticed and told", arguments: [0, 1, 5])
    func tooMany(_ maximum: Int) async throws {
        let server = try await OriginServer.start { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return number == maximum + 1 ? OriginResponse(bytes) : .redirect(to: "/\(number + 1)")
        }
        let strict = ImageDownloader(.init(maximumRedirects: maximum))
        let error = try await failure(strict, LoadRequest(url: server.url("/0")))
        #expect(error.code == .badRedirect && error.reason.contains("more than \(maximum) times"))
        #expect(server.requestCount() == maximum + 1)
        let lenient = ImageDownloader(.init(maximumRedirects: maximum + 1))
        #expect(try await lenient.load(LoadRequest(url: server.url("/0"))).data == bytes)
    }

    @Test("a redirect to a file is refused")
    func toFile() async throws {
        let server = try await OriginServer.start { _ in .redirect(to: "file:///etc/hostname") }
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badRedirect && error.reason.contains("file:///etc/hostname"))
    }

    @Test("a failure after a redirect says where it happened")
    func failureElsewhere() async throws {
        let server = try await OriginServer.start(["/a": .redirect(to: "/gone")])
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.reason == "the server answered 404 Not Found at \(server.url("/gone"))")
        #expect(error.source == server.url("/a").absoluteString)
    }

    @Test("credentials of the URL are sent to its origin, and to no other", .capability("3.10", "DLC-08", "DLC-09"))
    func credentials() async throws {
        let other = try await OriginServer.start(["/b": OriginResponse(bytes)])
        let server = try await OriginServer.start([
            "/same": .redirect(to: "/a"), "/a": OriginResponse(bytes),
            "/other": .redirect(to: other.url("/b").absoluteString),
        ])
        let loaded = try await downloader.load(LoadRequest(url: server.url("/same", user: "me:s%65cret")))
        #expect(loaded.url == server.url("/a"))
        _ = try await downloader.load(
            LoadRequest(url: server.url("/other", user: "me:secret"), headers: ["Cookie": "id=1"]))
        // base64 of “me:secret”.
        #expect(server.requests.map { $0.header("Authorization") } == Array(repeating: "Basic bWU6c2VjcmV0", count: 3))
        #expect(server.requests.last?.header("Cookie") == "id=1")
        #expect(other.requests.count == 1)
        #expect(other.requests.first?.header("Authorization") == nil)
        #expect(other.requests.first?.header("Cookie") == nil)
    }

    @Test(
        "a filter gives each host its own header fields, and no redirect takes them to another", .capability("OLD-05"))
    func headersFilter() async throws {
        let other = try await OriginServer.start(["/b": OriginResponse(bytes)])
        let server = try await OriginServer.start([
            "/same": .redirect(to: "/a"), "/a": OriginResponse(bytes),
            "/other": .redirect(to: other.url("/b").absoluteString),
        ])
        let port = server.port
        let filtered = ImageDownloader(
            .init(
                headers: ["X-All": "1"],
                requestModifier: { $0.headers["X-Modified"] = "2" },
                headersFilter: { url, headers in
                    var headers = headers
                    #expect(headers["X-All"] == "1" && headers["x-modified"] == "2" && headers["X-Token"] == nil)
                    if url.port == port { headers["X-Token"] = "secret" } else { headers["X-All"] = nil }
                    return headers
                }))
        _ = try await filtered.load(LoadRequest(url: server.url("/same")))
        _ = try await filtered.load(LoadRequest(url: server.url("/other")))
        #expect(server.requests.map { $0.header("X-Token") } == ["secret", "secret", "secret"])
        #expect(server.requests.map { $0.header("X-All") } == ["1", "1", "1"])
        #expect(other.requests.count == 1)
        #expect(other.requests.first?.header("X-Token") == nil && other.requests.first?.header("X-All") == nil)
        #expect(other.requests.first?.header("X-Modified") == "2")
    }

    @Test("no error shows credentials", arguments: ["/404", "/circle", "/lost", "/empty"])
    func redacted(_ path: String) async throws {
        let server = try await OriginServer.start([
            "/circle": .redirect(to: "/circle"), "/lost": .vanishing, "/empty": OriginResponse(),
        ])
        let error = try await failure(downloader, LoadRequest(url: server.url(path, user: "me:secret")))
        #expect(error.source == server.url(path).absoluteString)
        #expect(!"\(error) \(error.reason)".contains("secret"))
        #expect(!String(reflecting: error.underlying).contains("secret"))
    }
}
#endif
