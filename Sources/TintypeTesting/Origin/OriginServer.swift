#if HTTP
public import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import TintypeCore

/// An HTTP/1.1 server on this computer, for tests and demonstrations: it serves what it is told to, counts who asks, and does
/// wrong on request.
///
/// ```swift
/// let server = try await OriginServer.start(["/a.png": OriginResponse(png, type: "image/png")])
/// let image = try await manager.image(for: server.url("/a.png"))
/// #expect(server.requestCount("/a.png") == 1)
/// await server.stop()
/// ```
///
/// It listens on 127.0.0.1 on a port that is free. A server that nobody holds any more stops by itself.
public final class OriginServer: Sendable {
    /// Answers a request. Different connections are answered at the same time.
    public typealias Handler = @Sendable (OriginRequest) async -> OriginResponse

    /// The port it listens on.
    public let port: Int
    private let listener: any Channel
    private let state: OriginState

    private init(listener: any Channel, state: OriginState) {
        self.listener = listener
        self.state = state
        port = listener.localAddress?.port ?? 0
    }

    deinit {
        listener.close(promise: nil)
        state.closeAll()
    }

    /// Starts a server that answers with a closure.
    /// - Parameter port: 0 for any that is free.
    /// - Throws: what the system says if it cannot listen.
    public static func start(port: Int = 0, handler: @escaping Handler) async throws -> OriginServer {
        let state = OriginState()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try OriginConnection.start(on: channel, state: state, handler: handler)
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        return OriginServer(listener: listener, state: state)
    }

    /// Starts a server with an answer for each path; every other path is 404.
    public static func start(
        port: Int = 0, _ routes: [String: OriginResponse]
    ) async throws -> OriginServer {
        try await start(port: port) { routes[$0.path] ?? .status(404) }
    }

    /// Closes all connections, and returns when that is done. Stopping again does nothing.
    public func stop() async {
        // The one error there is says that it is closed already.
        try? await listener.close()
        state.closeAll()
        try? await state.seen.wait { $0.connections.isEmpty }
    }

    /// The URL of a path on this server; the path begins with a slash and is percent encoded.
    /// - Parameter host: another name of this computer makes another origin, such as `localhost`.
    public func url(_ path: String, host: String = "127.0.0.1", user: String? = nil) -> URL {
        let login = user.map { "\($0)@" } ?? ""
        return URL(string: "http://\(login)\(host):\(port)\(path)") ?? URL(filePath: "/")
    }
}

extension OriginServer {
    /// All requests in the order in which they came.
    public var requests: [OriginRequest] { state.seen.value.requests }

    /// How many requests came for a path, or for all of them.
    public func requestCount(_ path: String? = nil) -> Int {
        requests.count { path == nil || $0.path == path }
    }

    /// Returns when at least so many requests have come, for a path or for all of them.
    public func waitForRequests(_ count: Int, _ path: String? = nil) async throws {
        try await state.seen.wait { seen in
            seen.requests.count { path == nil || $0.path == path } >= count
        }
    }

    /// How many connections are open.
    public var openConnections: Int { state.seen.value.connections.count }

    /// Returns when no more than so many connections are open.
    public func waitForOpenConnections(atMost count: Int) async throws {
        try await state.seen.wait { $0.connections.count <= count }
    }
}

/// What a server has seen, and what it is busy with.
final class OriginState: Sendable {
    struct Seen: Sendable {
        var requests: [OriginRequest] = []
        /// The open connections by number.
        var connections: [Int: any Channel] = [:]
        var lastConnection = 0
        var isClosed = false
    }

    let seen = Watched(Seen())

    /// Closes all connections, and those that the system still hands over.
    func closeAll() {
        let channels = seen.update { seen in
            seen.isClosed = true
            return Array(seen.connections.values)
        }
        for channel in channels { channel.close(promise: nil) }
    }
}
#endif
