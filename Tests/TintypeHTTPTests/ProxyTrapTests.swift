#if HTTP
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// A server that sends pieces as they are, and then closes. It begins at once, or after the first bytes of the client.
private final class PieceServer: Sendable {
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private var pieces: ArraySlice<[UInt8]>
        private let isEarly: Bool
        /// True if each piece waits for further bytes of the client.
        private let isDialog: Bool

        init(_ pieces: [[UInt8]], isEarly: Bool, isDialog: Bool) {
            (self.pieces, self.isEarly, self.isDialog) = (pieces[...], isEarly, isDialog)
        }

        func channelActive(context: ChannelHandlerContext) { if isEarly { send(context) } }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) { send(context) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func send(_ context: ChannelHandlerContext) {
            while let piece = pieces.popFirst() {
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: piece)), promise: nil)
                if isDialog, !pieces.isEmpty { return }
            }
            context.close(promise: nil)
        }
    }

    private let listener: any Channel

    init(_ pieces: [[UInt8]], isEarly: Bool, isDialog: Bool = false) async throws {
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Handler(pieces, isEarly: isEarly, isDialog: isDialog))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    deinit { listener.close(promise: nil) }

    var port: Int { listener.localAddress?.port ?? 0 }
}

/// While a proxy is asked for a tunnel, no handler of Tintype's is on the connection.
@Suite("Proxies that would end the program", .serialized, .timeLimited)
struct ProxyTrapTests {
    /// - Parameter mayLoad: true if what comes after the answer to CONNECT may be in time for the request in the tunnel, whose response it is then.
    private func load(_ server: PieceServer, usesSOCKS: Bool, _ url: String, mayLoad: Bool = false) async throws {
        let proxy = ProxyServer(host: "127.0.0.1", port: server.port, usesSOCKS: usesSOCKS)
        let downloader = ImageDownloader(.init(timeout: .seconds(60), proxy: .server(proxy)))
        let request = LoadRequest(url: try #require(URL(string: url)))
        do throws(ImageError) {
            let loaded = try await downloader.load(request)
            #expect(mayLoad, "loaded \(loaded.data.count) bytes")
        } catch {
            #expect(
                [.connectionFailed, .connectionLost, .badResponse, .badRequest, .badStatus, .emptyBody]
                    .contains(error.code), "\(error)")
        }
    }

    private static let answers = [
        "", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\nhello",
        "HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 000 X\r\n\r\n", "HTTP/1.1 099 X\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 199 X\r\n\r\n",
        "HTTP/1.1 204 X\r\n\r\nhello",
        "HTTP/1.1 407 X\r\nContent-Length: 0\r\n\r\nHTTP/1.1 407 X\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 407 X\r\n\r\nhello",
        "HTTP/1.1 502 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Len", "nonsense\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 999999 X\r\n\r\n",
    ]

    @Test(
        "Whatever a proxy answers to CONNECT, before it is asked or in pieces, is an error", .capability("3.10"),
        arguments: answers)
    func connect(_ answer: String) async throws {
        let bytes = Array(answer.utf8)
        for (pieces, isEarly) in [
            ([bytes], false), ([bytes], true), (bytes.map { [$0] }, false), ([bytes, bytes, bytes], true),
        ] {
            try await load(PieceServer(pieces, isEarly: isEarly), usesSOCKS: false, "https://localhost:1/a")
            let mayLoad = pieces.count == 3
            try await load(
                PieceServer(pieces, isEarly: isEarly), usesSOCKS: false, "http://localhost:1/a", mayLoad: mayLoad)
        }
    }

    @Test("Whatever a SOCKS proxy answers is an error", .capability("3.10"))
    func socks() async throws {
        let replies: [[[UInt8]]] = [
            [], [[]], [[5]], [[5, 0]], [[5, 0, 5, 0, 0, 1, 1, 2, 3, 4, 0, 1]], [[5, 255]], [[4, 0]],
            [[5, 2], [1, 0]],
            [[5, 0], [5, 0, 0, 1, 1, 2, 3, 4, 0, 1]],
            [[5, 0], [5, 0, 0, 1, 1, 2, 3, 4, 0, 1, 5, 0, 0, 1, 1, 2, 3, 4, 0, 1]],
            [[5, 0], [5, 1, 0, 1, 1, 2, 3, 4, 0, 1]], [[5, 0], [5, 0, 0, 3, 0, 0, 0]],
            [[5, 0], [5, 0, 0, 3, 255, 65]],
            [[5, 0], [5, 0, 0, 3, 2, 0xFF, 0xFE, 0, 1]], [[5, 0], [5, 0, 0, 4] + Array(repeating: 0, count: 18)],
            [[5, 0], [5, 0, 0, 9, 1, 2]], [[5, 0], [5, 77, 9, 1, 1, 2, 3, 4, 0, 1]], [[5, 0, 5, 0], [5, 0]],
            [[5, 0], [5, 0, 0, 1, 1, 2, 3, 4, 0, 1], Array(repeating: 5, count: 100)],
        ]
        for pieces in replies {
            for isEarly in [false, true] {
                for url in ["http://localhost:1/a", "https://localhost:1/a"] {
                    let server = try await PieceServer(pieces, isEarly: isEarly, isDialog: true)
                    try await load(server, usesSOCKS: true, url)
                }
            }
        }
    }
}
#endif
