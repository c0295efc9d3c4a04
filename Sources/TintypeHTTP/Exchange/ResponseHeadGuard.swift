#if HTTP
internal import Glibc
internal import NIOCore
internal import NIOHTTP1

/// Channel handlers of HTTP/1.1 that reject response heads that the client library can't handle, and bytes that belong to no response.
///
/// - The library ignores a head with a status below 100, and traps when the body follows.
/// - The parser limits the size of header fields, but not the size of the reason phrase, nor the number of informational responses (1xx).
/// - The parser ignores extensions of chunks, so that a server can send any number of bytes for each of the body.
/// - The parser keeps the start of a head that follows a response, and takes the next response for its rest. A server, or an
///   attacker who makes a server send more than its responses, could so choose the header fields of the responses to other
///   requests.
/// - Where a request can't be sent because the server has answered and gone, swift-nio reads the answer while it sends, and the library
///   loses the end of an answer that comes before it knows that the request is sent: the load would wait until its time limit.
enum ResponseHeadGuard {
    /// The largest number of bytes before the end of a head, including informational responses.
    static let maximumBytes = 512 * 1_024
    /// The largest number of bytes around each byte of a body, beyond ``maximumBytes``: more than for single-byte chunks.
    static let maximumOverhead = 16

    /// Adds the handlers to an HTTP/1.1 connection, around its parser. Called on the connection's event loop.
    static func install(on channel: any Channel, _ identity: PeerIdentity) throws {
        let pipeline = channel.pipeline.syncOperations
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        let state = ResponseState()
        try pipeline.addHandler(ResponseByteCheck(state), position: .before(parser))
        try pipeline.addHandler(ResponsePartCheck(state, identity), position: .after(parser))
    }
}

/// The error of a response that comes before the request.
struct EarlyResponse: Error {}

/// The state that the two handlers of a connection share on its event loop.
private final class ResponseState {
    /// The bytes since the end of the last response, while no final head has arrived.
    var head = ByteBuffer()
    /// True from a final head to the end of its response.
    var hasHead = false
    /// True from the request to the end of its response.
    var isAwaited = false
    /// True after the first response.
    var isReused = false
    /// True if any byte has arrived since the request.
    var hasBytes = false
    /// True while the parser has the bytes of a read.
    var isParsing = false
    /// The bytes of the body in this read.
    var bodyBytes = 0
    /// The bytes of the body, and those between them, since the head.
    var (received, overhead) = (0, 0)
    /// The end of a response, until all bytes that came with it are parsed.
    var end: HTTPClientResponsePart?
    /// True if something came after the end of the response.
    var hasExcess = false
    /// True while a request without a body is sent.
    var isSending = false
    /// True after a response was rejected. Everything after it is dropped.
    var isRejected = false
    /// Passes on the end of a response.
    var passEnd: ((HTTPClientResponsePart) -> Void)?

    func reject(_ error: any Error, _ context: ChannelHandlerContext) {
        (isRejected, isAwaited) = (true, false)
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}

/// Checks bytes before they are parsed: counts the bytes of heads, and refuses bytes that no request has asked for.
private final class ResponseByteCheck: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The end of any head. Before a head, the parser ignores it.
    private static let emptyLines = ByteBuffer(string: "\r\n\r\n")

    private let state: ResponseState
    /// The events while a request was sent, in order, until the library knows that it is.
    private var held: [(ChannelHandlerContext) -> Void] = []

