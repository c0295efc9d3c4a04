#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

/// What errors say of connections that end early.
@Suite("Who closed a connection", .timeLimited)
struct ClosedHereTests {
    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared.get() }

    private var downloader: ImageDownloader {
        var tls = TLSOptions()
        tls.trustRoots = Data(certificates.root.utf8)
        return ImageDownloader(.init(timeout: .seconds(60), resumesTransfers: false, tls: tls, usesHTTP2: true))
    }

    @Test(
        "If a server breaks the rules of HTTP/2, the error says that the connection was closed here", arguments: 0..<4)
    func violation(form: Int) async throws {
        let server = try await FrameServer(certificates.good) { _ in
            .init(answer: { stream in
                switch form {
                case 0: [Frames.frame(0, on: 0, [1])]
                case 1: [Frames.head(on: stream) + Frames.frame(8, on: 0, Frames.bytes(UInt32(0)))]
                case 2: [Frames.frame(1, flags: 5, on: stream, [0x80])]
                default: [Frames.head(on: stream)] + Array(repeating: Frames.frame(0, on: stream), count: 5_000)
                }
            })
        }
        let error = try await failure(downloader, LoadRequest(url: try server.url("/a")))
        #expect(
            error.code == .connectionLost && error.reason.contains("the downloader closed the connection"), "\(error)")
        #expect(server.acceptedConnections == 1)
    }

    @Test("A server that wants HTTP/1.1 gets it", .capability("3.10"), arguments: [false, true])
    func http1Required(byGoAway: Bool) async throws {
        let server = try await FrameServer(certificates.good) { number in
            guard number == 1 else {
                let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
                return .init(greeting: [Array(text.utf8)], answer: { _ in [] })
            }
            return .init(answer: { stream in
                byGoAway
                    ? [Frames.goAway(last: 0, code: 0xD)] : [Frames.frame(3, on: stream, Frames.bytes(UInt32(0xD)))]
            })
        }
        let loaded = try await downloader.load(LoadRequest(url: try server.url("/a")))
        #expect(loaded.data == Data("hi".utf8) && loaded.networkProtocol == "HTTP/1.1")
        #expect(server.acceptedConnections == 2)
    }

    @Test("An error of TLS is in words, without a path of the machine that the library was built on")
    func secureMessages() async throws {
        struct FakeSSLError: Error, CustomStringConvertible {
            let description =
                "handshakeFailed(BoringSSLError.sslError([Error: 268435703 error:100000f7:SSL routines:OPENSSL_internal:"
                + "WRONG_VERSION_NUMBER at /home/build/tls_record.cc:127]))"
        }
        let error = ImageError(transferError: FakeSSLError(), at: .request())
        #expect(error.reason == "the secure connection failed: wrong version number" && error.underlying != nil)
        let untrusted = try await OriginServer.start(tls: certificates.good) { _ in OriginResponse(bytes) }
        let url = try #require(URL(string: "https://localhost:\(untrusted.port)/"))
        let refused = try await failure(ImageDownloader(), LoadRequest(url: url))
        #expect(refused.reason == "the secure connection failed: certificate verify failed", "\(refused)")
    }

    @Test("A proxy that hangs up is named", arguments: ["http", "socks5"])
    func proxy(kind: String) async throws {
        // It closes connections as soon as something arrives that isn't HTTP, or a method that it doesn't know.
        let proxy = try await OriginServer.start { _ in .vanishing }
        let server = try #require(ProxyServer("\(kind)://127.0.0.1:\(proxy.port)"))
        let downloader = ImageDownloader(.init(proxy: .server(server)))
        let url = try #require(URL(string: "https://example.test/"))
        let error = try await failure(downloader, LoadRequest(url: url))
        #expect(
            [.connectionFailed, .connectionLost].contains(error.code) && !error.reason.contains("NoResult"), "\(error)")
        #expect(error.reason.contains("closed the connection"), "\(error)")
    }
}
#endif
