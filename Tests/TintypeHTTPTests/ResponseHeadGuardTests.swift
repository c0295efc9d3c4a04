#if HTTP
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import TestSupport
import Testing

@testable import TintypeHTTP

/// The library's conversion of HTTP/2 ends the program for some of these heads, so the tests have no further handlers.
@Suite("Heads of HTTP/2 responses", .timeLimited)
struct ResponseHeadGuardTests {
    private func stream() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let connection = HTTP2ConnectionGuard(PeerIdentity(of: channel))
        try channel.pipeline.syncOperations.addHandler(HTTP2StreamGuard(connection))
        return channel
    }

    private func head(_ status: String) -> HTTP2Frame.FramePayload {
        .headers(.init(headers: [":status": status], endStream: false))
    }

    @Test(
        "A status that isn't from 100 to 999, or is 101, ends the stream",
        arguments: ["-5", "0", "000", "099", "101", "1000", "+20", "abc", ""])
    func invalid(_ status: String) throws {
        let channel = try stream()
        #expect(throws: HTTPParserError.invalidStatus) { try channel.writeInbound(head(status)) }
        #expect(!channel.isActive)
        let received = try channel.readInbound(as: HTTP2Frame.FramePayload.self)
        #expect(received == nil)
    }

    @Test("Other heads, and trailers, pass", arguments: ["100", "103", "200", "304", "999"])
    func valid(_ status: String) throws {
        let channel = try stream()
        try channel.writeInbound(head(status))
        try channel.writeInbound(HTTP2Frame.FramePayload.headers(.init(headers: ["x": "1"], endStream: true)))
        for _ in 0..<2 {
            let received = try channel.readInbound(as: HTTP2Frame.FramePayload.self)
            #expect(received != nil)
        }
        _ = try channel.finish()
    }
}

/// A socket whose peer has answered and gone before the request. As swift-nio's does, it reads all that is there while it fails to send.
private final class AnsweredSocket: ChannelOutboundHandler {
    typealias OutboundIn = IOData

    struct Failure: Error {}

    private let answers: [String]
    private let isClosed: Bool
    private let fails: Bool

    init(_ answers: [String], isClosed: Bool, fails: Bool = false) {
        (self.answers, self.isClosed, self.fails) = (answers, isClosed, fails)
    }

    func flush(context: ChannelHandlerContext) {
        for answer in answers { context.fireChannelRead(NIOAny(ByteBuffer(string: answer))) }
        context.fireChannelReadComplete()
        if fails { context.fireErrorCaught(Failure()) }
        if isClosed { context.close(promise: nil) }
    }
}

/// Notes what the client library would see.
private final class Library: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    var events: [String] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): events.append("\(head.status.code)")
        case .body(let bytes): events.append("\(bytes.readableBytes) bytes")
        case .end: events.append("end")
        }
    }

    func channelInactive(context: ChannelHandlerContext) { events.append("closed") }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { events.append("error") }
}

@Suite("Answers that come while the request is sent", .timeLimited)
struct AnswerWhileSendingTests {
    @Test(
        "The library gets an answer that came before the request is sent, and the end, when it has sent the request",
        arguments: [
            (["HTTP/1.1 503 X\r\nContent-Length: 2\r\n\r\nhi"], true, ["503", "2 bytes", "end", "closed"]),
            (["HTTP/1.1 503 X\r\nContent-Length: 2\r\n\r\nhi"], false, ["503", "2 bytes", "end"]),
            (
                ["HTTP/1.1 503 X\r\nContent-", "Length: 2\r\n\r\nh", "i"], true,
                ["503", "1 bytes", "1 bytes", "end", "closed"]
            ),
            (["HTTP/1.1 204 X\r\n\r\nhello", "HTTP/1.1 204 X\r\n\r\n"], true, ["204", "end", "closed"]),
            (["HTTP/1.1 503 X\r\nContent-Length: 9\r\n\r\nhi"], true, ["503", "2 bytes", "error", "closed"]),
        ])
    func held(_ answers: [String], _ isClosed: Bool, _ events: [String]) throws {
        let (channel, library) = try connect(AnsweredSocket(answers, isClosed: isClosed))
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.end(nil), promise: nil)
        channel.flush()
        #expect(library.events.isEmpty)
        channel.embeddedEventLoop.run()
        #expect(library.events == events)
    }

    private let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
    private let answer = "HTTP/1.1 503 X\r\nContent-Length: 2\r\n\r\nhi"

    private func connect(_ socket: AnsweredSocket) throws -> (EmbeddedChannel, Library) {
        let (channel, library) = (EmbeddedChannel(), Library())
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(socket)
        try pipeline.addHandler(HTTPRequestEncoder())
        try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder()))
        try ResponseHeadGuard.install(on: channel, PeerIdentity(of: channel))
        try pipeline.addHandler(library)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        return (channel, library)
    }

    @Test("Errors behind such an answer stay behind it, as where an encrypted connection ends without its last record")
    func errors() throws {
        let (channel, library) = try connect(AnsweredSocket([answer], isClosed: true, fails: true))
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.end(nil), promise: nil)
        channel.flush()
        channel.embeddedEventLoop.run()
        #expect(library.events == ["503", "2 bytes", "end", "error", "closed"])
    }

    @Test("An answer to a request whose body isn't sent arrives at once, before sending fails")
    func bodies() throws {
        let (channel, library) = try connect(AnsweredSocket([answer], isClosed: true))
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.flush()
        #expect(library.events == ["503", "2 bytes", "end", "closed"])
    }
}
#endif
