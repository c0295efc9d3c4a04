internal import FoundationEssentials
internal import TintypeLoading

/// The proxy for the connections of a downloader.
///
/// An HTTP proxy receives `CONNECT` for every server, even for `http`.
public enum ProxyOptions: Sendable, Hashable {
    /// Connections go to the servers directly.
    case none
    /// All connections go through a server.
    case server(ProxyServer)
    /// The proxy comes from the environment variables `https_proxy`, `http_proxy`, `all_proxy`, and `no_proxy`, in lowercase or uppercase.
    /// `HTTP_PROXY` in uppercase is ignored, because clients of a CGI program can set it. A proxy of another kind is an error.
    case environment

    /// Returns the proxy for a URL; `nil` for a direct connection.
    /// - Throws: ``ImageError/Code/badRequest`` if the environment names a proxy that can't be used.
    func server(for url: URL) throws(ImageError) -> ProxyServer? {
        switch self {
        case .none: nil
        case .server(let server): server
        case .environment: try Self.server(for: url, in: ProcessInfo.processInfo.environment)
        }
    }

    /// Returns the proxy that an environment names for a URL.
    static func server(for url: URL, in environment: [String: String]) throws(ImageError) -> ProxyServer? {
        func value(_ name: String) -> String? {
            let upper = name == "http_proxy" ? nil : environment[name.uppercased()]
            return (environment[name] ?? upper).flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let host = url.connectionHost else { return nil }
        if let exceptions = value("no_proxy"), isException(HostName(host), url.serverPort, in: exceptions) {
            return nil
        }
        let scheme = url.scheme?.lowercased() == "https" ? "https_proxy" : "http_proxy"
        guard let name = [scheme, "all_proxy"].first(where: { value($0) != nil }), let text = value(name) else {
            return nil
        }
        // A direct connection could lead around a proxy that filters or hides. The value isn't shown, because it may have a password.
        guard let server = ProxyServer(text) else {
            throw ImageError(
                .badRequest, stage: .load,
                reason: "the proxy in the environment variable \(name) can't be used; give http://HOST:PORT or "
                    + "socks5://HOST:PORT, or name the host in no_proxy")
        }
        return server
    }

    private static func isException(_ host: HostName, _ port: Int, in list: String) -> Bool {
        list.split(separator: ",").contains { item in
            var name = String(item).trimmed
            if name == "*" { return true }
            // A colon is that of a port unless the name is an address of version 6 without brackets.
            if let colon = name.lastIndex(of: ":"), let number = Int(name[name.index(after: colon)...]),
                name.hasPrefix("[") ? name[..<colon].hasSuffix("]") : name.firstIndex(of: ":") == colon
            {
                guard number == port else { return false }
                name = String(name[..<colon])
            }
            if let network = IPNetwork(name), let address = host.address { return network.contains(address) }
            while name.hasPrefix("*") || name.hasPrefix(".") { name.removeFirst() }
            let exception = HostName(name)
            return !exception.text.isEmpty && (host == exception || host.isBelow(exception))
        }
    }
}

/// A proxy.
public struct ProxyServer: Sendable, Hashable {
    /// True for SOCKS 5, without authentication; false for `CONNECT` of HTTP/1.1.
    public var usesSOCKS: Bool
    /// The host.
    public var host: String
    /// The port.
    public var port: Int
    /// The user name for an HTTP proxy; `nil` for none.
    public var user: String?
    /// The password for an HTTP proxy.
    public var password: String?

    /// Creates a proxy.
    /// - Parameters:
    ///   - host: the host of the proxy.
    ///   - port: the port, from 1 to 65535.
    ///   - user: the name of the user; `nil` for no authentication.
    ///   - password: the password of the user.
    ///   - usesSOCKS: true for SOCKS 5, false for `CONNECT` of HTTP/1.1.
    public init(host: String, port: Int, user: String? = nil, password: String? = nil, usesSOCKS: Bool = false) {
        self.usesSOCKS = usesSOCKS
        self.host = host
        self.port = port
        self.user = user
        self.password = password
    }

    /// Creates a proxy from text such as `http://user:password@proxy:8080`, `socks5://proxy:1080`, or `proxy:8080`.
    /// - Parameter text: the URL of the proxy. Without a scheme, it is `http`. The default port is 8080, or 1080 for SOCKS, which takes no
    ///   user name.
    public init?(_ text: String) {
        let full = text.contains("://") ? text : "http://" + text
        guard let url = URL(string: full), let host = url.connectionHost, url.hasPossiblePort else { return nil }
        switch url.scheme?.lowercased() {
        case "http": usesSOCKS = false
        case "socks5", "socks5h", "socks": usesSOCKS = true
        default: return nil
        }
        self.host = host
        port = url.port ?? (usesSOCKS ? 1_080 : 8_080)
        user = url.user(percentEncoded: false)
        password = url.password(percentEncoded: false)
        guard !usesSOCKS || user == nil && password == nil else { return nil }
    }
}

extension ProxyServer: CustomStringConvertible {
    /// The proxy without its password.
    public var description: String {
        "\(usesSOCKS ? "socks5" : "http") proxy \(user.map { "\($0)@" } ?? "")\(host):\(port)"
    }
}
