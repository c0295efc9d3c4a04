#if HTTP
public import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import TintypeLoading

/// A server for HTTP/1.1, or for HTTP/2 over TLS, on this computer, for tests and demonstrations.
///
/// It sends scripted responses, records requests, and misbehaves on demand.
///
/// ```swift
/// let server = try await OriginServer.start(["/a.png": OriginResponse(png, type: "image/png")])
/// let image = try await manager.image(for: server.url("/a.png"))
/// #expect(server.requestCount("/a.png") == 1)
/// await server.stop()
/// ```
///
/// By default, it listens on a free port of 127.0.0.1. A server stops when it is released.
public final class OriginServer: Sendable {
    /// A closure that answers a request. Different connections are answered concurrently.
    public typealias Handler = @Sendable (OriginRequest) async -> OriginResponse

    /// The port that the server listens on.
    public let port: Int
    private let listener: any Channel
    private let state: OriginState
    private let host: String
    private let scheme: String

    private init(listener: any Channel, state: OriginState, host: String, scheme: String) {
        self.listener = listener
        self.state = state
        self.host = host
        self.scheme = scheme
        port = listener.localAddress?.port ?? 0
    }

    deinit {
        listener.close(promise: nil)
        state.closeAll()
    }

    /// Starts a server that answers with a closure.
    /// - Parameters:
    ///   - port: the port, at most 65,535; 0 for any free port.
    ///   - host: an address of this computer.
    ///   - tls: the certificate of a server for `https`; `nil` for `http`.
    ///   - unixSocketPath: the path of a Unix domain socket to listen at, in place of a host and a port; `nil` for none.
    ///   - handler: returns the answer to a request.
    /// - Returns: the running server.
    /// - Throws: the error of the system if the server can't listen, and errors of the certificate.
    public static func start(
        port: Int = 0, host: String = "127.0.0.1", tls: OriginTLS? = nil, unixSocketPath: String? = nil,
        handler: @escaping Handler
    ) async throws -> OriginServer {
        precondition((0...65_535).contains(port), "\(port) isn't a port")
        let state = OriginState()
        let context = try tls.map { try NIOSSLContext(configuration: $0.configuration) }
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    if tls?.isSilent == true {
                        OriginConnection.startSilently(on: channel, state: state)
                    } else if tls?.speaksHTTP2 == true {
                        try OriginConnection.startHTTP2(on: channel, state: state, handler: handler)
                    } else {
                        try OriginConnection.start(on: channel, state: state, handler: handler)
                    }
                }
            }
        let listener =
            if let unixSocketPath {
                try await bootstrap.bind(unixDomainSocketPath: unixSocketPath).get()
            } else {
                try await bootstrap.bind(host: host, port: port).get()
            }
        return OriginServer(listener: listener, state: state, host: host, scheme: tls == nil ? "http" : "https")
    }

    /// Starts a server with a response for each path.
    /// - Parameters:
    ///   - port: the port; 0 for any free port.
    ///   - routes: the responses, keyed by paths as in ``url(_:host:user:)``. Every other path is answered with 404.
    /// - Returns: the running server.
    /// - Throws: the error of the system if the server can't listen.
    public static func start(
        port: Int = 0, _ routes: [String: OriginResponse]
    ) async throws -> OriginServer {
        let routes = Dictionary(uniqueKeysWithValues: routes.map { (OriginRequest.encoded($0.key), $0.value) })
        return try await start(port: port) { routes[$0.path] ?? .status(404) }
    }

    /// Closes all connections and waits for their end. Stopping again does nothing.
    public func stop() async {
        // The only error says that the listener is already closed.
        try? await listener.close()
        state.closeAll()
        try? await state.seen.wait { $0.connections.isEmpty }
    }

    /// Returns the URL of a path on this server.
    /// - Parameters:
    ///   - path: the path, which starts with a slash. Existing escapes are kept, and characters that a URL can't have
    ///     are escaped.
    ///   - host: a name or an address of this computer; `nil` for the address that the server listens on. A different
    ///     host, such as `localhost`, is a different origin.
    ///   - user: credentials such as `name:password`; `nil` for none.
    public func url(_ path: String, host: String? = nil, user: String? = nil) -> URL {
        precondition(path.hasPrefix("/"), "the path “\(path)” doesn't start with a slash")
        let login = user.map { "\($0)@" } ?? ""
        let host = host ?? self.host
        // The colons of an address of version 6 would start a port.
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let text = "\(scheme)://\(login)\(name):\(port)\(path)"
        guard let url = URL(written: text) else { preconditionFailure("“\(text)” isn't a URL") }
        return url
    }
}

extension OriginServer {
    /// All requests, in the order of their arrival.
    public var requests: [OriginRequest] { state.seen.value.requests }

    /// Returns the number of requests.
    /// - Parameter path: the path to count, as in ``url(_:host:user:)``; `nil` for all.
    public func requestCount(_ path: String? = nil) -> Int {
        let path = path.map(OriginRequest.encoded)
        return requests.count { path == nil || $0.path == path }
    }

    /// Waits until requests have arrived.
    /// - Parameters:
    ///   - count: the number of requests since the server started.
    ///   - path: the path to count, as in ``url(_:host:user:)``; `nil` for all.
    ///   - timeLimit: the longest wait; `nil` for no limit.
    /// - Throws: `CancellationError`, and ``WaitTimeout`` after the time limit.
    public func waitForRequests(_ count: Int, _ path: String? = nil, timeLimit: Duration? = nil) async throws {
        let path = path.map(OriginRequest.encoded)
        try await state.seen.wait(timeLimit: timeLimit) { seen in
            seen.requests.count { path == nil || $0.path == path } >= count
        }
    }

    /// The number of connections that the server has accepted since it started.
    public var acceptedConnections: Int { state.seen.value.lastConnection }

    /// The number of open connections.
    public var openConnections: Int { state.seen.value.connections.count }

    /// Waits until connections have closed.
    /// - Parameters:
    ///   - count: the largest number of connections that may still be open.
    ///   - timeLimit: the longest wait; `nil` for no limit.
    /// - Throws: `CancellationError`, and ``WaitTimeout`` after the time limit.
    public func waitForOpenConnections(atMost count: Int, timeLimit: Duration? = nil) async throws {
        try await state.seen.wait(timeLimit: timeLimit) { $0.connections.count <= count }
    }
}

/// The requests and connections of a server.
final class OriginState: Sendable {
    struct Seen: Sendable {
        var requests: [OriginRequest] = []
        /// The open connections by number.
        var connections: [Int: any Channel] = [:]
        var lastConnection = 0
        var isClosed = false
    }

    let seen = Watched(Seen())

    /// Closes all connections, including those that the system accepts later.
    func closeAll() {
        let channels = seen.update { seen in
            seen.isClosed = true
            return Array(seen.connections.values)
        }
        for channel in channels { channel.close(promise: nil) }
    }
}
#endif
