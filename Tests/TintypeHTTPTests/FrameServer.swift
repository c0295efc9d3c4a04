#if HTTP
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import TintypeTesting

/// A server on this computer that agrees to HTTP/2 over TLS, and sends bytes as they are.
final class FrameServer: Sendable {
    /// What the server does with one connection.
    struct Script: Sendable {
        /// The pieces that are sent after the handshake, each by itself.
        var greeting: [[UInt8]] = [Frames.settings()]
        /// The pieces that are sent after each request. Its stream is the parameter.
        var answer: @Sendable (Int) -> [[UInt8]] = { [Frames.response(on: $0)] }
        /// True if the connection closes after the greeting.
        var closesAfterGreeting = false
        /// True if the connection closes after the first answer.
        var closesAfterAnswer = false
    }

    private let listener: any Channel
    private let connections: Watched<Int>

    /// - Parameter script: returns the script of a connection. Its number is the parameter, 1 for the first.
    init(_ certificate: OriginTLS, _ script: @escaping @Sendable (Int) -> Script) async throws {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(certificate.key.utf8), format: .pem)))
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let connections = Watched(0)
        self.connections = connections
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = connections.update { number in
                        number += 1
                        return number
                    }
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLServerHandler(context: context), FrameHandler(script(number)),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    deinit { listener.close(promise: nil) }

    var acceptedConnections: Int { connections.value }

    func url(_ path: String) throws -> URL {
        guard let port = listener.localAddress?.port, let url = URL(string: "https://localhost:\(port)\(path)") else {
            throw URLError(.badURL)
        }
        return url
    }
}

private final class FrameHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let script: FrameServer.Script
    private var received = ByteBuffer()
    private var hasPreface = false
    private var hasGreeted = false

    init(_ script: FrameServer.Script) { self.script = script }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var piece = unwrapInboundIn(data)
        received.writeBuffer(&piece)
        if !hasPreface {
            guard received.readableBytes >= 24 else { return }
            received.moveReaderIndex(forwardBy: 24)
            hasPreface = true
        }
        if !hasGreeted {
            hasGreeted = true
            send(script.greeting, context)
            if script.closesAfterGreeting { return context.close(promise: nil) }
        }
        while let head = received.getInteger(at: received.readerIndex, as: UInt32.self),
            received.readableBytes >= 9 + Int(head >> 8)
        {
            let stream = received.getInteger(at: received.readerIndex + 5, as: UInt32.self) ?? 0
            received.moveReaderIndex(forwardBy: 9 + Int(head >> 8))
            guard head & 0xFF == 1 else { continue }
            send(script.answer(Int(stream)), context)
            if script.closesAfterAnswer { return context.close(promise: nil) }
        }
    }

    private func send(_ pieces: [[UInt8]], _ context: ChannelHandlerContext) {
        for piece in pieces { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: piece)), promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Frames of HTTP/2 (RFC 9113, section 6).
enum Frames {
    static func frame(_ type: UInt8, flags: UInt8 = 0, on stream: Int = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = [UInt8(payload.count >> 16 & 0xFF), UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF)]
        return length + [type, flags] + bytes(UInt32(truncatingIfNeeded: stream)) + payload
    }

    static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    static func settings(_ values: [(UInt16, UInt32)] = []) -> [UInt8] {
        frame(4, values.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + bytes($0.1) })
    }

    static func goAway(last: UInt32, code: UInt32 = 0) -> [UInt8] { frame(7, bytes(last) + bytes(code)) }

    /// A head with a status, and a length of the body.
    static func head(_ status: String = "200", on stream: Int, endsStream: Bool = false) -> [UInt8] {
        // Literal fields with names of the static table: 8 is `:status`, and 28 `content-length` (RFC 7541, appendix A).
        let block = [0x08, UInt8(status.utf8.count)] + Array(status.utf8) + (endsStream ? [] : [0x0F, 0x0D, 1, 0x32])
        return frame(1, flags: endsStream ? 5 : 4, on: stream, block)
    }

    static func response(on stream: Int) -> [UInt8] {
        head(on: stream) + frame(0, flags: 1, on: stream, Array("hi".utf8))
    }

    /// The promise of a response to a `GET` of `/`.
    static func push(_ promised: Int, on stream: Int) -> [UInt8] {
        let authority = [0x01, 9] + Array("localhost".utf8)
        return frame(5, flags: 4, on: stream, bytes(UInt32(promised)) + [0x82, 0x84, 0x87] + authority)
    }
}
#endif
