#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

@Suite("Redirected downloads", .timeLimited)
struct DownloadRedirectTests {
    private let downloader = ImageDownloader()

    @Test("Redirects are followed", .capability("DLR-37"), arguments: [301, 302, 303, 307, 308])
    func followed(_ status: Int) async throws {
        let server = try await OriginServer.start([
            "/a": .redirect(to: "dir/b", status: status), "/dir/b": .redirect(to: "/c"), "/c": OriginResponse(bytes),
        ])
        let loaded = try await downloader.load(LoadRequest(url: server.url("/a")))
        #expect(loaded.data == bytes)
        #expect(loaded.url == server.url("/c"))
    }

    @Test("A redirect without a location is a bad status")
    func noLocation() async throws {
        let server = try await OriginServer.start { _ in .status(302) }
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badStatus && error.statusCode == 302)
    }

    @Test("A circle of redirects is an error that shows the circle")
    func circle() async throws {
        let server = try await OriginServer.start(["/a": .redirect(to: "/b"), "/b": .redirect(to: "/a")])
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        let chain = ["/a", "/b", "/a"].map { server.url($0).absoluteString }.joined(separator: " → ")
        #expect(error.code == .badRedirect)
        #expect(error.reason == "the server's redirects form a loop: \(chain)")
        #expect(error.source == server.url("/a").absoluteString)
        #expect(server.requestCount() == 2)
    }

    @Test("Too many redirects are an error", arguments: [0, 1, 5])
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

    @Test("A redirect to a file is refused")
    func toFile() async throws {
        let server = try await OriginServer.start { _ in .redirect(to: "file:///etc/hostname") }
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badRedirect && error.reason.contains("file:///etc/hostname"))
    }

    @Test("A failure after a redirect names both URLs")
    func failureElsewhere() async throws {
        let server = try await OriginServer.start(["/a": .redirect(to: "/gone")])
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.reason == "HTTP 404 Not Found at \(server.url("/gone"))")
        #expect(error.source == server.url("/a").absoluteString)
    }

    @Test("Credentials in the URL are sent to its origin and to no other", .capability("3.10", "DLC-08", "DLC-09"))
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

    @Test("A redirect to another origin takes only harmless header fields along", .capability("3.10"))
    func otherOrigin() async throws {
        let other = try await OriginServer.start(["/b": OriginResponse(bytes)])
        let server = try await OriginServer.start([
            "/same": .redirect(to: "/a"), "/a": OriginResponse(bytes),
            "/other": .redirect(to: other.url("/b").absoluteString),
        ])
        let downloader = ImageDownloader(
            .init(
                headers: ["X-Api-Key": "secret", "Accept-Language": "de"],
                requestModifier: { $0.headers["X-Modified"] = "secret" }))
        let headers = ["X-Token": "secret", "Host": "images.example.org", "User-Agent": "Test/1"]
        for path in ["/same", "/other"] {
            _ = try await downloader.load(LoadRequest(url: server.url(path), headers: headers))
        }
        #expect(server.requests.count == 3 && other.requests.count == 1)
        for request in server.requests {
            for name in ["X-Api-Key", "X-Modified", "X-Token"] { #expect(request.header(name) == "secret") }
            #expect(request.header("Host") == "images.example.org")
        }
        let taken = try #require(other.requests.first)
        for name in ["X-Api-Key", "X-Modified", "X-Token"] { #expect(taken.header(name) == nil, "\(name)") }
        #expect(taken.header("Host") == "127.0.0.1:\(other.port)")
        #expect(taken.header("User-Agent") == "Test/1" && taken.header("Accept-Language") == "de")
    }

    @Test(
        "A header provider gives each host its own header fields, and no redirect takes them along",
        .capability("OLD-05"))
    func headerProvider() async throws {
        let other = try await OriginServer.start(["/b": OriginResponse(bytes)])
        let server = try await OriginServer.start([
            "/same": .redirect(to: "/a"), "/a": OriginResponse(bytes),
            "/other": .redirect(to: other.url("/b").absoluteString),
        ])
        let port = server.port
        let seen = Watched<[HTTPFields]>([])
        let downloader = ImageDownloader(
            .init(
                headers: ["X-All": "1"],
                requestModifier: { $0.headers["X-Modified"] = "2" },
                headerProvider: { url, headers in
                    seen.update { $0.append(headers) }
                    var headers = headers
                    if url.port == port { headers["X-Token"] = "secret" } else { headers["X-Other"] = "3" }
                    return headers
                }))
        _ = try await downloader.load(LoadRequest(url: server.url("/same")))
        _ = try await downloader.load(LoadRequest(url: server.url("/other")))
        #expect(server.requests.map { $0.header("X-Token") } == ["secret", "secret", "secret"])
        #expect(server.requests.allSatisfy { $0.header("X-Other") == nil })
        #expect(other.requests.count == 1)
        #expect(other.requests.first?.header("X-Token") == nil)
        #expect(other.requests.first?.header("X-Other") == "3")
        #expect(seen.value.count { $0["X-All"] == nil } == 1)
        #expect(seen.value.count { $0["X-Modified"] == "2" } == 3)
        #expect(seen.value.allSatisfy { $0["X-Token"] == nil && $0["X-Other"] == nil })
    }

    @Test("No error shows the credentials in a refused location")
    func redactedLocation() async throws {
        let locations = [
            "/ftp": "ftp://me:secret@host/a", "/none": "http://me:secret@/a", "/bad": "http://me:secret@h h:x/",
        ]
        let server = try await OriginServer.start(locations.mapValues { .redirect(to: $0) })
        for path in locations.keys {
            let error = try await failure(downloader, LoadRequest(url: server.url(path)))
            #expect(error.code == .badRedirect, "\(path)")
            #expect(!"\(error)".contains("secret") && !String(reflecting: error).contains("secret"), "\(error)")
        }
    }

    @Test("No error shows credentials", arguments: ["/404", "/circle", "/lost", "/empty"])
    func redacted(_ path: String) async throws {
        let server = try await OriginServer.start([
            "/circle": .redirect(to: "/circle"), "/lost": .vanishing, "/empty": OriginResponse(),
        ])
        let error = try await failure(downloader, LoadRequest(url: server.url(path, user: "me:secret")))
        #expect(error.source == server.url(path).absoluteString)
        #expect(!"\(error) \(error.reason)".contains("secret"))
        #expect(!String(reflecting: error.underlying).contains("secret"))
    }

    @Test("A redirect may lead back to every URL before the one that set a cookie", arguments: 0..<3)
    func cookieOnTheWay(cookieHop: Int) async throws {
        let server = try await OriginServer.start { request in
            if request.header("Cookie") == "gate=1", request.path == "/0" { return OriginResponse(bytes) }
            let hop = Int(request.path.dropFirst()) ?? 0
            let response = OriginResponse.redirect(to: "/\((hop + 1) % 3)")
            return hop == cookieHop ? response.header("Set-Cookie", "gate=1") : response
        }
        let downloader = ImageDownloader(.init(cookies: SessionCookies()))
        #expect(try await downloader.load(LoadRequest(url: server.url("/0"))).data == bytes)
        #expect(server.requestCount() == 4)
        // The cookie comes again, but is no new one: a loop without an end is found all the same.
        let loop = try await OriginServer.start { request in
            let response = OriginResponse.redirect(to: request.path == "/0" ? "/1" : "/0")
            return request.path == "/1" && request.header("Cookie") == nil
                ? response.header("Set-Cookie", "gate=1") : response
        }
        let other = ImageDownloader(.init(cookies: SessionCookies()))
        let error = try await failure(other, LoadRequest(url: loop.url("/0")))
        #expect(error.code == .badRedirect && error.reason.contains("form a loop"))
        #expect(loop.requestCount() == 4)
    }
}
#endif
