#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

private let anyURL = URL(string: "https://example.org/a.png")!

@Suite("Failing downloads", .timeLimited)
struct DownloadFailureTests {
    private let downloader = ImageDownloader()

    @Test(
        "A URL that can't be loaded over HTTP is refused before anything is sent", .capability("DLR-04", "ERR-01"),
        arguments: ["ftp://host/a", "file:///a", "a.png", "http://", "http:///a"])
    func invalidURL(_ text: String) async throws {
        let url = try #require(URL(string: text))
        let error = try await failure(downloader, LoadRequest(url: url))
        #expect(error.code == .invalidURL)
        #expect(error.source == text)
        #expect(downloader.statistics.started == 0 && downloader.statistics.failed == 1)
    }

    @Test(
        "A status other than success is an error with the status code", .capability("DLC-10", "ERR-06", "ERR-10"),
        arguments: [(404, "404 Not Found"), (500, "500 Internal Server Error")])
    func badStatus(_ status: Int, _ text: String) async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes, status: status) }
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badStatus && error.stage == .load)
        #expect(error.statusCode == status)
        #expect(error.reason == "HTTP \(text)")
        #expect(error.source == server.url("/a").absoluteString)
    }

    @Test("The acceptable statuses can be chosen", .capability("DLC-10"))
    func acceptableStatus() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes, status: 404) }
        let any = ImageDownloader(.init(acceptableStatusCodes: nil))
        #expect(try await any.load(LoadRequest(url: server.url("/a"))).statusCode == 404)
        let some = ImageDownloader(.init(acceptableStatusCodes: [200, 404]))
        #expect(try await some.load(LoadRequest(url: server.url("/a"))).statusCode == 404)
        let strict = ImageDownloader(.init(acceptableStatusCodes: [200, 403, 405]))
        #expect(try await failure(strict, LoadRequest(url: server.url("/a"))).code == .badStatus)
    }

    @Test("A response without an accepted media type is refused", .capability("DLC-11", "ERR-09"))
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

    @Test("A refused connection is reported as one", .capability("ERR-11"))
    func refused() async throws {
        // A port that no program of a user may have, so that no other test's server has it.
        let url = try #require(URL(string: "http://127.0.0.1:1/a"))
        let error = try await failure(downloader, LoadRequest(url: url))
        #expect(error.code == .connectionFailed)
        #expect(error.reason.contains("Connection refused"))
        #expect(error.underlying != nil)
    }

    @Test("An unknown host name is a failed connection")
    func unknownHost() async throws {
        // A label of more than 63 letters cannot be, so that no name server is asked.
        let url = try #require(URL(string: "http://\(String(repeating: "a", count: 64)).invalid/a"))
        for networkGuard in [nil, NetworkGuard()] {
            let downloader = ImageDownloader(.init(networkGuard: networkGuard))
            let error = try await failure(downloader, LoadRequest(url: url))
            #expect(error.code == .connectionFailed)
            #expect(error.reason.hasPrefix("no address was found for the host name"), "\(error)")
        }
    }

    @Test("The error of a proxy that can't be reached says so", .capability("DLC-04"), arguments: ["http", "socks5"])
    func missingProxy(scheme: String) async throws {
        let long = String(repeating: "a", count: 64)
        for (proxy, reason) in [
            ("127.0.0.1:1", "the connection to the proxy failed: Connection refused"),
            ("\(long).invalid:1", "no address was found for the host name of the proxy"),
        ] {
            let server = try #require(ProxyServer("\(scheme)://\(proxy)"))
            let downloader = ImageDownloader(.init(proxy: .server(server)))
            let url = try #require(URL(string: "http://a.invalid/a"))
            #expect(try await failure(downloader, LoadRequest(url: url)).reason == reason)
        }
    }

    @Test("A server that does not speak TLS is a failed connection")
    func noTLS() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/a"))
        #expect(try await failure(downloader, LoadRequest(url: url)).code == .connectionFailed)
    }

    @Test("A connection that breaks in the middle is reported with the bytes that arrived")
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

    @Test("A new connection that closes without a response is lost")
    func vanishing() async throws {
        let server = try await OriginServer.start { _ in .vanishing }
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .connectionLost)
        #expect(server.requestCount() == 1)
    }

    @Test("A body with fewer bytes than announced is incomplete", .capability("3.8"))
    func incomplete() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).announcing(contentLength: 9_000)])
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .incompleteBody)
        #expect(error.reason == "only 5000 of 9000 bytes arrived")
    }

    @Test("A chunked body that does not end is an error")
    func incompleteChunks() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).chunked().close(after: 100)])
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .connectionLost)
    }

    @Test("Bytes beyond the announced length are not part of the body")
    func surplus() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).announcing(contentLength: 1_000)])
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes.prefix(1_000))
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes.prefix(1_000))
    }

    @Test("A false announcement of an enormous length takes no memory")
    func enormousLength() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).announcing(contentLength: 1 << 50)])
        let open = ImageDownloader(.init(maximumBytes: .unlimited))
        #expect(try await failure(open, LoadRequest(url: server.url("/a"))).code == .incompleteBody)
    }

    @Test("An empty body is an error", .capability("DLR-30"), arguments: [200, 204])
    func empty(_ status: Int) async throws {
        let server = try await OriginServer.start { _ in .status(status) }
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .emptyBody)
    }

    @Test("A body larger than the limit is refused, whether it is announced or not")
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

    @Test("A response that is not HTTP is an error")
    func nonsense() async throws {
        var response = OriginResponse(Data("SSH-2.0-OpenSSH_9\r\n".utf8))
        response.sendsHead = false
        response.steps.append(.close)
        let server = try await OriginServer.start { [response] _ in response }
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .badResponse)
    }

    @Test("A cached image that is still current is reported as not modified", .capability("DLR-23", "ERR-03", "D3"))
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

    @Test("A 304 without validators in the request is a bad status", .capability("DLR-23"))
    func unaskedNotModified() async throws {
        let server = try await OriginServer.start { _ in .status(304) }
        for statuses in [nil, [200, 304], [200]] as [Set<Int>?] {
            let downloader = ImageDownloader(.init(acceptableStatusCodes: statuses))
            let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
            #expect(error.code == .badStatus && error.statusCode == 304)
        }
    }

    @Test("A header field that would break the request is refused")
    func badHeader() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        for fields in [["X": "a\r\nHost: evil"], ["X Y": "a"], ["": "a"]] {
            let request = LoadRequest(url: server.url("/a"), headers: fields)
            #expect(try await failure(downloader, request).code == .badRequest)
        }
        #expect(server.requestCount() == 0)
    }

    @Test("The error of a header field that is refused doesn't have its value, which may be secret")
    func badSecret() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        let request = LoadRequest(url: server.url("/a"), headers: ["Authorization": "Bearer s3cr3t\n"])
        let error = try await failure(downloader, request)
        #expect(error.code == .badRequest && server.requestCount() == 0)
        for text in ["\(error)", String(reflecting: error), String(describing: error.underlying)] {
            #expect(!text.contains("s3cr3t"), "\(text)")
        }
    }

    @Test(
        "A failure that another attempt would repeat is remembered", .capability("DLR-22", "MGR-38"),
        arguments: [
            ImageError.Code.invalidURL, .badRedirect, .badContentType, .bodyTooLarge, .emptyBody, .unknownFormat,
            .corruptImage, .truncatedImage,
        ])
    func permanent(_ code: ImageError.Code) {
        #expect(downloader.shouldRememberFailure(ImageError(code, stage: .load, reason: ""), of: anyURL))
    }

    @Test(
        "A failure that may pass is not remembered", .capability("DLR-22", "MGR-38"),
        arguments: [
            ImageError.Code.loadingDisallowed, .recentlyFailed, .cancelled, .notCached, .cacheUnavailable,
            .cacheWriteFailed, .connectionFailed, .connectionLost, .timedOut, .badResponse, .badRequest,
            .incompleteBody, .fileUnreadable, .formatNotEnabled,
            .limitExceeded, .overBudget, .outOfMemory, .notAnimated, .transformFailed, .encodeFailed,
            .formatNotEncodable, .badStatus,
        ])
    func temporary(_ code: ImageError.Code) {
        #expect(!downloader.shouldRememberFailure(ImageError(code, stage: .load, reason: ""), of: anyURL))
    }

    @Test("The statuses 400 to 499 except 408, 425, and 429 are remembered", .capability("DLR-22", "MGR-38"))
    func rememberedStatuses() {
        let remembered = (100..<600).filter { status in
            downloader.shouldRememberFailure(
                ImageError(.badStatus, stage: .load, reason: "", statusCode: status), of: anyURL)
        }
        #expect(remembered == (400..<500).filter { ![408, 425, 429].contains($0) })
    }
}
#endif