    init(_ state: ResponseState) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state.isSending || !held.isEmpty else { return read(data, context) }
        state.hasBytes = true
        hold(context) { [self] context in
            read(data, context)
            context.fireChannelReadComplete()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !held.isEmpty else { return context.fireErrorCaught(error) }
        hold(context) { $0.fireErrorCaught(error) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard !held.isEmpty else { return context.fireChannelInactive() }
        hold(context) { $0.fireChannelInactive() }
    }

    private func hold(_ context: ChannelHandlerContext, _ event: @escaping (ChannelHandlerContext) -> Void) {
        held.append(event)
        guard held.count == 1 else { return }
        context.eventLoop.assumeIsolated().execute { [self] in
            let events = held
            held = []
            for event in events { event(context) }
        }
    }

    private func read(_ data: NIOAny, _ context: ChannelHandlerContext) {
        guard !state.isRejected else { return }
        guard state.isAwaited else {
            guard state.isReused else { return state.reject(EarlyResponse(), context) }
            return close(context)
        }
        let read = unwrapInboundIn(data)
        let (hadHead, isFirst) = (state.hasHead, state.head.readableBytes == 0)
        if !hadHead {
            guard state.head.readableBytes + read.readableBytes <= ResponseHeadGuard.maximumBytes else {
                return state.reject(HTTPParserError.headerOverflow, context)
            }
            if isFirst { state.head = read } else { state.head.writeImmutableBuffer(read) }
        }
        state.isParsing = true
        state.hasBytes = true
        state.bodyBytes = 0
        context.fireChannelRead(data)
        if state.end != nil, !isWhole(read, hadHead: hadHead, isFirst: isFirst) {
            // If the parser has the start of another head, this completes it.
            context.fireChannelRead(wrapInboundOut(Self.emptyLines))
        }
        state.isParsing = false
        if hadHead {
            state.received += state.bodyBytes
            state.overhead += read.readableBytes - state.bodyBytes
        }
        guard let end = state.end else {
            if state.overhead > ResponseHeadGuard.maximumBytes + ResponseHeadGuard.maximumOverhead * state.received {
                state.reject(HTTPParserError.invalidChunkSize, context)
            }
            return
        }
        state.end = nil
        state.passEnd?(end)
        // The client library may have sent the next request already. It fails, and is sent once more.
        if state.hasExcess { close(context) }
    }

    /// True if a read certainly ended with the body: it was a head, unless that came before, and bytes of the body.
    ///
    /// The head is taken for as short as it can be, so that nothing fits behind the body.
    private func isWhole(_ read: ByteBuffer, hadHead: Bool, isFirst: Bool) -> Bool {
        let head = read.readableBytes - state.bodyBytes
        guard !hadHead else { return head == 0 }
        guard isFirst else { return false }
        return read.withUnsafeReadableBytes { bytes in
            // An empty line ends it, with or without a carriage return.
            guard let base = bytes.baseAddress else { return false }
            var (end, last) = (0, -3)
            while let found = memchr(base + end, 0x0A, bytes.count - end) {
                let lineFeed = UnsafeRawPointer(found) - base
                end = lineFeed + 1
                if lineFeed - last == 1 || lineFeed - last == 2 && bytes[lineFeed - 1] == UInt8(ascii: "\r") {
                    return end == head
                }
                last = lineFeed
            }
            return false
        }
    }

    /// Closes the connection, which is of no use for other requests.
    private func close(_ context: ChannelHandlerContext) {
        state.isRejected = true
        context.close(promise: nil)
    }
}

/// Checks requests and parsed responses: the host of the certificate, the status, and the end.
private final class ResponsePartCheck: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let state: ResponseState
    private let identity: PeerIdentity
    /// True if a head waits to be sent; and if the end of its request does, too.
    private var (hasHead, isWhole) = (false, false)

    init(_ state: ResponseState, _ identity: PeerIdentity) {
        self.state = state
        self.identity = identity
    }

    func handlerAdded(context: ChannelHandlerContext) {
        state.passEnd = { [self] in pass($0, context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { state.passEnd = nil }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !state.isRejected else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let part = unwrapOutboundIn(data)
        guard case .head(var head) = part else {
            if case .end = part { isWhole = hasHead }
            return context.write(data, promise: promise)
        }
        hasHead = true
        state.isAwaited = true
        state.hasBytes = false
        let host = head.headers.first(name: PeerIdentity.field)
        head.headers.remove(name: PeerIdentity.field)
        do throws(WrongCertificate) {
            try identity.check(host)
        } catch {
            state.isRejected = true
            promise?.fail(error)
            // The library is in the middle of sending the request.
            context.eventLoop.assumeIsolated().execute { [self] in state.reject(error, context) }
            return
        }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        // Of a request with a body, the library knows what it has sent.
        state.isSending = isWhole
        (hasHead, isWhole) = (false, false)
        context.flush()
        state.isSending = false
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !state.isRejected else { return }
        guard state.end == nil else {
            state.hasExcess = true
            return
        }
        let part = unwrapInboundIn(data)
        switch part {
        case .head(var head):
            guard head.status.code >= 100 else { return state.reject(HTTPParserError.invalidStatus, context) }
            guard head.status.code >= 200 || head.status == .switchingProtocols else { break }
            state.hasHead = true
            LocationBytes.restore(in: &head.headers, of: state.head)
            state.head = ByteBuffer()
            return context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body(let bytes): state.bodyBytes += bytes.readableBytes
        case .end:
            if state.isParsing { state.end = part } else { pass(part, context) }
            return
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The response is complete: text that the parser doesn't understand came after it.
        if state.end != nil {
            state.hasExcess = true
        } else {
            context.fireErrorCaught(brokenConnection(error) ?? error)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let error = brokenConnection(nil) { context.fireErrorCaught(error) }
        context.fireChannelInactive()
    }

    /// Returns an error if a connection that was used before breaks without a byte of the response; `nil` otherwise.
    private func brokenConnection(_ error: (any Error)?) -> BrokenConnection? {
        guard state.isReused, state.isAwaited, !state.hasBytes else { return nil }
        state.isAwaited = false
        return BrokenConnection(underlying: error)
    }

    private func pass(_ end: HTTPClientResponsePart, _ context: ChannelHandlerContext) {
        (state.hasHead, state.isAwaited, state.isReused) = (false, false, true)
        (state.received, state.overhead) = (0, 0)
        context.fireChannelRead(wrapInboundOut(end))
    }
}
#endif
