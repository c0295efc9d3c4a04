#if HTTP
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2

/// The handlers that Tintype adds to each connection of the client library, so that no peer can end the program.
///
/// The versions are async-http-client 1.37.0, swift-nio 2.101.2, swift-nio-http2 1.46.0, and swift-nio-ssl 2.37.6. These traps of theirs
/// can be reached by bytes of a peer, and each rule has a test:
///
/// | input from a peer | where it would trap | rule | test |
/// | --- | --- | --- | --- |
/// | settings of HTTP/2, and GOAWAY, other settings, or the end behind them | `HTTP2ConnectionState.goAwayReceived`,
/// `newMaxConcurrentStreams` | handlers are added at once, so that the pool knows the connection | `HTTP2TrapTests.greeting` |
/// | another number of streams on an idle connection | `HTTPConnectionPool.scheduleIdleTimerForConnection`, in debug builds |
/// ``HTTP2ConnectionGuard`` closes the connection | `HTTP2TrapTests.idleSettings` |
/// | a status in HTTP/2 that is empty, negative, below 100, or 101 | `isInformationalResponse`, `HTTPResponseStatus`,
/// `HTTPRequestStateMachine` | ``HTTP2StreamGuard`` | `HTTP2TrapTests.status`, `HTTP2Tests.informational` |
/// | a status below 100 in HTTP/1.1 | `HTTPRequestStateMachine.receivedHTTPResponseBodyPart` | ``ResponseHeadGuard`` |
/// `HostileServerTests.status` |
/// | a response before the request | `HTTP1ConnectionStateMachine.channelRead` | ``ResponseHeadGuard`` | `EarlyAnswerTests` |
/// | more than the response | the same | ``ResponseHeadGuard`` | `KeptConnectionTests` |
/// | a response and the end before the request is sent | nowhere, but the load would wait until its time limit |
/// ``ResponseHeadGuard`` | `AnswerWhileSendingTests` |
/// | a tunnel of a proxy, and its end before the connection is used | `HTTP1ConnectionStateMachine.requestCancelled`, `channelInactive` |
/// ``ClosedConnection``, and the pool doesn't get the connection | `ProxyTrapTests.connect` |
///
/// A single trap can't be guarded by a handler: a server that chooses HTTP/2, HTTP/1.1, and HTTP/2 again for connections of the same pool
/// (`HTTPConnectionPool+HTTP2Connections.migrateToHTTP1`). So HTTP/2 is off by default.
///
/// Before the first settings of HTTP/2, and while a proxy is asked for a tunnel, no handler of ours is there. `HTTP2TrapTests` and
/// `ProxyTrapTests` send unexpected frames at these times, and random frames.
enum ConnectionGuard {
    /// Adds the handlers to an HTTP/1.1 connection, around its parser. Called on the connection's event loop.
    static func install(on channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            guard channel.isActive else {
                let pipeline = channel.pipeline.syncOperations
                let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                try pipeline.addHandler(ClosedConnection(), position: .after(parser))
                throw HTTPClientError.remoteConnectionClosed
            }
            try ResponseHeadGuard.install(on: channel, PeerIdentity(of: channel))
            try RequestTarget.install(on: channel)
        }
    }

    /// Adds the handlers to an HTTP/2 connection, around its frames. Called on the connection's event loop, after the first frame of the
    /// server.
    ///
    /// The future is completed at once. The client library otherwise gets the bytes that follow in the same read before it knows the
    /// connection, and traps.
    static func installHTTP2(on channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let frames = try pipeline.handler(type: NIOHTTP2Handler.self)
            let connection = HTTP2ConnectionGuard(PeerIdentity(of: channel))
            try pipeline.addHandler(HTTP2ConnectionEnd(connection), position: .before(frames))
            try pipeline.addHandler(connection, position: .after(frames))
        }
    }

    /// Adds a handler to the stream of an HTTP/2 request, before its conversion. Called on the connection's event loop.
    static func installOnStream(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            guard let parent = channel.parent else { throw ChannelError.inappropriateOperationForState }
            let connection = try parent.pipeline.syncOperations.handler(type: HTTP2ConnectionGuard.self)
            try channel.pipeline.syncOperations.addHandler(HTTP2StreamGuard(connection), position: .first)
            try RequestTarget.installOnStream(channel)
        }
    }
}

/// Keeps the end of a connection from the client library, which was told of it too late, and would trap.
private final class ClosedConnection: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    func channelInactive(context: ChannelHandlerContext) {}
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
#endif
