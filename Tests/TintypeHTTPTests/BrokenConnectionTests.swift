#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// Servers that close connections that are kept for further requests, as they may at any time (RFC 9112, section 9.3.1).
@Suite("Kept connections that break", .serialized, .timeLimited)
struct BrokenConnectionTests {
    /// A server whose first connections answer one request each, all of them at once, and break at the next one.
    private func server(_ first: Int, gate: OriginGate) async throws -> OriginServer {
        let seen = Watched<Set<Int>>([])
        return try await OriginServer.start { request in
            let isReused = seen.update { !$0.insert(request.connection).inserted }
            if request.connection <= first, isReused { return .vanishing }
            return request.connection <= first ? OriginResponse(chunks: [bytes], gate: gate) : OriginResponse(bytes)
        }
    }

    /// Loads so many images at once, so that as many connections are kept.
    private func fill(_ downloader: ImageDownloader, _ server: OriginServer, _ count: Int, _ gate: OriginGate)
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask { _ = try await downloader.load(LoadRequest(url: server.url("/\(number)"))) }
            }
            try await server.waitForRequests(count)
            gate.openForGood()
            try await group.waitForAll()
        }
        #expect(server.acceptedConnections == count)
    }

    @Test("A request is sent again until a new connection gets it", .capability("3.10"))
    func many() async throws {
        let gate = OriginGate()
        let server = try await server(8, gate: gate)
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 8, timeout: .seconds(60)))
        try await fill(downloader, server, 8, gate)
        let loaded = try await downloader.load(LoadRequest(url: server.url("/a")))
        #expect(loaded.data == bytes && loaded.transfer?.attempts == 1)
        #expect(server.acceptedConnections == 9)
    }

    @Test("HEAD is sent again like GET", .capability("3.10"))
    func head() async throws {
        let gate = OriginGate()
        let server = try await server(8, gate: gate)
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 8, timeout: .seconds(60)))
        try await fill(downloader, server, 8, gate)
        // The answer arrives, without the body that it announces.
        let error = try await failure(downloader, LoadRequest(url: server.url("/a"), method: "HEAD"))
        #expect(error.code == .incompleteBody, "\(error)")
        #expect(server.requestCount("/a") == 9 && server.acceptedConnections == 9)
    }

    @Test("Other requests are sent once")
    func post() async throws {
        let gate = OriginGate()
        let server = try await server(1, gate: gate)
        let downloader = ImageDownloader(.init(timeout: .seconds(60)))
        try await fill(downloader, server, 1, gate)
        let error = try await failure(downloader, LoadRequest(url: server.url("/a"), method: "POST"))
        #expect(error.code == .connectionLost && server.requestCount("/a") == 1)
    }

    @Test("A new connection that breaks is an error at once")
    func newConnection() async throws {
        let server = try await OriginServer.start { _ in .vanishing }
        let downloader = ImageDownloader(.init(timeout: .seconds(60)))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .connectionLost && server.requestCount() == 1)
    }

    @Test("A server that closes after each answer, without having said so, costs no load")
    func closing() async throws {
        let server = try await OriginServer.start { _ in
            var response = OriginResponse(bytes)
            response.steps.append(.close)
            return response
        }
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 16, timeout: .seconds(60)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let loaded = try await downloader.load(LoadRequest(url: server.url("/\(number)")))
                    #expect(loaded.data == bytes)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A stream of HTTP/2 that the server hasn't taken is begun again on another connection", arguments: 0..<4)
    func stream(form: Int) async throws {
        let certificates = try Certificates.shared.get()
        let server = try await FrameServer(certificates.good) { number in
            guard number == 1 else { return .init() }
            switch form {
            case 0: return .init(answer: { _ in [Frames.goAway(last: 0)] })
            case 1: return .init(answer: { $0 == 1 ? [Frames.response(on: 1)] : [Frames.goAway(last: 1)] })
            case 2: return .init(answer: { _ in [Frames.goAway(last: 0x7FFF_FFFF)] }, closesAfterAnswer: true)
            default:
                return .init(answer: { $0 == 1 ? [Frames.frame(3, on: $0, [0, 0, 0, 7])] : [Frames.response(on: $0)] })
            }
        }
        var tls = TLSOptions()
        tls.trustRoots = Data(certificates.root.utf8)
        let downloader = ImageDownloader(.init(timeout: .seconds(60), tls: tls, usesHTTP2: true))
        for _ in 0..<3 {
            #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == Data("hi".utf8))
        }
    }

    @Test(
        "White space around the values of fields isn't part of them", .capability("3.10"),
        arguments: [" ", "\t", " \t "])
    func whiteSpace(_ space: String) async throws {
        let server = try await OriginServer.start { request in
            var response = OriginResponse(request.path == "/moved" ? Data() : bytes)
            response.sendsHead = false
            let head =
                request.path == "/moved"
                ? "302 Found\r\nLocation:\(space)/t.png\(space)\r\nContent-Length: 0\r\n\r\n"
                : "200 OK\r\nDate:\(space)Tue, 24 Nov 2026 10:00:00 GMT\(space)\r\nX-Empty:\(space)\r\nContent-Length: 5000\r\n\r\n"
            response.steps.insert(.bytes(Data("HTTP/1.1 \(head)".utf8)), at: 0)
            return response
        }
        let loaded = try await ImageDownloader().load(LoadRequest(url: server.url("/moved")))
        #expect(loaded.data == bytes && server.requests.map(\.path) == ["/moved", "/t.png"])
        #expect(loaded.headers["Date"] == "Tue, 24 Nov 2026 10:00:00 GMT" && loaded.headers["X-Empty"] == "")
    }
}
#endif
