#if HTTP
internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import NIOHTTP1

/// One connection of an ``OriginServer``. Requests are parsed by NIO; answers are written byte for byte, because half of them
/// are meant to be wrong.
struct OriginConnection: Sendable {
    private let wrapped: NIOAsyncChannel<HTTPServerRequestPart, ByteBuffer>
    private let log: OriginLog
    private let number: Int

    private typealias Inbound = NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    private var channel: any Channel { wrapped.channel }

    /// Whether the connection can take another request.
    private enum Fate { case open, closed }

    init(channel: any Channel, log: OriginLog) throws {
        try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
        wrapped = try NIOAsyncChannel(wrappingChannelSynchronously: channel)
        self.log = log
        number = log.state.update { log in
            log.connections += 1
            log.open += 1
            return log.connections
        }
        channel.closeFuture.whenComplete { _ in log.state.update { $0.open -= 1 } }
    }

    /// Answers one request after another until either side closes.
    func serve(_ handler: OriginServer.Handler) async {
        // The client going away in the middle is an ordinary end.
        try? await wrapped.executeThenClose { inbound, _ in
            var inbound = inbound.makeAsyncIterator()
            while let request = try await nextRequest(&inbound) {
                log.state.update { $0.requests.append(request) }
                let response = await handler(request)
                guard try await send(response, to: request, &inbound) == .open else { return }
            }
        }
    }

    private func nextRequest(_ inbound: inout Inbound) async throws -> OriginRequest? {
        var request: OriginRequest?
        while let part = try await inbound.next() {
            switch part {
            case .head(let head):
                request = OriginRequest(
                    method: head.method.rawValue, target: head.uri,
                    headers: head.headers.map { (name: $0.name, value: $0.value) }, body: Data(), connection: number)
            case .body(let bytes): request?.body.append(contentsOf: bytes.readableBytesView)
            case .end: return request
            }
        }
        return nil
    }

    private func send(
        _ response: OriginResponse, to request: OriginRequest, _ inbound: inout Inbound
    ) async throws -> Fate {
        let bodyBytes = response.body.count
        var head = "HTTP/1.1 \(response.status) \(HTTPResponseStatus(statusCode: response.status).reasonPhrase)\r\n"
        for (name, value) in response.headers { head += "\(name): \(value)\r\n" }
        var isWhole = true
        switch response.framing {
        case .contentLength(let announced):
            // 304 and 1xx have no body and need no length.
            if response.status != 304 || announced != nil { head += "Content-Length: \(announced ?? bodyBytes)\r\n" }
            isWhole = announced == nil || announced == bodyBytes
        case .chunked: head += "Transfer-Encoding: chunked\r\n"
        case .untilClose:
            head += "Connection: close\r\n"
            isWhole = false
        }
        if response.sendsHead { try await write(Data((head + "\r\n").utf8)) }
        guard request.method != "HEAD" else { return .open }

        for step in response.steps {
            switch step {
            case .bytes(let data): try await write(response.framing == .chunked ? asChunk(data) : data)
            case .wait(let gate): try await gate.pass()
            case .reset:
                // Without lingering, closing throws away what is unsent and resets the connection.
                try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
                return .closed
            case .close: return .closed
            case .silence:
                while try await inbound.next() != nil {}
                return .closed
            }
        }
        if response.framing == .chunked { try await write(Data("0\r\n\r\n".utf8)) }
        return isWhole ? .open : .closed
    }

    private func asChunk(_ data: Data) -> Data {
        Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8)
    }

    /// Returns when the system has taken the bytes.
    private func write(_ data: Data) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: data))
    }
}
#endif
