#if HTTP
internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOSSL

/// A connection of an ``OriginServer``, or a stream of a connection of HTTP/2. NIO parses the requests. Answers in HTTP/1.1 are written
/// byte for byte, because many of them are wrong on purpose.
struct OriginConnection: Sendable {
    private let channel: any Channel
    /// The connection itself, which the streams of HTTP/2 share.
    private let socket: any Channel

    private var isStream: Bool { channel !== socket }

    /// The state of the connection after an answer.
    private enum Fate { case open, closed }

    /// Starts to answer the requests of a connection. Runs on its event loop.
    static func start(on channel: any Channel, state: OriginState, handler: @escaping OriginServer.Handler) throws {
        let (number, isClosed) = register(channel, state)
        try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
        try answer(channel, on: channel, number, state, handler)
        if isClosed { channel.close(promise: nil) }
    }

    /// Starts to answer the requests of a connection of HTTP/2, which each have a stream. Runs on its event loop.
    static func startHTTP2(on channel: any Channel, state: OriginState, handler: @escaping OriginServer.Handler) throws
    {
        let (number, isClosed) = register(channel, state)
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        // Lengths may be wrong on purpose.
        configuration.contentLengthValidation = .disabled
        _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: configuration, streamConfiguration: .init()
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
                try answer(stream, on: channel, number, state, handler)
            }
        }
        if isClosed { channel.close(promise: nil) }
    }

    /// Starts a connection that is never answered.
    static func startSilently(on channel: any Channel, state: OriginState) {
        if register(channel, state).isClosed { channel.close(promise: nil) }
    }

    /// - Returns: the number of the connection, and true if the server has stopped.
    private static func register(_ channel: any Channel, _ state: OriginState) -> (number: Int, isClosed: Bool) {
        let (number, isClosed) = state.seen.update { seen in
            seen.lastConnection += 1
            seen.connections[seen.lastConnection] = channel
            return (seen.lastConnection, seen.isClosed)
        }
        channel.closeFuture.whenComplete { _ in state.seen.update { $0.connections[number] = nil } }
        return (number, isClosed)
    }

    private static func answer(
        _ channel: any Channel, on socket: any Channel, _ number: Int, _ state: OriginState,
        _ handler: @escaping OriginServer.Handler
    ) throws {
        let (requests, continuation) = AsyncStream.makeStream(of: OriginRequest.self)
        try channel.pipeline.syncOperations.addHandler(
            OriginRequestCollector(number: number, requests: continuation))
        let serving = Task {
            let connection = OriginConnection(channel: channel, socket: socket)
            for await request in requests {
                state.seen.update { $0.requests.append(request) }
                let response = await handler(request)
                // A client that disconnects in the middle is nothing unusual.
                guard (try? await connection.send(response, to: request)) == .open else { break }
            }
            channel.close(promise: nil)
        }
        channel.closeFuture.whenComplete { _ in serving.cancel() }
    }

    private func send(_ response: OriginResponse, to request: OriginRequest) async throws -> Fate {
        if isStream { try await sendHeadOnStream(response) } else { try await sendHead(response) }
        let sendsBody = request.method != "HEAD"
        for step in response.steps {
            switch step {
            case .bytes(let data): if sendsBody { try await sendBody(data, response.framing) }
            case .wait(let gate): try await gate.pass()
            case .reset:
                try await breakConnection()
                return .closed
            case .close:
                try await socket.close()
                return .closed
            case .silence:
                try await channel.closeFuture.get()
                return .closed
            case .resetStream(let code):
                if isStream {
                    try await resetStream(HTTP2ErrorCode(networkCode: code))
                } else {
                    try await breakConnection()
                }
                return .closed
            case .goAway(let code, let isAnswered): if isStream { try await sendGoAway(code, isAnswered) }
            case .frames(let data): if isStream { try await sendFrames(data) }
            }
        }
        if isStream {
            try await channel.writeAndFlush(HTTPServerResponsePart.end(nil))
            // The client closes the stream; no other request comes on it.
            return .open
        }
        guard sendsBody else { return .open }
        switch response.framing {
        case .contentLength(let announced):
            return announced == nil || announced == response.bodyBytes ? .open : .closed
        case .chunked:
            try await write(Data("0\r\n\r\n".utf8))
            return .open
        case .untilClose: return .closed
        }
    }

    private func sendHead(_ response: OriginResponse) async throws {
        guard response.sendsHead else { return }
        var head = "HTTP/1.1 \(response.status) \(HTTPResponseStatus(statusCode: response.status).reasonPhrase)\r\n"
        for (name, value) in response.headers { head += "\(name): \(value)\r\n" }
        if let length = response.addedLength { head += "Content-Length: \(length)\r\n" }
        switch response.framing {
        case .contentLength: break
        case .chunked: head += "Transfer-Encoding: chunked\r\n"
        case .untilClose: head += "Connection: close\r\n"
        }
        let hints = response.informational.map {
            "HTTP/1.1 \($0) \(HTTPResponseStatus(statusCode: $0).reasonPhrase)\r\n\r\n"
        }
        try await write(Data((hints.joined() + head + "\r\n").utf8))
    }

    private func sendHeadOnStream(_ response: OriginResponse) async throws {
        var head = HTTPResponseHead(version: .http2, status: HTTPResponseStatus(statusCode: response.status))
        // In HTTP/2, names are in lowercase.
        for (name, value) in response.headers { head.headers.add(name: name.lowercased(), value: value) }
        if let length = response.addedLength { head.headers.add(name: "content-length", value: "\(length)") }
        for status in response.informational {
            let hint = HTTPResponseHead(version: .http2, status: HTTPResponseStatus(statusCode: status))
            try await channel.writeAndFlush(HTTPServerResponsePart.head(hint))
        }
        try await channel.writeAndFlush(HTTPServerResponsePart.head(head))
    }

    private func sendBody(_ data: Data, _ framing: OriginResponse.Framing) async throws {
        if isStream {
            try await channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: data))))
        } else if !data.isEmpty {
            // An empty chunk would be the last one.
            try await write(framing == .chunked ? asChunk(data) : data)
        }
    }

    /// Resets the connection below TLS and HTTP/2, which would announce its end.
    private func breakConnection() async throws {
        // Without lingering, closing discards unsent bytes and resets the connection.
        try await (socket as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try await socket.eventLoop.submit { [socket] in
            if let tls = try? socket.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
                tls.close(promise: nil)
            } else {
                socket.close(promise: nil)
            }
        }.get()
    }

    private func resetStream(_ code: HTTP2ErrorCode) async throws {
        try await channel.eventLoop.submit { [channel] in
            // Below the conversion, which has no word for it.
            let codec = try channel.pipeline.syncOperations.context(
                handlerType: HTTP2FramePayloadToHTTP1ServerCodec.self)
            codec.writeAndFlush(NIOAny(HTTP2Frame.FramePayload.rstStream(code)), promise: nil)
        }.get()
    }

    private func sendGoAway(_ code: Int, _ isAnswered: Bool) async throws {
        let stream = try await channel.getOption(HTTP2StreamChannelOptions.streamID).get()
        let payload = HTTP2Frame.FramePayload.goAway(
            lastStreamID: isAnswered ? stream : .rootStream, errorCode: HTTP2ErrorCode(networkCode: code),
            opaqueData: nil)
        try await socket.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: payload))
    }

    private func sendFrames(_ data: Data) async throws {
        try await socket.eventLoop.submit { [socket] in
            // Below the handler that would refuse them.
            let frames = try socket.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
            frames.writeAndFlush(NIOAny(IOData.byteBuffer(ByteBuffer(bytes: data))), promise: nil)
        }.get()
    }

    private func asChunk(_ data: Data) -> Data {
        Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8)
    }

    /// Writes bytes and waits until the system has taken them.
    private func write(_ data: Data) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: data))
    }
}

/// Combines the parts of requests.
private final class OriginRequestCollector: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let number: Int
    private let requests: AsyncStream<OriginRequest>.Continuation
    private var request: OriginRequest?

    init(number: Int, requests: AsyncStream<OriginRequest>.Continuation) {
        self.number = number
        self.requests = requests
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            request = OriginRequest(
                method: head.method.rawValue, target: head.uri,
                headers: head.headers.map { (name: $0.name, value: $0.value) }, body: Data(), connection: number)
        case .body(let bytes): request?.body.append(contentsOf: bytes.readableBytesView)
        case .end:
            if let request { requests.yield(request) }
            request = nil
        }
    }

    func channelInactive(context: ChannelHandlerContext) { requests.finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
#endif
