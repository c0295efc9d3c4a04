#if HTTP
internal import NIOSSL

/// The certificate of an ``OriginServer`` for `https`.
public struct OriginTLS: Sendable {
    /// The certificate and its chain, in PEM.
    public var certificate: String
    /// The private key of the certificate, in PEM.
    public var key: String
    /// The certificates, in PEM, one of which must have signed the client's certificate; `nil` to request no client
    /// certificate.
    public var clientRoots: String?
    /// True for a server that speaks only HTTP/2. The default is false.
    public var speaksHTTP2 = false

    /// True for a server that agrees to HTTP/2 and then sends nothing. The default is false.
    public var isSilent = false

    /// Creates a certificate. Each parameter sets the property of the same name.
    public init(certificate: String, key: String, clientRoots: String? = nil) {
        self.certificate = certificate
        self.key = key
        self.clientRoots = clientRoots
    }

    var configuration: TLSConfiguration {
        get throws {
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
            tls.applicationProtocols = speaksHTTP2 || isSilent ? ["h2"] : ["http/1.1"]
            if let clientRoots {
                tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(clientRoots.utf8)))
                tls.certificateVerification = .noHostnameVerification
            }
            return tls
        }
    }
}
#endif
