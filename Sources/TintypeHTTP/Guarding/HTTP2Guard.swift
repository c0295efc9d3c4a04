#if HTTP
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP1
internal import NIOHTTP2

/// Checks the frames of a connection of HTTP/2 before the client library sees them.
///
/// - A stream that the server starts isn't known to the pool, which counts its end. Pushes are disabled, but swift-nio-http2 accepts them
///   until the server has acknowledged that. By reading, the pool's count could trap; no test made it so.
/// - Where an idle connection gets another number of streams, the pool plans its end a second time, and traps in debug builds.
/// - The client library leaves an idle connection open after its GOAWAY.
final class HTTP2ConnectionGuard: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    /// The certificate of the server.
    let identity: PeerIdentity
    /// True after the head of a response.
    fileprivate(set) var hasAnswered = false
    /// True after a GOAWAY.
    private(set) var isEnding = false
    /// True after a GOAWAY that asks for HTTP/1.1.
    fileprivate private(set) var requiresHTTP1 = false
    /// The reason for which the connection is about to be closed here.
    fileprivate var violation: HTTP2Violation?
    private var openStreams = 0
    private var isRejected = false

    init(_ identity: PeerIdentity) { self.identity = identity }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRejected else { return }
        switch unwrapInboundIn(data).payload {
        case .pushPromise: close(context)
        case .settings(.settings(let settings))
        where openStreams == 0 && settings.contains { $0.parameter == .maxConcurrentStreams }:
            close(context)
        case .goAway(_, let code, _):
            isEnding = true
            if code == .http11Required { requiresHTTP1 = true }
            context.fireChannelRead(data)
            if openStreams == 0 { close(context) }
        default: context.fireChannelRead(data)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as NIOHTTP2StreamCreatedEvent:
            guard event.streamID.isOfClient else { return close(context) }
            openStreams += 1
        case let event as StreamClosedEvent:
            guard event.streamID.isOfClient else { return }
            openStreams -= 1
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Notes that the client library gives up the connection, because the server broke the rules.
    func recordViolation(_ code: UInt32) { violation = HTTP2Violation(code: HTTP2ErrorCode(networkCode: Int(code))) }

    private func close(_ context: ChannelHandlerContext) {
        isRejected = true
        context.close(promise: nil)
    }
}

/// The error of a connection of HTTP/2 that was closed here, because the server broke the rules.
struct HTTP2Violation: Error {
    let code: HTTP2ErrorCode
}

/// Checks the request and the head of the response on a stream of HTTP/2, whose size HTTP/2 limits itself.
final class HTTP2StreamGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let connection: HTTP2ConnectionGuard
    private var isRejected = false
    /// True after the head of a response, or an error.
    private var hasEvent = false

    init(_ connection: HTTP2ConnectionGuard) { self.connection = connection }

    /// Returns true if a text is a status of HTTP/2: from 100 to 999, except 101.
    static func isStatus(_ text: String) -> Bool {
        text.utf8.count == 3 && text != "101" && text.utf8.first != UInt8(ascii: "0")
            && text.utf8.allSatisfy { 0x30...0x39 ~= $0 }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRejected else { return }
        if case .headers(let frame) = unwrapInboundIn(data) {
            if let status = frame.headers.first(name: ":status"), !Self.isStatus(status) {
                return reject(HTTPParserError.invalidStatus, context)
            }
            hasEvent = true
            connection.hasAnswered = true
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let code = (error as? NIOHTTP2Errors.StreamClosed)?.errorCode
        let isFirst = !hasEvent
        hasEvent = true
        if let violation = connection.violation {
            context.fireErrorCaught(violation)
        } else if isFirst, code == .http11Required || connection.requiresHTTP1 {
            context.fireErrorCaught(HTTP1Required())
        } else if isFirst, code == .refusedStream || connection.isEnding {
            context.fireErrorCaught(BrokenConnection(underlying: error))
        } else {
            context.fireErrorCaught(error)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let violation = connection.violation {
            context.fireErrorCaught(violation)
        } else if !hasEvent, connection.requiresHTTP1 {
            context.fireErrorCaught(HTTP1Required())
        } else if !hasEvent, connection.hasAnswered || connection.isEnding {
            context.fireErrorCaught(BrokenConnection(underlying: nil))
        }
        hasEvent = true
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isRejected else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard case .headers(var frame) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        let host = frame.headers.first(name: PeerIdentity.field)
        frame.headers.remove(name: PeerIdentity.field)
        do throws(WrongCertificate) {
            try connection.identity.check(host)
        } catch {
            isRejected = true
            hasEvent = true
            promise?.fail(error)
            // The library is in the middle of sending the request.
            context.eventLoop.assumeIsolated().execute { [self] in
                reject(error, context)
                context.channel.parent?.close(promise: nil)
            }
            return
        }
        context.write(wrapOutboundOut(.headers(frame)), promise: promise)
    }

    private func reject(_ error: any Error, _ context: ChannelHandlerContext) {
        isRejected = true
        hasEvent = true
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}

extension HTTP2StreamID {
    /// True for streams that the client starts (RFC 9113, section 5.1.1).
    fileprivate var isOfClient: Bool { Int(self) % 2 == 1 }
}
#endif
