#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

@Suite("Options of downloads", .timeLimited)
struct OptionTests {
    @Test("Progress is reported at most once per interval, and no chunk is lost", .capability("DLC-03", "DLR-26"))
    func interval() async throws {
        let pieces = stride(from: 0, to: 5_000, by: 100).map { bytes[$0..<($0 + 100)] }
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in
            OriginResponse(chunks: pieces, gate: gate).announcing(contentLength: 5_000)
        }
        let downloader = ImageDownloader(.init(minimumProgressInterval: 0.25))
        let reports = Reports()
        gate.openForGood()
        _ = try await downloader.load(reports.request(server.url("/a")))
        let all = reports.all.value
        #expect(all.count <= 6 && all.first?.receivedBytes == 0 && all.last?.receivedBytes == 5_000)
        #expect(all.reduce(into: Data()) { $0 += $1.chunk } == bytes)
    }

    @Test("Cookies of a session go back to the server that set them, and to no other", .capability("OPT-05"))
    func cookies() async throws {
        let server = try await OriginServer.start { request in
            request.path == "/set"
                ? OriginResponse(bytes).header("Set-Cookie", "a=1; Path=/").header(
                    "Set-Cookie", "b=2; Path=/x; HttpOnly")
                : OriginResponse(bytes)
        }
        let downloader = ImageDownloader(.init(cookies: SessionCookies()))
        for url in [server.url("/set"), server.url("/y"), server.url("/x/y"), server.url("/x", host: "localhost")] {
            _ = try await downloader.load(LoadRequest(url: url))
        }
        #expect(server.requests.map { $0.header("Cookie") } == [nil, "a=1", "b=2; a=1", nil])
        _ = try await ImageDownloader().load(LoadRequest(url: server.url("/y")))
        #expect(server.requests.last?.header("Cookie") == nil)
    }

    @Test("Cookies follow RFC 6265", .capability("OPT-05"))
    func cookieRules() throws {
        let now = Watched(Date(timeIntervalSince1970: 1_000_000_000))
        let store = SessionCookies { now.value }
        let site = try #require(URL(string: "https://www.example.org/a/b"))
        func sent(_ url: String) throws -> String? { store.cookies(for: try #require(URL(string: url))) }
        store.store(
            [
                "plain=1", "domain=2; Domain=.Example.org; Path=/", "secure=3; Secure; Path=/",
                "evil=4; Domain=other.org",
                "top=5; Domain=org", "short=6; Max-Age=10; Path=/", "=7", "8", "bad\u{1}=9",
                "gone=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            ], from: site)
        #expect(try sent("https://www.example.org/a/c") == "plain=1; domain=2; secure=3; short=6")
        #expect(try sent("http://www.example.org/") == "domain=2; short=6")
        #expect(try sent("https://example.org/a/") == "domain=2")
        #expect(try sent("https://notexample.org/") == nil && sent("https://www.example.org.evil/") == nil)
        now.update { $0 += 11 }
        store.store(["domain=; Domain=example.org; Path=/; Max-Age=0"], from: site)
        #expect(try sent("http://www.example.org/") == nil)
        // A server without TLS can't set a cookie for secure connections.
        store.removeAll()
        store.store(["a=1; Secure"], from: try #require(URL(string: "http://www.example.org/")))
        #expect(try sent("https://www.example.org/") == nil)
        store.store((0..<2_000).map { "c\($0)=1" }, from: site)
        store.store([String(repeating: "a", count: 5_000) + "=1"], from: site)
        #expect(try sent("https://www.example.org/a/")?.utf8.count ?? 0 < 1_000)
    }

    @Test("A connection without TLS can't replace or shadow a secure cookie, and prefixes of names are kept")
    func secureCookies() throws {
        let store = SessionCookies()
        let secure = try #require(URL(string: "https://www.example.org/a/b"))
        let plain = try #require(URL(string: "http://www.example.org/a/b"))
        let below = try #require(URL(string: "http://x.www.example.org/a/b"))
        store.store(["id=1; Secure; Path=/"], from: secure)
        store.store(
            ["id=2; Path=/", "id=3; Path=/a", "id=4; Domain=example.org", "id=; Path=/; Max-Age=0"], from: plain)
        store.store(["id=5; Domain=example.org"], from: below)
        #expect(store.cookies(for: secure) == "id=1" && store.cookies(for: plain) == nil)
        store.store(["id=6; Secure; Path=/", "other=7"], from: secure)
        #expect(store.cookies(for: secure) == "other=7; id=6")
        store.removeAll()
        let names = ["__Secure-a=1", "__Host-a=2; Secure", "__host-b=3; Secure; Path=/; Domain=www.example.org"]
        store.store(names, from: secure)
        #expect(store.cookies(for: secure) == nil)
        store.store(["__Secure-a=1; Secure", "__Host-b=2; Secure; Path=/"], from: secure)
        #expect(store.cookies(for: secure) == "__Secure-a=1; __Host-b=2")
    }

    @Test(
        "Every usual form of a date or age that is past removes a cookie",
        arguments: [
            "Expires=Thu, 01-Jan-1970 00:00:00 GMT", "Expires=Thu, 01-Jan-70 00:00:00 GMT",
            "Expires=Thursday, 01-Jan-1970 00:00:00 GMT", "expires=Thu, 1 Jan 1970 0:0:0 UTC",
            "Expires=Thu Jan 01 1970 00:00:00 GMT+0000", "Expires=Thu, 01 Jan 1970 00:00:01 -0000",
            "Max-Age=0; Expires=Fri, 01 Jan 2100 00:00:00 GMT", "Max-Age=-99999999999999999999",
        ])
    func removedCookies(attribute: String) throws {
        let url = try #require(URL(string: "https://a.example/"))
        let store = SessionCookies()
        store.store(["id=1"], from: url)
        store.store(["id=; \(attribute)"], from: url)
        #expect(store.cookies(for: url) == nil)
    }

    @Test("A date that can't be read, or is to come, removes no cookie")
    func futureCookies() throws {
        let url = try #require(URL(string: "https://a.example/"))
        let store = SessionCookies { Date(timeIntervalSince1970: 1_700_000_000) }
        for attribute in [
            "Expires=Wed, 09-Jun-2027 10:18:14 GMT", "Expires=Wed, 09-Jun-69 10:18:14 GMT", "Expires=never",
            "Expires=Thu, 01-Jan-1970", "Expires=Thu, 99 Jan 1970 00:00:00 GMT", "Expires=Thu, 01 Jan 1500 00:00:00",
            "Max-Age=99999999999999999999", "Max-Age=1.5", "Max-Age=", "Max-Age=-", "Expires=1:2 01 Jan 1970",
        ] {
            store.store(["id=1; \(attribute)"], from: url)
            #expect(store.cookies(for: url) == "id=1", "\(attribute)")
            store.removeAll()
        }
        // A dot at its end makes no domain of a top-level one.
        store.store(["id=1; Domain=example."], from: try #require(URL(string: "https://a.example./")))
        #expect(store.cookies(for: try #require(URL(string: "https://b.example./"))) == nil)
    }

    @Test("A domain with many cookies keeps the newest, and those of others stay")
    func manyCookies() throws {
        let store = SessionCookies()
        let good = try #require(URL(string: "https://example.org/"))
        let greedy = try #require(URL(string: "https://example.net/"))
        store.store(["a=1"], from: good)
        for number in 0..<2_000 { store.store(["c\(number)=1"], from: greedy) }
        #expect(store.cookies(for: good) == "a=1")
        let kept = try #require(store.cookies(for: greedy)).split(separator: "; ")
        #expect(kept.count == 50 && kept.last == "c1999=1")
    }

    @Test("A redirect that sets a cookie may lead back to the same URL, and ends at the limit if it always does")
    func cookieGate() async throws {
        let server = try await OriginServer.start { request in
            request.header("Cookie") == "gate=1" && request.path == "/a"
                ? OriginResponse(bytes) : .redirect(to: request.path).header("Set-Cookie", "gate=1")
        }
        let downloader = ImageDownloader(.init(maximumRedirects: 7, cookies: SessionCookies()))
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes)
        #expect(server.requestCount() == 2)
        let error = try await failure(downloader, LoadRequest(url: server.url("/b")))
        #expect(error.code == .badRedirect && error.reason.contains("more than 7 times"))
        let without = try await failure(ImageDownloader(), LoadRequest(url: server.url("/a")))
        #expect(without.reason.contains("form a loop"))
    }

    @Test("A challenge has all schemes that the server accepts, and nothing of quoted texts")
    func challengeSchemes() async throws {
        let server = try await OriginServer.start { request in
            request.header("Authorization") != nil
                ? OriginResponse(bytes)
                : OriginResponse(status: 401).header("WWW-Authenticate", "Negotiate")
                    .header("WWW-Authenticate", #"Basic realm="a \"b\", c d", charset="UTF-8""#)
        }
        let schemes = Watched<[String]>([])
        let downloader = ImageDownloader(
            .init(credentials: { challenge in
                schemes.update { $0 = challenge.schemes }
                return challenge.schemes.contains("basic") ? .basic(user: "a", password: "b") : nil
            }))
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes)
        #expect(schemes.value == ["negotiate", "basic"])
    }

    @Test(
        "A challenge is answered with the credential that the program provides",
        .capability("DLC-07", "DLC-08", "DLC-09"))
    func credentials() async throws {
        let server = try await OriginServer.start { request in
            request.header("Authorization") == "Basic YTpi"
                ? OriginResponse(bytes)
                : OriginResponse(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x, y\", Bearer"])
        }
        let seen = Watched<[AuthenticationChallenge]>([])
        let downloader = ImageDownloader(
            .init(credentials: { challenge in
                seen.update { $0.append(challenge) }
                return .basic(user: "a", password: challenge.attempt == 2 ? "b" : "wrong")
            }))
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes)
        #expect(seen.value.map(\.attempt) == [1, 2] && seen.value[0].url == server.url("/a"))
        #expect(seen.value[0].schemes.contains("basic") && seen.value[0].schemes.contains("bearer"))

        let never = ImageDownloader(.init(credentials: { _ in .bearer(token: "t") }))
        #expect(try await failure(never, LoadRequest(url: server.url("/a"))).statusCode == 401)
        let none = ImageDownloader(.init(credentials: { _ in nil }))
        #expect(try await failure(none, LoadRequest(url: server.url("/a"))).statusCode == 401)
        #expect(server.requestCount() == 3 + 3 + 1)
    }

    @Test("A credential doesn't follow a redirect to another origin")
    func credentialRedirect() async throws {
        let other = try await OriginServer.start { _ in OriginResponse(bytes) }
        let target = other.url("/b").absoluteString
        let server = try await OriginServer.start { request in
            request.header("Authorization") == nil
                ? OriginResponse(status: 401, headers: ["WWW-Authenticate": "Bearer"]) : .redirect(to: target)
        }
        let downloader = ImageDownloader(.init(credentials: { _ in .bearer(token: "t") }))
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes)
        #expect(other.requests[0].header("Authorization") == nil)
    }

    @Test("A decryptor changes the bytes before they are used, and its failure is typed", .capability("DLR-08"))
    func decryptor() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(Data(bytes.map { $0 ^ 1 }))])
        let downloader = ImageDownloader(.init(decryptor: { data, _ in Data(data.map { $0 ^ 1 }) }))
        let reports = Reports()
        #expect(try await downloader.load(reports.request(server.url("/a"))).data == bytes)
        #expect(
            reports.all.value.allSatisfy(\.chunk.isEmpty)
                && reports.all.value.last.map { $0.receivedBytes == $0.expectedBytes } == true)
        struct Failure: Error {}
        let failing = ImageDownloader(.init(decryptor: { _, _ in throw Failure() }))
        #expect(try await failure(failing, LoadRequest(url: server.url("/a"))).code == .badResponse)
        let empty = ImageDownloader(.init(decryptor: { _, _ in Data() }))
        #expect(try await failure(empty, LoadRequest(url: server.url("/a"))).code == .emptyBody)
    }

    @Test("An observer learns of each step", .capability("DLR-35", "DLR-42"))
    func events() async throws {
        let script = Script(.status(503), OriginResponse(bytes))
        let server = try await OriginServer.start { _ in script.next() }
        let names = Watched<[String]>([])
        let downloader = ImageDownloader(
            .init(
                retry: RetryPolicy(baseDelay: .zero),
                observer: { event in
                    let name =
                        switch event {
                        case .started(let id, _): "started \(id)"
                        case .responded(let id, let head): "responded \(id) \(head.statusCode ?? 0)"
                        case .retrying(let id, let error, _): "retrying \(id) \(error.code)"
                        case .finished(let id, let metrics, let error):
                            "finished \(id) \(metrics.attempts) \(error == nil)"
                        case .suspended: "suspended"
                        case .resumed: "resumed"
                        }
                    names.update { $0.append(name) }
                }))
        downloader.isSuspended = true
        downloader.isSuspended = false
        _ = try await downloader.load(LoadRequest(url: server.url("/a")))
        #expect(
            names.value == [
                "suspended", "resumed", "started 1", "responded 1 503", "retrying 1 badStatus", "started 1",
                "responded 1 200", "finished 1 2 true",
            ])
    }

    @Test("The result has the head of the response and the measurements", .capability("DLR-33", "DLR-34"))
    func head() async throws {
        let server = try await OriginServer.start([
            "/a": .redirect(to: "/b"), "/b": OriginResponse(bytes, type: "image/png", headers: ["X-Y": "z"]),
        ])
        let loaded = try await ImageDownloader().load(LoadRequest(url: server.url("/a")))
        #expect(loaded.headers["x-y"] == "z" && loaded.headers["Content-Length"] == "5000")
        let metrics = try #require(loaded.transfer)
        #expect(metrics.attempts == 1 && metrics.redirects == 1 && metrics.receivedBytes == 5_000)
        #expect(metrics.firstByte > .zero && metrics.backoff == .zero)
    }

    @Test("A downloader can finish its loads before it shuts down", .capability("DLR-01"))
    func finish() async throws {
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in
            try? await gate.pass()
            return OriginResponse(bytes)
        }
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 1))
        let urls = [server.url("/1"), server.url("/2")]
        let tasks = urls.map { url in Task { try await downloader.load(LoadRequest(url: url)) } }
        try await gate.waitForArrivals(1)
        while downloader.statistics.waiting < 1 { await Task.yield() }
        // Runs until it waits for the loads.
        let end = Task.immediate { await downloader.shutdown(cancelsLoads: false) }
        let late = try await failure(downloader, LoadRequest(url: server.url("/3")))
        #expect(late.code == .loadingDisallowed)
        gate.openForGood()
        for task in tasks { #expect(try await task.value.data == bytes) }
        await end.value
    }

    @Test("Requests can go to a Unix domain socket", .capability("DLC-04"))
    func unixSocket() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/s o"
        let server = try await OriginServer.start(unixSocketPath: path) { _ in OriginResponse(bytes) }
        let downloader = ImageDownloader(.init(unixSocketPath: path))
        let url = try #require(URL(string: "http://images.example/a%20b?c=d"))
        #expect(try await downloader.load(LoadRequest(url: url)).data == bytes)
        #expect(server.requests[0].target == "/a%20b?c=d" && server.requests[0].header("Host") == "images.example")
        let secure = try #require(URL(string: "https://images.example/"))
        #expect(try await failure(downloader, LoadRequest(url: secure)).code == .invalidURL)
        let guarded = ImageDownloader(.init(networkGuard: NetworkGuard(), unixSocketPath: path))
        #expect(try await failure(guarded, LoadRequest(url: url)).code == .loadingDisallowed)
    }

    @Test("The environment names the proxy of a URL", .capability("DLC-04"))
    func environment() throws {
        func proxy(_ url: String, _ environment: [String: String]) throws -> String? {
            let server = try ProxyOptions.server(for: try #require(URL(string: url)), in: environment)
            return server.map { "\($0.usesSOCKS ? "socks5" : "http") \($0.user ?? "-") \($0.host):\($0.port)" }
        }
        let both = [
            "http_proxy": "http://u:p%40@one:1", "HTTPS_PROXY": "two", "no_proxy": "a.example, .b.example,10.0.0.0/8",
        ]
        #expect(try proxy("http://x/", both) == "http u one:1")
        #expect(try proxy("https://x/", both) == "http - two:8080")
        for host in ["a.example", "c.a.example", "B.example", "c.b.example", "10.1.2.3"] {
            #expect(try proxy("http://\(host)/", both) == nil, "\(host)")
        }
        #expect(try proxy("http://nota.example/", both) != nil)
        #expect(try proxy("http://x/", ["HTTP_PROXY": "one"]) == nil)
        #expect(try proxy("http://x/", ["all_proxy": "socks5://s"]) == "socks5 - s:1080")
        #expect(try proxy("http://x/", ["http_proxy": "one", "no_proxy": "*"]) == nil)
        #expect(try proxy("http://x/", ["http_proxy": ""]) == nil)
        // A proxy that can't be used must not lead to a direct connection.
        for text in ["https://u:secret@one", "socks4://one", "socks5://me:secret@one", "http://one:99999", "://"] {
            for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
                let error = #expect(throws: ImageError.self) { try proxy("https://x/", [name: text]) }
                #expect(error?.code == .badRequest && error?.reason.contains("secret") == false)
                #expect(error?.reason.contains(name.lowercased()) == true)
            }
            #expect(try proxy("https://x/", ["https_proxy": text, "no_proxy": "x"]) == nil)
        }
        #expect(ProxyServer("socks5://me@p") == nil)
        #expect(ProxyServer("ftp://x") == nil && ProxyServer("http://x:99999") == nil && ProxyServer("") == nil)
    }

    @Test("Transfers go through a SOCKS proxy, which resolves the host", .capability("DLC-04"))
    func socks() async throws {
        let proxy = try TunnelProxy()
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let downloader = ImageDownloader(
            .init(proxy: .server(ProxyServer(host: "127.0.0.1", port: proxy.port, usesSOCKS: true))))
        let loaded = try await downloader.load(LoadRequest(url: server.url("/a", host: "images.example")))
        #expect(loaded.data == bytes && server.requestCount() == 1)
        #expect(proxy.heads.value == ["SOCKS images.example:\(server.port)"])
    }

    @Test("Transfers come from servers with addresses of version 6", .capability("DLC-04"))
    func version6() async throws {
        guard let server = try? await OriginServer.start(host: "::1", handler: { _ in OriginResponse(bytes) }) else {
            // A computer without them.
            return
        }
        let url = server.url("/a")
        #expect(try await ImageDownloader().load(LoadRequest(url: url)).data == bytes)
        #expect(server.requests[0].header("Host") == "[::1]:\(server.port)")
        let network = try #require(IPNetwork("::1"))
        let guarded = ImageDownloader(.init(networkGuard: NetworkGuard(ports: nil, allowedNetworks: [network])))
        #expect(try await guarded.load(LoadRequest(url: url)).data == bytes)
    }

    @Test("A proxy that refuses is a typed error")
    func refusingProxy() async throws {
        let proxy = try await OriginServer.start { _ in .status(403) }
        let target = try #require(URL(string: "http://images.example/a"))
        let downloader = ImageDownloader(.init(proxy: .server(ProxyServer(host: "127.0.0.1", port: proxy.port))))
        let error = try await failure(downloader, LoadRequest(url: target))
        #expect(error.code == .connectionFailed && error.reason.contains("proxy"), "\(error)")
        #expect(proxy.requests.map(\.method) == ["CONNECT"] && proxy.requests[0].target == "images.example:80")
        // With a guard, the proxy gets the checked address.
        let network = try #require(IPNetwork("127.0.0.1"))
        let guarded = ImageDownloader(
            .init(
                networkGuard: NetworkGuard(ports: nil, allowedNetworks: [network]).asking(FixedResolver()),
                proxy: .server(ProxyServer(host: "127.0.0.1", port: proxy.port))))
        _ = try await failure(guarded, LoadRequest(url: target))
        #expect(proxy.requests.last?.target == "127.0.0.1:80")
    }
}

private struct FixedResolver: HostResolving {
    func addresses(of host: String) async throws(ImageError) -> [IPAddress] {
        [IPAddress("127.0.0.1")].compactMap { $0 }
    }
}
#endif
