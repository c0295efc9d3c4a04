#if HTTP
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import TintypeHTTP

@Suite("Ends of HTTP/2 connections", .timeLimited)
struct HTTP2ConnectionEndTests {
    /// A frame with a type and a payload.
    private func frame(_ type: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF), type, 0, 0, 0, 0, 1] + payload
    }

    private func goAway(_ code: UInt8) -> [UInt8] { frame(7, [0, 0, 0, 0, 0, 0, 0, code]) }

    /// The bytes of a payload that look like a GOAWAY.
    private var bait: [UInt8] { Array(repeating: goAway(1), count: 20).flatMap { $0 } }

    @Test("A GOAWAY with an error is found behind other frames, and in no payload")
    func scanner() {
        var scanner = HTTP2ConnectionEnd.FrameScanner()
        func scan(_ bytes: [UInt8]) -> Bool {
            scanner.scan(.byteBuffer(ByteBuffer(bytes: bytes)))
            return scanner.end != nil
        }
        #expect(!scan(frame(0, bait) + frame(4) + goAway(0) + frame(1, bait)))
        // The payload of a frame follows by itself, in pieces.
        let whole = frame(0, bait)
        #expect(!scan(Array(whole.prefix(9))))
        #expect(!scan(Array(whole[9..<40])) && !scan(Array(whole[40...])))
        #expect(!scan(frame(6, Array(repeating: 0, count: 8))))
        #expect(scan(frame(0, bait) + goAway(2)) && scan(frame(4)))
    }

    @Test("Short, cut, and empty writes are no end", arguments: 0...16)
    func short(count: Int) {
        var scanner = HTTP2ConnectionEnd.FrameScanner()
        scanner.scan(.byteBuffer(ByteBuffer(bytes: goAway(1).prefix(count))))
        #expect(scanner.end == nil)
    }

    @Test("After the end is sent, the connection closes, and nothing more is read")
    func end() throws {
        let channel = EmbeddedChannel()
        let connection = HTTP2ConnectionGuard(PeerIdentity(of: channel))
        try channel.pipeline.syncOperations.addHandler(HTTP2ConnectionEnd(connection))
        try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(ByteBuffer(bytes: [1]))
        try channel.writeOutbound(IOData.byteBuffer(ByteBuffer(bytes: frame(4))))
        #expect(channel.isActive)
        channel.write(IOData.byteBuffer(ByteBuffer(bytes: goAway(1))), promise: nil)
        try channel.writeInbound(ByteBuffer(bytes: [2]))
        channel.flush()
        #expect(!channel.isActive)
        #expect(try channel.readInbound(as: ByteBuffer.self) == ByteBuffer(bytes: [1]))
        #expect(try channel.readInbound(as: ByteBuffer.self) == nil)
    }
}
#endif
