#if HTTP
internal import NIOCore
internal import NIOHTTP2

/// Closes an HTTP/2 connection that the client library has given up because of an error of the server.
///
/// The library announces the end of such a connection with a GOAWAY, but keeps it open, so that its requests get no answer. It goes on to
/// read, and keeps all that the server sends.
final class HTTP2ConnectionEnd: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var frames = FrameScanner()
    private let connection: HTTP2ConnectionGuard

    init(_ connection: HTTP2ConnectionGuard) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if frames.end == nil { context.fireChannelRead(data) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        frames.scan(unwrapOutboundIn(data))
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard let code = frames.end else { return }
        connection.recordViolation(code)
        context.close(promise: nil)
    }

    /// Finds a GOAWAY with an error code among frames that are sent (RFC 9113, sections 4.1 and 6.8).
    struct FrameScanner {
        private static let headBytes = 9
        private static let goAway: UInt8 = 7

        /// The error code of a GOAWAY; `nil` before one.
        private(set) var end: UInt32?
        /// The bytes that are missing of the present frame.
        private var missing = 0

        /// - Parameter data: Bytes that continue those before. The head of a frame is always whole.
        mutating func scan(_ data: IOData) {
            guard case .byteBuffer(let buffer) = data else {
                missing -= min(missing, data.readableBytes)
                return
            }
            var index = buffer.readerIndex
            while index < buffer.writerIndex {
                let skipped = min(missing, buffer.writerIndex - index)
                index += skipped
                missing -= skipped
                guard index + Self.headBytes <= buffer.writerIndex, missing == 0,
                    let head = buffer.getInteger(at: index, as: UInt32.self)
                else { return }
                if UInt8(truncatingIfNeeded: head) == Self.goAway,
                    let code = buffer.getInteger(at: index + Self.headBytes + 4, as: UInt32.self), code != 0
                {
                    end = code
                }
                missing = Int(head >> 8)
                index += Self.headBytes
            }
        }
    }
}
#endif
