public import FoundationEssentials
internal import TintypeLoading
#if HTTP
internal import NIOSSL
#endif

/// The certificates that a downloader trusts and presents.
public struct TLSOptions: Sendable, Hashable {
    /// Certificates to trust in addition to the system's, in PEM.
    public var trustRoots: Data?
    /// False if only ``trustRoots`` are trusted.
    public var usesSystemRoots = true
    /// The certificate to present to servers that ask for it, and its chain, in PEM.
    public var clientCertificate: Data?
    /// The private key of ``clientCertificate``, in PEM.
    public var clientKey: Data?
    /// The hosts whose certificates aren't checked, for tests and devices without a valid certificate. Any machine on the network path can
    /// read and change their traffic. After a redirect to another host, certificates are checked again.
    public var insecureHosts: Set<String> = []

    /// Creates options that trust the certificates of the system.
    public init() {}

    /// Returns true if the certificate of a host isn't checked.
    func isInsecure(_ host: String?) -> Bool {
        guard !insecureHosts.isEmpty, let host = host.map(HostName.init) else { return false }
        return insecureHosts.contains { HostName($0) == host }
    }
}

#if HTTP
/// The configurations for connections that follow from the options, read once.
struct TLSConfigurations: Sendable {
    private let options: TLSOptions
    private let checking: Result<TLSConfiguration?, ImageError>
    private let trusting: Result<TLSConfiguration?, ImageError>

    init(_ options: TLSOptions) {
        self.options = options
        checking = Result { () throws(ImageError) in try options.configuration(isInsecure: false) }
        trusting =
            options.insecureHosts.isEmpty
            ? checking : Result { () throws(ImageError) in try options.configuration(isInsecure: true) }
    }

    /// The configuration for all hosts but exceptions; `nil` for the client library's choice, or if a certificate or a key can't be read.
    var common: TLSConfiguration? { try? checking.get() }

    /// Returns the configuration for a host that is an exception; `nil` for ``common``.
    ///
    /// With a configuration of its own, a request takes longer: it is hashed to find a connection.
    /// - Throws: ``ImageError/Code/connectionFailed`` if a certificate or a key can't be read.
    func exception(for host: String?) throws(ImageError) -> TLSConfiguration? {
        if options.isInsecure(host) { return try trusting.get() }
        _ = try checking.get()
        return nil
    }
}

extension TLSOptions {
    /// The configuration for connections; `nil` for the client library's choice.
    /// - Throws: ``ImageError/Code/connectionFailed`` if a certificate or a key can't be read.
    fileprivate func configuration(isInsecure: Bool) throws(ImageError) -> TLSConfiguration? {
        guard isInsecure || trustRoots != nil || !usesSystemRoots || clientCertificate != nil else { return nil }
        var tls = TLSConfiguration.makeClientConfiguration()
        do {
            let roots = try trustRoots.map { try NIOSSLCertificate.fromPEMBytes(Array($0)) } ?? []
            if usesSystemRoots {
                tls.additionalTrustRoots = [.certificates(roots)]
            } else {
                tls.trustRoots = .certificates(roots)
            }
            if let clientCertificate {
                tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(Array(clientCertificate)).map {
                    .certificate($0)
                }
                tls.privateKey = try clientKey.map {
                    .privateKey(try NIOSSLPrivateKey(bytes: Array($0), format: .pem))
                }
            }
        } catch {
            throw ImageError(
                .connectionFailed, stage: .load,
                reason: "a certificate or key of the TLS options can't be read: \(error)",
                underlying: error)
        }
        if isInsecure { tls.certificateVerification = .none }
        return tls
    }
}
#endif
