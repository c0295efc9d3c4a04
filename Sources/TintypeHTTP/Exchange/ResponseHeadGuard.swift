#if HTTP
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP1
internal import NIOHTTP2

/// Channel handlers that reject response heads that the client library can't handle.
///
/// - The library ignores a head with a status below 100, and traps when the body follows. Its conversion of HTTP/2 also traps for a
///   negative status.
/// - The library takes 101 for the response, and traps when another head follows on an HTTP/2 stream, where 101 doesn't exist (RFC 9113,
///   section 8.6).
/// - The parser limits the size of header fields, but not that of the reason phrase, nor the number of informational responses (1xx).
enum ResponseHeadGuard {
    /// The largest number of bytes before the end of a head, including informational responses.
    static let maximumBytes = 512 * 1_024

    /// Adds the handlers to an HTTP/1.1 connection, around its parser. Called on the connection's event loop.
    static func install(on channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            let state = ResponseHeadState()
            try pipeline.addHandler(ResponseByteCounter(state), position: .before(parser))
            try pipeline.addHandler(ResponseStatusCheck(state), position: .after(parser))
        }
    }

    /// Adds a handler to the stream of an HTTP/2 request, before its conversion. Called on the connection's event loop.
    static func installOnStream(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(StreamStatusCheck(), position: .first)
        }
    }

    /// Returns true if a text is a status of HTTP/2: from 100 to 999, except 101.
    static func isStreamStatus(_ text: String) -> Bool {
        text.utf8.count == 3 && text != "101" && text.utf8.first != UInt8(ascii: "0")
            && text.utf8.allSatisfy { 0x30...0x39 ~= $0 }
    }
}

/// The state that the two handlers of a connection share on its event loop.
private final class ResponseHeadState {
    /// The bytes since the end of the last response, while no final head has arrived.
    var bytes = 0
    /// True from a final head to the end of its response.
    var hasHead = false
    /// True after a response was rejected. Everything after it is dropped.
    var isRejected = false

    func reject(_ error: HTTPParserError, _ context: ChannelHandlerContext) {
        isRejected = true
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}

/// Counts the bytes of response heads before they are parsed.
private final class ResponseByteCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let state: ResponseHeadState

    init(_ state: ResponseHeadState) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !state.isRejected else { return }
        if !state.hasHead {
            state.bytes += unwrapInboundIn(data).readableBytes
            guard state.bytes <= ResponseHeadGuard.maximumBytes else {
                return state.reject(.headerOverflow, context)
            }
        }
        context.fireChannelRead(data)
    }
}

/// Checks the status of parsed response heads.
private final class ResponseStatusCheck: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private let state: ResponseHeadState

    init(_ state: ResponseHeadState) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !state.isRejected else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard head.status.code >= 100 else { return state.reject(.invalidStatus, context) }
            if head.status.code >= 200 || head.status == .switchingProtocols { state.hasHead = true }
        case .body: break
        case .end:
            state.hasHead = false
            state.bytes = 0
        }
        context.fireChannelRead(data)
    }
}

/// Checks the status of the response on an HTTP/2 stream. HTTP/2 limits the size of heads itself.
private final class StreamStatusCheck: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    private var isRejected = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRejected else { return }
        if case .headers(let frame) = unwrapInboundIn(data), let status = frame.headers.first(name: ":status"),
            !ResponseHeadGuard.isStreamStatus(status)
        {
            isRejected = true
            context.fireErrorCaught(HTTPParserError.invalidStatus)
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }
}
#endif
