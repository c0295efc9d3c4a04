#if HTTP
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import TintypeLoading

/// Puts the target of a request (RFC 9112, section 3.2) in place of the client library's wrong target.
///
/// An escape may stand for any byte, such as `%DF` in a name of Latin-1 (RFC 3986, section 2.1). The library asks for `/` if `URL.path` is
/// empty (async-http-client 1.37, `URL.percentEncodedPath`), and FoundationEssentials leaves that empty if the bytes aren't UTF-8. The
/// right target reaches the connection in a field that only this handler sees.
final class RequestTarget: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The name of the field. It is never sent.
    private static let field = "Tintype-Request-Target"

    /// Adds the target to the fields of a request if the library would derive another from its URL.
    static func correct(_ headers: inout HTTPHeaders, for url: URL) {
        headers.remove(name: field)
        let path = url.path(percentEncoded: true)
        guard url.path.isEmpty, !path.isEmpty else { return }
        headers.add(name: field, value: path + (url.query(percentEncoded: true).map { "?" + $0 } ?? ""))
    }

    /// Adds the handler to an HTTP/1.1 connection. Called on the connection's event loop.
    static func install(on channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try pipeline.addHandler(RequestTarget(), position: .after(parser))
    }

    /// Adds the handler to the stream of an HTTP/2 request. Called on the connection's event loop.
    static func installOnStream(_ channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let conversion = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
        try pipeline.addHandler(RequestTarget(), position: .after(conversion))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let target = head.headers.first(name: Self.field) else {
            return context.write(data, promise: promise)
        }
        head.uri = target
        head.headers.remove(name: Self.field)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
#endif
