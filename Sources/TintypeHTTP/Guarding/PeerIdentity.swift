#if HTTP
internal import NIOCore
internal import NIOSSL

/// The identity of the server of a connection, which is checked before the first byte of each request (RFC 9110, section 4.3.4).
///
/// swift-nio-ssl 2.37.6 also takes a certificate for the address of the peer, even if the host of the URL is another: a wrong server that a
/// name was led to, or a proxy, has such a certificate for itself (`IdentityVerification.swift`). The handlers of a connection don't learn
/// the host from the client library. So each request over `https` has a field with it, which they remove. A request without it isn't sent.
final class PeerIdentity {
    /// The name of the field with the host of the URL.
    static let field = "tintype-certificate-host"
    /// The value of the field for a host whose certificate isn't checked. It isn't a host.
    static let unchecked = "*"

    /// The names in the certificate; `nil` for a connection without encryption.
    private let names: CertificateNames?
    private var lastHost: String?

    /// Reads the certificate of a connection after its handshake. Called on its event loop.
    init(of channel: any Channel) {
        let pipeline = channel.pipeline.syncOperations
        guard (try? pipeline.handler(type: NIOSSLClientHandler.self)) != nil else {
            names = nil
            return
        }
        let certificate = (try? pipeline.nioSSL_peerCertificate()) ?? nil
        names = CertificateNames(der: (try? certificate?.toDERBytes()) ?? [])
    }

    /// Checks the host of a request.
    /// - Throws: ``WrongCertificate`` if the certificate is for others.
    func check(_ host: String?) throws(WrongCertificate) {
        // Only requests over `https` have a host. A credential on a connection without a certificate would go out in the clear.
        guard names != nil || host != nil, host != Self.unchecked, host == nil || host != lastHost else { return }
        guard let names, let host, names.include(host) else { throw WrongCertificate() }
        lastHost = host
    }
}

/// The error of a server whose certificate is for other hosts.
struct WrongCertificate: Error {}
#endif
