internal import Tintype

/// The options of transfers that commands have.
package struct NetworkOptions: Sendable {
    /// The number of repetitions of transfers that fail.
    package var retries = 0
    /// The proxy, such as `http://proxy:8080`; `nil` for the environment's.
    package var proxy: String?
    /// The hosts whose certificates aren't checked.
    package var insecureHosts: [String] = []
    /// True if only public addresses are allowed, with the limits for URLs of strangers.
    package var isGuarded = false

    package init() {}

    /// Returns true if a text names a proxy.
    package static func isProxy(_ text: String) -> Bool {
        #if HTTP
        text == "none" || ProxyServer(text) != nil
        #else
        false
        #endif
    }

    #if HTTP
    var configuration: ImageDownloader.Configuration {
        var configuration = isGuarded ? ImageDownloader.Configuration.untrustedURLs : .init()
        configuration.retry = RetryPolicy(maximumAttempts: retries + 1)
        configuration.tls.insecureHosts = Set(insecureHosts)
        configuration.proxy =
            switch proxy {
            case nil: .environment
            case "none": .none
            case let text?: ProxyServer(text).map { .server($0) } ?? .none
            }
        return configuration
    }
    #endif
}
