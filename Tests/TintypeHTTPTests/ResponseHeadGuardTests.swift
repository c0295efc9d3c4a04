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
#endif
