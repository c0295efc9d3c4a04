#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// Servers that try to end the program, to fill its memory, or to keep it busy forever.
@Suite("Hostile servers", .timeLimited)
struct HostileServerTests {
    private let downloader = ImageDownloader()

    /// An answer that is sent as it is, in pieces, before the connection is closed.
    private static func raw(_ pieces: [Data]) -> OriginResponse {
        var response = OriginResponse()
        response.sendsHead = false
        response.steps = pieces.map { .bytes($0) } + [.close]
        return response
    }

    private static func raw(_ text: String) -> OriginResponse { raw([Data(text.utf8)]) }

    @Test("A port that doesn't exist is an error, in a URL and in a redirect", arguments: [65_536, 99_999, 1 << 40])
    func port(_ port: Int) async throws {
        let address = "http://127.0.0.1:\(port)/"
        let url = try #require(URL(string: address))
        #expect(try await failure(downloader, LoadRequest(url: url)).code == .invalidURL)
        let server = try await OriginServer.start(["/a": .redirect(to: address)])
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .badRedirect)
        let modified = ImageDownloader(.init(requestModifier: { $0.url = url }))
        #expect(try await failure(modified, LoadRequest(url: server.url("/a"))).code == .invalidURL)
    }

    @Test(
        "A body with many bytes around each of its own is an error, and one of tiny chunks is not", .capability("3.10")
    )
    func chunkExtensions() async throws {
        let head = Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        let padded = Data("1;a=\(String(repeating: "x", count: 16_000))\r\nb\r\n".utf8)
        let tiny = Data(String(repeating: "1\r\nb\r\n", count: 100_000).utf8)
        let server = try await OriginServer.start { request in
            request.path == "/tiny"
                ? Self.raw([head, tiny, Data("0\r\n\r\n".utf8)])
                : Self.raw([head] + Array(repeating: padded, count: 500))
        }
        // No time limit ends it.
        let downloader = ImageDownloader(.init(timeout: .seconds(3_600), minimumSpeed: nil))
        let error = try await failure(downloader, LoadRequest(url: server.url("/padded")))
        #expect(error.code == .badResponse, "\(error)")
        #expect(try await downloader.load(LoadRequest(url: server.url("/tiny"))).data.count == 100_000)
    }

    @Test("A status below 100 is an error, with or without a body", arguments: ["000", "001", "099"])
    func status(_ status: String) async throws {
        for end in ["Content-Length: 2\r\n\r\nhi", "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "\r\n"] {
            let server = try await OriginServer.start { _ in Self.raw("HTTP/1.1 \(status) X\r\n\(end)") }
            #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .badResponse)
        }
    }

    @Test("A refused connection is reported in words, even if the host has several addresses")
    func severalAddresses() async throws {
        let url = try #require(URL(string: "http://localhost:1/"))
        let error = try await failure(downloader, LoadRequest(url: url))
        #expect(error.code == .connectionFailed && error.reason == "the connection failed: Connection refused")
    }

    @Test("Informational responses before the response are skipped")
    func informational() async throws {
        let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 20)
        let text = "HTTP/1.1 100 Continue\r\n\r\n" + hints + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        let server = try await OriginServer.start { _ in Self.raw(text) }
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == Data("hi".utf8))
    }

    @Test("A change of the protocol that nobody asked for is an error, whatever follows")
    func switchedProtocol() async throws {
        // On a clock that stands still: a loaded machine may need long for a head that comes byte by byte.
        let downloader = ImageDownloader(clock: ManualClock())
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        for fields in ["", "Upgrade: h2c\r\nConnection: upgrade\r\n", "Content-Length: 2\r\n"] {
            for rest in ["", "hi", response] {
                let text = "HTTP/1.1 101 Switching Protocols\r\n\(fields)\r\n\(rest)"
                for pieces in [[Data(text.utf8)], text.utf8.map { Data([$0]) }] {
                    let server = try await OriginServer.start { _ in Self.raw(pieces) }
                    let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
                    #expect([.badStatus, .badResponse, .connectionLost].contains(error.code), "\(error)")
                }
            }
        }
    }

    @Test("A head without end is an error, whichever part of it is long")
    func endlessHead() async throws {
        let long = String(repeating: "a", count: 2_000_000)
        let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        let heads = [
            "HTTP/1.1 200 \(long)\r\n", "HTTP/1.1 200 OK\r\nX: \(long)\r\n", "HTTP/1.1 200 OK\r\n\(long): 1\r\n",
            "HTTP/1.1 200 OK\r\n" + String(repeating: "X: a\r\n", count: 300_000),
            String(repeating: hint, count: 50_000),
        ]
        for head in heads {
            let server = try await OriginServer.start { _ in
                Self.raw(head + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            }
            let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
            #expect(error.code == .badResponse, "\(head.prefix(40))")
        }
    }

    @Test("A response that nobody asked for doesn't disturb the next one")
    func unsolicited() async throws {
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        var answer = Self.raw(response + response)
        answer.steps.removeLast()
        let server = try await OriginServer.start { [answer] _ in answer }
        for _ in 0..<5 {
            #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == Data("hi".utf8))
        }
    }

    @Test("Compressed bytes that expand to nothing, or follow the end, are limited too")
    func compressedNothing() async throws {
        let head = Data("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".utf8)
        let start = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])
        // A stored block of no bytes (RFC 1951, section 3.2.4), and an empty last block.
        let blocks = Data((0..<50_000).flatMap { _ in [0, 0, 0, 0xFF, 0xFF] as [UInt8] })
        let member = start + Data([3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        let small = ImageDownloader(.init(maximumBytes: .kilobytes(100)))
        for beginning in [start, member] {
            let pieces = [head, beginning] + Array(repeating: blocks, count: 8)
            let server = try await OriginServer.start { _ in Self.raw(pieces) }
            #expect(try await failure(small, LoadRequest(url: server.url("/a"))).code == .bodyTooLarge)
        }
    }

    @Test("An error quotes only the beginning of a header field")
    func longFields() async throws {
        let long = String(repeating: "x", count: 50_000)
        let server = try await OriginServer.start([
            "/type": OriginResponse(bytes, type: long),
            "/encoding": OriginResponse(bytes, headers: ["Content-Encoding": "compress, " + long]),
            "/location": .redirect(to: "ftp://127.0.0.1/" + long), "/circle": .redirect(to: "/circle?" + long),
        ])
        let strict = ImageDownloader(.init(acceptableContentTypes: ["image/png"]))
        for (path, downloader) in [
            ("/type", strict), ("/encoding", self.downloader), ("/location", self.downloader),
            ("/circle", self.downloader),
        ] {
            let error = try await failure(downloader, LoadRequest(url: server.url(path)))
            #expect("\(error)".utf8.count < 1_000, "\(path)")
        }
    }

    @Test("No error shows the secrets in a long query or in a fragment of a location")
    func secrets() async throws {
        let padding = String(repeating: "x", count: 3_000)
        for location in [
            "ftp://127.0.0.1/?token=secret\(padding)", "ftp://127.0.0.1/#token=secret",
            "ftp://127.0.0.1/a?b#token=secret",
            "http://127.0.0.1:1/?token=secret\(padding)", "http://127.0.0.1:1/#token=secret", "//user:secret@",
        ] {
            let server = try await OriginServer.start(["/a": .redirect(to: location)])
            let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
            #expect(!"\(error)".contains("secret"), "\(error)")
        }
    }

    @Test("Connections to many servers don't use up the descriptors of the process")
    func manyServers() async throws {
        var servers: [OriginServer] = []
        for _ in 0..<101 { servers.append(try await OriginServer.start(["/a": OriginResponse(bytes)])) }
        for server in servers {
            #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes)
        }
        for server in servers.dropLast() { try await server.waitForOpenConnections(atMost: 0) }
        #expect(servers.last?.openConnections == 1)
    }

    @Test("A transfer continues when its client is replaced")
    func replacedClient() async throws {
        let gate = OriginGate()
        // The first transfer is silent for as long as the others take.
        let downloader = ImageDownloader(.init(timeout: .seconds(600)))
        let slow = try await OriginServer.start(["/a": OriginResponse(chunks: [bytes, bytes], gate: gate)])
        let request = LoadRequest(url: slow.url("/a"))
        async let loaded = downloader.load(request)
        try await gate.waitForArrivals(1)
        for _ in 0..<101 {
            let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
            #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes)
        }
        gate.openForGood()
        #expect(try await loaded.data == bytes + bytes)
    }

    @Test("Shutting down a suspended downloader ends the loads that wait")
    func shutdownWhileSuspended() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        downloader.isSuspended = true
        let request = LoadRequest(url: server.url("/a"))
        let waiting = Task { [downloader] in try await failure(downloader, request) }
        while downloader.statistics.waiting == 0 { await Task.yield() }
        await downloader.shutdown()
        #expect(try await waiting.value.code == .cancelled)
        #expect(try await failure(downloader, request).code == .loadingDisallowed)
    }
}
#endif
