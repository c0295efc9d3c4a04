#if HTTP
internal import AsyncHTTPClient
internal import FoundationEssentials
internal import TintypeCore

/// A client of the library, with its connections, which close when it is released.
final class SharedHTTPClient: Sendable {
    let client: HTTPClient

    init(_ configuration: HTTPClient.Configuration) {
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
        // No transfer uses the client, because transfers retain it. Idle connections close without anybody waiting.
        client.shutdown { _ in }
    }
}

/// The clients of a downloader: the current one, and earlier ones until their last transfers end.
///
/// The library keeps idle connections to any number of servers. Images from many servers would use up the descriptors of the process.
/// So after ``maximumServers`` servers, a new client takes over, and the connections of the previous one close.
final class HTTPClients: Sendable {
    /// The largest number of servers of one client.
    static let maximumServers = 100

    private struct Earlier {
        weak var client: SharedHTTPClient?
    }

    private struct State {
        var current: SharedHTTPClient
        var servers: Set<String> = []
        var earlier: [Earlier] = []

        /// Returns the current client; `nil` if it has too many servers already.
        mutating func client(for server: String) -> SharedHTTPClient? {
            guard servers.count < HTTPClients.maximumServers || servers.contains(server) else { return nil }
            servers.insert(server)
            return current
        }
    }

    private let state: Lock<State>
    private let makeClient: @Sendable () -> SharedHTTPClient

    init(_ makeClient: @escaping @Sendable () -> SharedHTTPClient) {
        self.makeClient = makeClient
        state = Lock(State(current: makeClient()))
    }

    /// Returns the client for a request, which has to be retained until the end of the response.
    func client(for url: URL) -> SharedHTTPClient {
        let server = "\(url.scheme ?? "")://\(url.host() ?? ""):\(url.port ?? 0)"
        if let client = state.withLock({ $0.client(for: server) }) { return client }
        let new = makeClient()
        // The previous client is released outside the lock.
        let (client, _) = state.withLock { state -> (SharedHTTPClient, SharedHTTPClient?) in
            if let client = state.client(for: server) { return (client, nil) }
            let previous = state.current
            state.earlier.removeAll { $0.client == nil }
            state.earlier.append(Earlier(client: previous))
            state.current = new
            state.servers = [server]
            return (new, previous)
        }
        return client
    }

    /// Closes all connections, and waits until they are closed.
    func shutdown() async {
        let clients = state.withLock { [$0.current] + $0.earlier.compactMap(\.client) }
        // The only error says that a client is already shut down.
        for shared in clients { try? await shared.client.shutdown() }
    }
}
#endif
