#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeLoading
@testable import TintypeHTTP

@Suite("Targets of requests", .timeLimited)
struct RequestTargetTests {
    private let downloader = ImageDownloader()

    private static func server() async throws -> OriginServer {
        try await OriginServer.start { _ in OriginResponse(bytes) }
    }

    @Test("A URL goes out as it came in, and characters that must be encoded are encoded alone")
    func written() async throws {
        #expect(requestTargets.count >= 100)
        let server = try await Self.server()
        for (text, _) in requestTargets {
            let request = try ImageRequest(string: "http://127.0.0.1:\(server.port)\(text)")
            _ = try await downloader.load(LoadRequest(url: request.url))
        }
        for (request, row) in zip(server.requests, requestTargets) {
            #expect(request.target == row.target, "\(row.written)")
        }
        #expect(server.requestCount() == requestTargets.count)
        #expect(server.requests.allSatisfy { $0.header("Tintype-Request-Target") == nil })
    }

    @Test("So does the location of a redirect")
    func redirected() async throws {
        let server = try await OriginServer.start { request in
            guard let number = request.header("Number").flatMap({ Int($0) }), request.path == "/from" else {
                return OriginResponse(bytes)
            }
            return .redirect(to: "http://\(request.header("Host") ?? "")\(requestTargets[number].written)")
        }
        for index in requestTargets.indices {
            _ = try await downloader.load(LoadRequest(url: server.url("/from"), headers: ["Number": "\(index)"]))
        }
        let targets = server.requests.map(\.target).filter { $0 != "/from" }
        #expect(targets == requestTargets.map(\.target))
    }

    @Test(
        "A relative location is resolved without a change of its escapes",
        arguments: [
            ("Stra%DFe.png", "/dir/%E4/Stra%DFe.png"), ("../%DF.png", "/dir/%DF.png"),
            ("/%DF[1].png", "/%DF%5B1%5D.png"),
            ("?%DF%20[]", "/dir/%E4/a?%DF%20%5B%5D"), ("b%20[1].png?u=%3A", "/dir/%E4/b%20%5B1%5D.png?u=%3A"),
            ("./%2e%2E/%E4ü", "/dir/%E4/%2e%2E/%E4%C3%BC"), ("%E4/../b", "/dir/%E4/b"),
        ])
    func relative(_ location: String, _ target: String) async throws {
        let server = try await OriginServer.start { request in
            request.target == "/dir/%E4/a" ? .redirect(to: location) : OriginResponse(bytes)
        }
        let loaded = try await downloader.load(LoadRequest(url: server.url("/dir/%E4/a")))
        #expect(server.requests.last?.target == target)
        #expect(loaded.url.absoluteString.hasSuffix(target))
    }

    @Test(
        "The bytes of a location that isn't UTF-8 are asked for as they are", .capability("DLR-30"),
        arguments: [[], [70], Array(1...110)])
    func rawLocation(_ cuts: [Int]) async throws {
        let server = try await OriginServer.start { request in
            guard request.path == "/" else { return OriginResponse(bytes) }
            let early = "HTTP/1.1 103 Early Hints\r\nLocation: /no\r\n\r\nHTTP/1.1 302 Found\r\n"
            // Latin-1, UTF-8, characters to encode, and U+FFFD itself.
            let name = Data("LOCATION: \t/f".utf8) + [0xFC] + Data("ü%20[1]?".utf8) + [0xDF, 0xEF, 0xBF, 0xBD]
            let answer = Data(early.utf8) + name + Data(" \r\nContent-Length: 0\r\n\r\n".utf8)
            var response = OriginResponse()
            response.sendsHead = false
            response.steps = zip([0] + cuts, cuts + [answer.count]).map { .bytes(answer[$0..<$1]) }
            return response
        }
        let loaded = try await downloader.load(LoadRequest(url: server.url("/")))
        #expect(loaded.data == bytes)
        #expect(server.requests.map(\.target) == ["/", "/f%FC%C3%BC%20%5B1%5D?%DF%EF%BF%BD"])
    }

    @Test("An escape that isn't UTF-8 reaches the server over HTTP/2 and a Unix domain socket, too")
    func otherConnections() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/s"
        let socket = try await OriginServer.start(unixSocketPath: path) { _ in OriginResponse(bytes) }
        let local = ImageDownloader(.init(unixSocketPath: path))
        _ = try await local.load(LoadRequest(url: ImageRequest(string: "http://h/Stra%DFe.png?%E4").url))
        #expect(socket.requests.map(\.target) == ["/Stra%DFe.png?%E4"])

        let certificates = try Certificates.shared.get()
        var tls = certificates.good
        tls.speaksHTTP2 = true
        var trusting = TLSOptions()
        trusting.trustRoots = Data(certificates.root.utf8)
        let secure = try await OriginServer.start(tls: tls) { _ in OriginResponse(bytes) }
        let modern = ImageDownloader(.init(tls: trusting, usesHTTP2: true))
        for path in ["/Stra%DFe.png?%E4", "/a%20b.png", "/%E4/"] {
            let loaded = try await modern.load(LoadRequest(url: secure.url(path, host: "localhost")))
            #expect(loaded.networkProtocol?.hasPrefix("HTTP/2") == true)
        }
        #expect(secure.requests.map(\.target) == ["/Stra%DFe.png?%E4", "/a%20b.png", "/%E4/"])
        #expect(secure.requests.allSatisfy { $0.header("Tintype-Request-Target") == nil })
    }

    @Test("A program can't choose another target than that of the URL")
    func forged() async throws {
        let server = try await Self.server()
        let headers = ["tintype-request-target": "/secret"]
        for path in ["/a", "/%DF"] {
            _ = try await downloader.load(LoadRequest(url: server.url(path), headers: headers))
        }
        #expect(server.requests.map(\.target) == ["/a", "/%DF"])
    }

    private static let hasCurl = (try? run(["curl", "--version"])) != nil

    @Test("The targets are those of curl", .enabled(if: hasCurl))
    func curl() async throws {
        let server = try await Self.server()
        // curl doesn't encode letters in queries, and the server refuses what isn't ASCII.
        let rows = requestTargets.filter { $0.written.drop { $0 != "?" }.utf8.allSatisfy { $0 < 0x80 } }
        let urls = rows.map { "http://127.0.0.1:\(server.port)\($0.written)" }
        // On a thread of its own: curl is served by the threads of Swift's concurrency.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        _ = try run(
                            ["curl", "--silent", "--noproxy", "*", "--globoff", "--path-as-is", "--max-time", "30"]
                                + urls)
                    })
            }
        }
        #expect(urls.count >= 100 && server.requestCount() == urls.count)
        for (request, row) in zip(server.requests, rows) {
            #expect(Self.comparable(request.target) == Self.comparable(row.target), "\(row.written)")
        }
    }

    /// A target in which every byte that isn't plain is an escape in lowercase, and no escape is touched otherwise.
    private static func comparable(_ target: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/?".utf8)
        let bytes = Array(target.utf8)
        return bytes.indices.map { index in
            let isEscape =
                bytes[index] == 0x25
                && bytes.dropFirst(index + 1).prefix(2).count { Character(Unicode.Scalar($0)).isHexDigit } == 2
            return isEscape || plain.contains(bytes[index])
                ? String(Unicode.Scalar(bytes[index])) : "%" + String(bytes[index], radix: 16)
        }.joined().lowercased()
    }
}
#endif
