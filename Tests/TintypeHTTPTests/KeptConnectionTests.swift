#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// Servers that send more than their responses on a connection that is used again.
@Suite("Kept connections", .timeLimited)
struct KeptConnectionTests {
    /// An answer that is sent as it is. The connection stays open.
    private static func raw(_ steps: [OriginResponse.Step]) -> OriginResponse {
        var response = OriginResponse()
        response.sendsHead = false
        response.steps = steps
        return response
    }

    private static func raw(_ text: String) -> OriginResponse { raw([.bytes(Data(text.utf8))]) }

    private static let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"
    private static let excesses = [
        evil, evil + evil, "HTTP/1.1 200 OK\r\nETag: \"evil\"\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Len", "HTTP",
        "garbage", "\r\n\r\n" + evil, "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n",
    ]
    private static let responses = [
        "200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        "404 Not Found\r\nContent-Length: 2\r\n\r\nhi", "204 No Content\r\n\r\n",
    ]

    @Test(
        "What follows a response, whole or in part, reaches no other request", .capability("3.10"), arguments: excesses,
        responses)
    func excess(_ excess: String, _ response: String) async throws {
        let server = try await OriginServer.start { request in
            request.path == "/a"
                ? Self.raw("HTTP/1.1 \(response)\(excess)")
                : Self.raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
        }
        let downloader = ImageDownloader()
        for _ in 0..<2 {
            do throws(ImageError) {
                let loaded = try await downloader.load(LoadRequest(url: server.url("/a")))
                #expect(loaded.data == Data("hi".utf8))
            } catch {
                #expect(error.code == (response.hasPrefix("404") ? .badStatus : .emptyBody), "\(error)")
            }
            let loaded = try await downloader.load(LoadRequest(url: server.url("/b")))
            #expect(loaded.data == Data("good".utf8) && loaded.validators == nil)
        }
        #expect(server.acceptedConnections > 1)
    }

    @Test("Bytes on an idle connection close it", arguments: excesses)
    func idle(_ excess: String) async throws {
        let gate = OriginGate()
        let server = try await OriginServer.start { request in
            let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
            guard request.path == "/a" else { return Self.raw(response) }
            return Self.raw([.bytes(Data(response.utf8)), .wait(gate), .bytes(Data(excess.utf8))])
        }
        let downloader = ImageDownloader()
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == Data("hi".utf8))
        gate.openForGood()
        try await server.waitForOpenConnections(atMost: 0, timeLimit: .seconds(30))
        let loaded = try await downloader.load(LoadRequest(url: server.url("/b")))
        #expect(loaded.data == Data("hi".utf8) && loaded.validators == nil)
    }

    @Test("Empty lines after a response, and before the next, are no reason for another connection")
    func emptyLines() async throws {
        let server = try await OriginServer.start { _ in
            Self.raw("\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\r\n")
        }
        let downloader = ImageDownloader()
        for _ in 0..<3 {
            #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == Data("hi".utf8))
        }
        #expect(server.acceptedConnections == 1)
    }
}
#endif
