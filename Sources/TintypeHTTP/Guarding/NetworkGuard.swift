#if HTTP
internal import FoundationEssentials
internal import TintypeLoading

/// The servers that a downloader may connect to: a guard for programs that load untrusted URLs.
///
/// Without a guard, an untrusted URL can reach the program's own network, such as a database, a router, or the service that gives a virtual
/// machine its credentials (server-side request forgery).
///
/// ```swift
/// var configuration = ImageDownloader.Configuration.untrustedURLs
/// configuration.networkGuard?.deniedHosts = ["*.internal.example.org"]
/// let downloader = ImageDownloader(configuration)
/// ```
///
/// The guard checks the URL of each request, including each redirect. It resolves the host, checks all of its addresses, and connects to a
/// checked address, so that changing the addresses of a name after the check (DNS rebinding) has no effect. The server still receives the
/// name in `Host`, and has to prove it with its certificate.
///
/// A load of a refused URL ends with ``ImageError/Code/loadingDisallowed``, or with ``ImageError/Code/badRedirect`` if a redirect led to
/// the URL.
public struct NetworkGuard: Sendable {
    /// The hosts that may be requested; `nil` for all. `example.org` is a single host, and `*.example.org` all hosts below it.
    public var allowedHosts: [String]?
    /// The hosts that may not be requested, in the same form. An address also denies every name that resolves to it.
    public var deniedHosts: [String]
    /// The ports that may be requested; `nil` for all.
    public var ports: Set<Int>?
    /// True if only addresses of public servers are allowed.
    ///
    /// This excludes private, loopback, link-local, shared, multicast, documentation, and reserved addresses (IANA's registries of
    /// special-purpose addresses, RFC 6890), IPv6 addresses that embed such an IPv4 address, and addresses where providers of virtual
    /// machines offer credentials.
    public var requiresPublicAddresses: Bool
    /// The addresses that are allowed even if they are not public.
    public var allowedNetworks: [IPNetwork]
    /// The addresses that are never allowed.
    public var deniedNetworks: [IPNetwork]
    /// The resolver of host names.
    package var resolver: any HostResolving = SystemHostResolver()

    /// Creates a guard. Each parameter sets the property of the same name.
    public init(
        allowedHosts: [String]? = nil, deniedHosts: [String] = [], ports: Set<Int>? = [80, 443],
        requiresPublicAddresses: Bool = true, allowedNetworks: [IPNetwork] = [], deniedNetworks: [IPNetwork] = []
    ) {
        self.allowedHosts = allowedHosts
        self.deniedHosts = deniedHosts
        self.ports = ports
        self.requiresPublicAddresses = requiresPublicAddresses
        self.allowedNetworks = allowedNetworks
        self.deniedNetworks = deniedNetworks
    }

    /// Returns true if a connection to an address is allowed.
    /// - Parameter address: the address.
    func allows(_ address: IPAddress) -> Bool {
        if address.forms.contains(where: { form in deniedNetworks.contains { $0.contains(form) } }) { return false }
        if allowedNetworks.contains(where: { $0.contains(address) }) { return true }
        return !requiresPublicAddresses || address.isPublic
    }

    /// Checks a URL, and resolves its host.
    /// - Parameter url: a URL with a host, of the scheme `http` or `https`.
    /// - Returns: the addresses of the host, all allowed.
    /// - Throws: ``ImageError/Code/loadingDisallowed``, and the errors of the resolver.
    func addresses(of url: URL) async throws(ImageError) -> [IPAddress] {
        if let ports, !ports.contains(url.serverPort) { throw Self.refused("the port \(url.serverPort)") }
        guard let host = url.connectionHost else { throw Self.refused("a URL without a host") }
        let name = HostName(host)
        let refusedHost = Self.refused("the host “\(name.text.prefix(100))”")
        if deniedHosts.contains(where: { Self.matches(name, $0) }) { throw refusedHost }
        if let allowedHosts, !allowedHosts.contains(where: { Self.matches(name, $0) }) { throw refusedHost }
        let addresses: [IPAddress]
        if let address = IPAddress(host) {
            addresses = [address]
        } else {
            addresses = try await resolver.addresses(of: host)
        }
        guard !addresses.isEmpty else {
            throw ImageError(.connectionFailed, stage: .load, reason: "the host has no address")
        }
        // Systems know more spellings of an address than can be compared.
        let deniedAddresses = Set(deniedHosts.compactMap { HostName($0).address })
        guard addresses.allSatisfy({ deniedAddresses.isDisjoint(with: $0.forms) }) else { throw refusedHost }
        // One forbidden address among others is an attack, or a mistake that would succeed by chance.
        for address in addresses where !allows(address) {
            // The address isn't named, because the message may go back to the stranger.
            throw Self.refused("an address of the host “\(name.text.prefix(100))”")
        }
        return addresses
    }

    private static func matches(_ name: HostName, _ pattern: String) -> Bool {
        pattern.hasPrefix("*.") ? name.isBelow(HostName(String(pattern.dropFirst(2)))) : name == HostName(pattern)
    }

    private static func refused(_ what: String) -> ImageError {
        ImageError(.loadingDisallowed, stage: .load, reason: "the network guard disallows \(what)")
    }
}

extension ImageDownloader.Configuration {
    /// A configuration for untrusted URLs.
    ///
    /// | property | value |
    /// | --- | --- |
    /// | ``networkGuard`` | public addresses, ports 80 and 443 |
    /// | ``maximumBytes`` | 20 MB |
    /// | ``timeout``, ``firstByteTimeout`` | 10 s |
    /// | ``totalTimeout`` | 60 s |
    /// | ``minimumSpeed`` | 1 kB/s |
    /// | ``maximumDecompressionRatio`` | 100 |
    /// | ``maximumRedirects``, ``maximumRedirectsPerOrigin`` | 3, 2 |
    /// | ``maximumDownloadsPerHost`` | 2 |
    ///
    /// Also decode the images with ``DecodeLimits`` that suit the program.
    public static var untrustedURLs: Self {
        var configuration = Self(
            timeout: .seconds(10), totalTimeout: .seconds(60), maximumBytes: .megabytes(20), maximumRedirects: 3)
        configuration.networkGuard = NetworkGuard()
        configuration.firstByteTimeout = .seconds(10)
        configuration.minimumSpeed = 1_000
        configuration.maximumDecompressionRatio = 100
        configuration.maximumRedirectsPerOrigin = 2
        configuration.maximumDownloadsPerHost = 2
        return configuration
    }
}
#endif
