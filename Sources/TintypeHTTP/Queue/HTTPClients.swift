#if HTTP
internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore
internal import NIOSSL
internal import TintypeLoading

/// A client of the library, with its connections, which close when it is released.
final class SharedHTTPClient: Sendable {
    let client: HTTPClient
    private let eventLoops: [any EventLoop]
    private let ending = Lock<Task<Void, Never>?>(nil)

    init(_ configuration: HTTPClient.Configuration) {
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        eventLoops = Array(client.eventLoopGroup.makeIterator())
    }

    /// The event loop for a request.
    ///
    /// With HTTP/2, all requests of a server share a connection, and those that wait on another event loop than the connection's wake it
    /// for each of their steps. So the requests of a server that may speak HTTP/2 share an event loop.
    func eventLoop(for request: HTTPClient.Request) -> HTTPClient.EventLoopPreference {
        guard request.useTLS, !eventLoops.isEmpty else { return .indifferent }
        let number = UInt(bitPattern: request.host.hashValue) % UInt(eventLoops.count)
        return .delegate(on: eventLoops[Int(number)])
    }

    /// Closes all connections. Every caller waits until they are closed.
    func shutdown() async {
        let task = ending.withLock { ending in
            // The only error says that the client is already shut down.
            let task = ending ?? Task { [client] in try? await client.shutdown() }
            ending = task
            return task
        }
        await task.value
    }

    deinit {
        // No transfer uses the client, because transfers retain it. Idle connections close without anybody waiting.
        client.shutdown { _ in }
    }
}

/// The settings that are properties of a client of the library, and may differ between requests.
struct HTTPClientRoute: Hashable, Sendable {
    /// The proxy; `nil` for direct connections.
    var proxy: ProxyServer?
    /// The host whose connections go to ``address``; `nil` if the library resolves hosts.
    var host: String?
    var address: IPAddress?
    /// False if there is another address to try if this address doesn't answer.
    var isLastAddress = true
    /// True if the server refused HTTP/2.
    var isHTTP1Only = false

    /// The longest attempt to connect to an address that isn't the last: longer than a lost packet or two delay it.
    private static let addressPatience = Duration.seconds(4)

    /// The time limit of an attempt to connect, given the downloader's limit.
    func connectLimit(_ limit: Duration) -> Duration {
        isLastAddress ? limit + .seconds(5) : min(limit / 4, Self.addressPatience)
    }
}

/// The clients of a downloader: a client for each route, and earlier clients until their last transfers end.
///
/// The library keeps idle connections to any number of servers. Images from many servers would use up the descriptors of the process.
/// So after ``maximumServers`` servers, new clients take over, and the connections of the previous clients close.
final class HTTPClients: Sendable {
    /// The largest number of servers of all current clients.
    static let maximumServers = 100

    private struct Earlier {
        weak var client: SharedHTTPClient?
    }

    private struct State {
        var current: [HTTPClientRoute: SharedHTTPClient] = [:]
        var servers: Set<String> = []
        var earlier: [Earlier] = []

        /// Returns the current client; `nil` if there is none, or there are too many servers already.
        mutating func client(for server: String, _ route: HTTPClientRoute) -> SharedHTTPClient? {
            guard let client = current[route],
                servers.count < HTTPClients.maximumServers || servers.contains(server)
            else { return nil }
            servers.insert(server)
            return client
        }
    }

    private let state = Lock(State())
    private let makeClient: @Sendable (HTTPClientRoute) -> SharedHTTPClient

    init(_ makeClient: @escaping @Sendable (HTTPClientRoute) -> SharedHTTPClient) { self.makeClient = makeClient }

    /// Returns the client for a request, which has to be retained until the end of the response.
    /// - Parameter server: the scheme, host, and port.
    func client(for server: String, _ route: HTTPClientRoute) -> SharedHTTPClient {
        let server = route.address.map { "\(server) \($0.description)" } ?? server
        if let client = state.withLock({ $0.client(for: server, route) }) { return client }
        let new = makeClient(route)
        // Previous clients are released outside the lock.
        let (client, _) = state.withLock { state -> (SharedHTTPClient, [SharedHTTPClient]) in
            if let client = state.client(for: server, route) { return (client, []) }
            var previous: [SharedHTTPClient] = []
            if max(state.servers.count, state.current.count) >= Self.maximumServers {
                previous = Array(state.current.values)
                state.earlier.removeAll { $0.client == nil }
                state.earlier += previous.map { Earlier(client: $0) }
                (state.current, state.servers) = ([:], [])
            }
            state.current[route] = new
            state.servers.insert(server)
            return (new, previous)
        }
        return client
    }

    /// Closes all connections, and waits until they are closed, or for the time limit.
    ///
    /// The library can't close a connection of HTTP/2 before the server has sent its settings, which it may never do.
    func shutdown(within limit: Duration, _ time: Timekeeper) async {
        let clients = state.withLock { Array($0.current.values) + $0.earlier.compactMap(\.client) }
        let deadline = time.now() + limit
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task {
            for client in clients { await client.shutdown() }
            end.finish()
        }
        let timer = Task {
            try? await time.sleep(deadline)
            end.finish()
        }
        // A task of its own, because a canceled task wouldn't wait.
        await Task { for await _ in ends {} }.value
        timer.cancel()
    }
}

extension HTTPClient.Configuration {
    init(
        _ configuration: ImageDownloader.Configuration, _ route: HTTPClientRoute, _ tls: TLSConfiguration? = nil
    ) {
        // The downloader has redirects and time limits of its own. The client's limit comes later, and only makes sure that no attempt
        // to connect goes on unwatched, unless there is another address to try.
        let limit = TimeAmount(route.connectLimit(configuration.idleLimit))
        self.init(tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: Timeout(connect: limit))
        // The slots limit the number of connections.
        connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        // A server that refuses the connection is an answer: there is nothing to wait for.
        connectionPool.retryConnectionEstablishment = false
        // The client's spans have whole URLs, and so secrets. Tintype has spans of its own.
        tracing.tracer = nil
        // ``ContentDecoding`` decompresses, within limits of bytes and, if the configuration has one, of a ratio.
        decompression = .disabled
        if !configuration.usesHTTP2 || route.isHTTP1Only { httpVersion = .http1Only }
        http1_1ConnectionDebugInitializer = { ConnectionGuard.install(on: $0) }
        http2ConnectionDebugInitializer = { ConnectionGuard.installHTTP2(on: $0) }
        http2StreamChannelDebugInitializer = { ConnectionGuard.installOnStream($0) }
        if let host = route.host, let address = route.address { dnsOverride = [host: address.description] }
        proxy = route.proxy.map { server in
            if server.usesSOCKS { return .socksServer(host: server.host, port: server.port) }
            let login = server.user.map {
                HTTPClient.Authorization.basic(username: $0, password: server.password ?? "")
            }
            return .server(host: server.host, port: server.port, authorization: login)
        }
    }
}
#endif
