#if HTTP
import Foundation
import Glibc
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// Servers that answer before the body of the request has arrived, and what follows a body.
@Suite("Early answers and trailers", .timeLimited)
struct EarlyAnswerTests {
    private static let upload = Data(repeating: 7, count: 10_000_000)

    /// What the server does after its answer.
    enum End: CaseIterable { case closes, ignores, drains }

    @Test("An answer before the end of the request's body is the answer", arguments: End.allCases, [200, 413])
    func early(_ end: End, _ status: Int) async throws {
        let server = try HastyServer(status: status, end: end)
        let downloader = ImageDownloader(.init(timeout: end == .ignores ? .seconds(10) : .seconds(30)))
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/a"))
        let request = LoadRequest(url: url, method: "POST", body: Self.upload)
        do throws(ImageError) {
            let loaded = try await downloader.load(request)
            #expect(status == 200 && loaded.data == Data("hi".utf8))
        } catch {
            // A server that closes its connection in the middle may take its own answer back: the system discards what was not read.
            let isLost = end != .drains && [.connectionLost, .timedOut].contains(error.code)
            #expect(error.statusCode == status && status == 413 || isLost, "\(end) \(error)")
        }
        #expect(downloader.statistics.active == 0)
        let next = try await OriginServer.start { _ in OriginResponse(bytes) }
        #expect(try await downloader.load(LoadRequest(url: next.url("/"))).data == bytes)
    }

    @Test("A server that never reads the body ends the load by its limit of time")
    func neverReads() async throws {
        let port = try RawListener()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.port)/a"))
        let impatient = ImageDownloader(.init(timeout: .milliseconds(200)))
        let error = try await failure(impatient, LoadRequest(url: url, method: "POST", body: Self.upload))
        #expect(error.code == .timedOut)
        await impatient.shutdown()
    }

    @Test("Trailers are no part of the response", arguments: [1, 10])
    func trailers(_ count: Int) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"
        let fields = ["ETag: \"evil\"", "Content-Type: text/html", "Set-Cookie: a=1"]
        let trailers = (0..<count).flatMap { _ in fields }.joined(separator: "\r\n")
        var response = OriginResponse(Data((head + trailers + "\r\n\r\n").utf8))
        response.sendsHead = false
        let server = try await OriginServer.start { [response] _ in response }
        let cookies = SessionCookies()
        let downloader = ImageDownloader(.init(cookies: cookies))
        for _ in 0..<2 {
            let loaded = try await downloader.load(LoadRequest(url: server.url("/a")))
            #expect(loaded.data == Data("hi".utf8) && loaded.mimeType == "image/png" && loaded.validators == nil)
        }
        #expect(cookies.cookies(for: server.url("/a")) == nil)
    }

    @Test("A length after a chunked body is an error")
    func trailingLength() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nContent-Length: 9\r\n\r\n"
        var response = OriginResponse(Data(head.utf8))
        response.sendsHead = false
        let server = try await OriginServer.start { [response] _ in response }
        let error = try await failure(ImageDownloader(), LoadRequest(url: server.url("/a")))
        #expect(error.code == .badResponse)
    }

    @Test("Trailers without end are an error")
    func endlessTrailers() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"
        var response = OriginResponse()
        response.sendsHead = false
        response.steps = [.bytes(Data(head.utf8))]
        let more = Data(String(repeating: "X-Field: value\r\n", count: 10_000).utf8)
        response.steps += (0..<100).map { _ in .bytes(more) } + [.silence]
        let server = try await OriginServer.start { [response] _ in response }
        let downloader = ImageDownloader(.init(timeout: .seconds(2)))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect([.badResponse, .connectionLost, .timedOut].contains(error.code), "\(error)")
    }
}

/// A server that answers a request when it has read its head.
private final class HastyServer: Sendable {
    private let listener: RawListener
    var port: Int { listener.port }

    init(status: Int, end: EarlyAnswerTests.End) throws {
        listener = try RawListener { Self.serve($0, status, end) }
    }

    private static func serve(_ client: Int32, _ status: Int, _ end: EarlyAnswerTests.End) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        guard read(client, &buffer, buffer.count) > 0 else { return }
        let answer = Array("HTTP/1.1 \(status) X\r\nContent-Type: image/png\r\nContent-Length: 2\r\n\r\nhi".utf8)
        guard write(client, answer, answer.count) == answer.count else { return }
        switch end {
        case .closes: return
        case .ignores:
            // Until the client closes.
            var state = pollfd(fd: client, events: 0, revents: 0)
            _ = poll(&state, 1, 20_000)
        case .drains: while read(client, &buffer, buffer.count) > 0 {}
        }
    }
}
#endif
