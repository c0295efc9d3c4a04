#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

@Suite("HTTP/2 and tunnels", .timeLimited)
struct HTTP2Tests {
    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared.get() }

    private var trusting: TLSOptions {
        var tls = TLSOptions()
        tls.trustRoots = Data(certificates.root.utf8)
        return tls
    }

    private func server(_ handler: @escaping OriginServer.Handler) async throws -> OriginServer {
        var tls = certificates.good
        tls.speaksHTTP2 = true
        return try await OriginServer.start(tls: tls, handler: handler)
    }

    @Test("Transfers from a server with HTTP/2 share one connection", .capability("3.10"))
    func multiplexed() async throws {
        let gate = OriginGate()
        let server = try await server { request in
            OriginResponse(chunks: [Data(request.path.utf8), bytes], gate: gate, type: "image/png")
        }
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 20, tls: trusting, usesHTTP2: true))
        let urls = (0..<20).map { server.url("/\($0)", host: "localhost") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for url in urls {
                group.addTask {
                    let loaded = try await downloader.load(LoadRequest(url: url))
                    #expect(loaded.data == Data(url.path.utf8) + bytes)
                    #expect(loaded.networkProtocol?.hasPrefix("HTTP/2") == true && loaded.mimeType == "image/png")
                }
            }
            // All of them are under way at once.
            try await server.waitForRequests(20)
            gate.openForGood()
            try await group.waitForAll()
        }
        #expect(server.acceptedConnections <= 2)
    }

    @Test("Statuses, redirects, urgency, and bodies without a length are those of HTTP/1.1")
    func semantics() async throws {
        let server = try await server { request in
            switch request.path {
            case "/moved": .redirect(to: "/image")
            case "/missing": .status(404)
            case "/long": OriginResponse(bytes).chunked()
            default: OriginResponse(bytes, headers: ["ETag": "\"1\""])
            }
        }
        let downloader = ImageDownloader(.init(tls: trusting, usesHTTP2: true))
        func url(_ path: String) -> URL { server.url(path, host: "localhost") }
        let moved = try await downloader.load(LoadRequest(url: url("/moved"), priority: WorkPriority(.high)))
        #expect(moved.data == bytes && moved.url == url("/image") && moved.validators?.entityTag == "\"1\"")
        #expect(server.requests.last?.header("priority") == "u=2")
        #expect(try await downloader.load(LoadRequest(url: url("/long"))).data == bytes)
        #expect(try await failure(downloader, LoadRequest(url: url("/missing"))).statusCode == 404)
    }

    @Test(
        "A connection that the server resets or closes ends its transfers, and the next one has another connection",
        arguments: [true, false])
    func brokenConnection(isReset: Bool) async throws {
        let gate = OriginGate()
        let server = try await server { request in
            let response = OriginResponse(bytes)
            guard request.path != "/a" else { return response }
            guard request.path == "/broken" else { return response.silence(after: 1_000) }
            return isReset ? response.reset(after: 1_000, gate: gate) : response.close(after: 1_000, gate: gate)
        }
        // On a clock that stands still, on which no transfer is too slow.
        let downloader = ImageDownloader(
            .init(timeout: .seconds(60), tls: trusting, usesHTTP2: true), clock: ManualClock())
        let (broken, other) = (Reports(), Reports())
        let requests = [
            broken.request(server.url("/broken", host: "localhost")),
            other.request(server.url("/other", host: "localhost")),
        ]
        let first = Task { try await failure(downloader, requests[0]) }
        try await broken.waitForBytes(1_000)
        let second = Task { try await failure(downloader, requests[1]) }
        try await other.waitForBytes(1_000)
        #expect(server.acceptedConnections == 1)
        gate.open()
        for load in [first, second] {
            let error = try await load.value
            #expect([.connectionLost, .incompleteBody].contains(error.code), "\(error)")
        }
        #expect(try await downloader.load(LoadRequest(url: server.url("/a", host: "localhost"))).data == bytes)
        #expect(server.acceptedConnections == 2)
    }

    @Test(
        "A stream that the server resets is a typed error, with any code and at any place",
        arguments: [0x0, 0x1, 0x2, 0x7, 0x8, 0xB, 0xFF], [0, 1_000])
    func resetStream(code: Int, count: Int) async throws {
        let server = try await server { request in
            guard request.path == "/broken" else { return OriginResponse(bytes) }
            var response = OriginResponse().announcing(contentLength: bytes.count)
            response.steps = [.bytes(bytes.prefix(count)), .resetStream(code: code)]
            return response
        }
        let downloader = ImageDownloader(.init(timeout: .seconds(60), tls: trusting, usesHTTP2: true))
        let error = try await failure(downloader, LoadRequest(url: server.url("/broken", host: "localhost")))
        #expect([.connectionLost, .incompleteBody].contains(error.code), "\(error)")
        // The connection goes on.
        #expect(try await downloader.load(LoadRequest(url: server.url("/a", host: "localhost"))).data == bytes)
        #expect(server.acceptedConnections == 1)
    }

    @Test("A transfer continues after an orderly GOAWAY, and the next one has another connection")
    func goAway() async throws {
        let server = try await server { request in
            var response = OriginResponse(bytes)
            if request.path == "/last" {
                response.steps = [
                    .bytes(bytes.prefix(1_000)), .goAway(code: 0, isAnswered: true), .bytes(bytes.dropFirst(1_000)),
                ]
                response = response.announcing(contentLength: bytes.count)
            }
            return response
        }
        let downloader = ImageDownloader(.init(timeout: .seconds(60), tls: trusting, usesHTTP2: true))
        for _ in 1...3 {
            #expect(try await downloader.load(LoadRequest(url: server.url("/last", host: "localhost"))).data == bytes)
        }
        #expect(server.acceptedConnections == 3)
    }

    @Test(
        "A GOAWAY that ends a transfer is a typed error, and a repetition gets the image by another connection",
        arguments: [0x0, 0x1, 0x2, 0xB])
    func goAwayWithoutAnswer(code: Int) async throws {
        let first = Watched(true)
        let server = try await server { _ in
            let isFirst = first.update { first in
                defer { first = false }
                return first
            }
            var response = OriginResponse(bytes, headers: ["ETag": "\"1\""])
            if isFirst {
                response.steps = [.bytes(bytes.prefix(1_000)), .goAway(code: code, isAnswered: false), .close]
                response = response.announcing(contentLength: bytes.count)
            }
            return response
        }
        let downloader = ImageDownloader(
            .init(timeout: .seconds(60), resumesTransfers: false, tls: trusting, usesHTTP2: true))
        let url = server.url("/a", host: "localhost")
        let error = try await failure(downloader, LoadRequest(url: url))
        #expect([.connectionLost, .incompleteBody].contains(error.code), "\(error)")
        #expect(RetryPolicy.isTransient(error))
        first.update { $0 = true }
        let patient = ImageDownloader(
            .init(timeout: .seconds(60), retry: RetryPolicy(baseDelay: .zero), tls: trusting, usesHTTP2: true))
        #expect(try await patient.load(LoadRequest(url: url)).data == bytes)
    }

    @Test("Informational responses are skipped, and a change of the protocol is an error", arguments: [103, 101])
    func informational(status: Int) async throws {
        let server = try await server { _ in
            var response = OriginResponse(bytes)
            response.informational = [103, status]
            return response
        }
        let downloader = ImageDownloader(.init(timeout: .seconds(60), tls: trusting, usesHTTP2: true))
        let request = LoadRequest(url: server.url("/a", host: "localhost"))
        if status == 101 {
            #expect(try await failure(downloader, request).code == .badResponse)
        } else {
            #expect(try await downloader.load(request).data == bytes)
        }
    }

    @Test("Cancellations and streams that break end every load once, and the connection goes on")
    func races() async throws {
        let server = try await server { request in
            guard request.path.hasSuffix("7") else { return OriginResponse(bytes) }
            var response = OriginResponse(bytes).announcing(contentLength: bytes.count)
            response.steps = [.bytes(bytes.prefix(100)), .resetStream(code: 2)]
            return response
        }
        let downloader = ImageDownloader(
            .init(maximumConcurrentDownloads: 20, timeout: .seconds(60), tls: trusting, usesHTTP2: true))
        let count = 500
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let url = server.url("/\(number)", host: "localhost")
                let load = Task { () -> ImageError.Code? in
                    do throws(ImageError) {
                        #expect(try await downloader.load(LoadRequest(url: url)).data == bytes)
                        return nil
                    } catch {
                        return error.code
                    }
                }
                group.addTask {
                    for _ in 0..<number % 61 { await Task.yield() }
                    if number % 3 == 0 { load.cancel() }
                    let code = await load.value
                    if number % 3 != 0 {
                        #expect((number % 10 == 7) == (code != nil) && code != .cancelled, "\(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
        let totals = downloader.statistics
        #expect(totals.succeeded + totals.cancelled + totals.failed == count)
        #expect(totals.active == 0 && totals.waiting == 0)
        let url = server.url("/0", host: "localhost")
        #expect(try await downloader.load(LoadRequest(url: url)).data == bytes)
    }

    @Test(
        "A connection that breaks the rules ends its transfers at once, and the next one has another connection",
        arguments: [
            // Data of no stream, a wrong size of settings, and a window that overflows.
            [0, 0, 1, 0, 0, 0, 0, 0, 0, 97], [0, 0, 1, 4, 0, 0, 0, 0, 0, 1],
            [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]])
    func brokenRules(frames: [UInt8]) async throws {
        let server = try await server { request in
            var response = OriginResponse(bytes).announcing(contentLength: bytes.count)
            if request.path == "/broken" {
                response.steps = [.bytes(bytes.prefix(1_000)), .frames(Data(frames)), .silence]
            }
            return response
        }
        // Without an end of the connection, the transfer would wait for this limit.
        let downloader = ImageDownloader(
            .init(timeout: .seconds(3_600), resumesTransfers: false, tls: trusting, usesHTTP2: true))
        for _ in 0..<2 {
            let error = try await failure(downloader, LoadRequest(url: server.url("/broken", host: "localhost")))
            #expect([.connectionLost, .incompleteBody].contains(error.code), "\(error)")
            #expect(try await downloader.load(LoadRequest(url: server.url("/a", host: "localhost"))).data == bytes)
        }
        #expect(server.acceptedConnections == 3)
    }

    @Test("A server that agrees to HTTP/2 and falls silent holds up neither a load nor the shutdown")
    func silent() async throws {
        var tls = certificates.good
        tls.isSilent = true
        let server = try await OriginServer.start(tls: tls) { _ in OriginResponse(bytes) }
        let clock = ManualClock()
        let downloader = ImageDownloader(.init(timeout: .seconds(15), tls: trusting, usesHTTP2: true), clock: clock)
        let request = LoadRequest(url: server.url("/a", host: "localhost"))
        let load = Task { try await failure(downloader, request) }
        try await clock.waitForSleepers(1)
        while server.acceptedConnections == 0 { await Task.yield() }
        clock.advance(by: .seconds(15))
        #expect(try await load.value.code == .timedOut)
        let shutdown = Task { await downloader.shutdown() }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(20))
        await shutdown.value
    }

    @Test("Servers are asked for HTTP/2 only where the configuration says so")
    func without() async throws {
        #expect(!ImageDownloader.Configuration().usesHTTP2 && !ImageDownloader.Configuration.untrustedURLs.usesHTTP2)
        let server = try await server { _ in OriginResponse(bytes) }
        let downloader = ImageDownloader(.init(tls: trusting))
        let request = LoadRequest(url: server.url("/a", host: "localhost"))
        // The server speaks nothing else, and answers with what is no HTTP/1.1.
        _ = try await failure(downloader, request)
        #expect(server.requests.isEmpty)
        let plain = try await OriginServer.start(tls: certificates.good) { _ in OriginResponse(bytes) }
        let loaded = try await downloader.load(LoadRequest(url: plain.url("/a", host: "localhost")))
        #expect(loaded.data == bytes && loaded.networkProtocol == "HTTP/1.1")
    }

    @Test(
        "A length that is no length is a lost connection, in words",
        arguments: ["-5", "0x4", "99999999999999999999"])
    func invalidLength(_ length: String) async throws {
        let server = try await server { _ in OriginResponse(bytes).chunked().header("content-length", length) }
        let downloader = ImageDownloader(.init(timeout: .seconds(60), tls: trusting, usesHTTP2: true))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a", host: "localhost")))
        #expect(error.code == .connectionLost)
        #expect(error.reason == "the HTTP/2 stream was closed with the error code 1 before the response")
    }

    @Test("A body that isn't as long as announced is an error", arguments: [0, 100, 10_000])
    func lyingLength(announced: Int) async throws {
        let server = try await server { _ in OriginResponse(bytes).announcing(contentLength: announced) }
        let downloader = ImageDownloader(.init(timeout: .seconds(60), tls: trusting, usesHTTP2: true))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a", host: "localhost")))
        #expect([.connectionLost, .incompleteBody, .badResponse].contains(error.code), "\(error)")
    }

    @Test("An https URL goes through the tunnel of a proxy, and the proxy sees only the host", .capability("DLC-04"))
    func tunnel() async throws {
        let server = try await OriginServer.start(tls: certificates.good) { _ in OriginResponse(bytes) }
        let proxy = try TunnelProxy()
        var address = ProxyServer(host: "127.0.0.1", port: proxy.port)
        (address.user, address.password) = ("me", "pass")
        let downloader = ImageDownloader(.init(tls: trusting, proxy: .server(address), usesHTTP2: true))
        let url = server.url("/secret?token=1", host: "localhost")
        #expect(try await downloader.load(LoadRequest(url: url)).data == bytes)
        let head = try #require(proxy.heads.value.first)
        #expect(head.hasPrefix("CONNECT localhost:\(server.port) HTTP/1.1\r\n") && !head.contains("secret"))
        #expect(head.lowercased().contains("proxy-authorization: basic bwu6cgfzcw=="))
        #expect(server.requests.map(\.path) == ["/secret"] && server.requests[0].header("Proxy-Authorization") == nil)
    }
}
#endif
