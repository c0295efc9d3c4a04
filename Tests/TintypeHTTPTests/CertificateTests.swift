#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// A resolver for which every name is that of this computer.
private struct LocalResolver: HostResolving {
    func addresses(of host: String) async throws(ImageError) -> [IPAddress] {
        [IPAddress("127.0.0.1")].compactMap(\.self)
    }
}

/// The certificate has to be for the host of the URL, however the connection leads to its server.
@Suite("Certificates and hosts", .serialized, .timeLimited)
struct CertificateTests {
    /// The way to a server.
    enum Way: CaseIterable {
        case direct, tunnel, socks
    }

    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared.get() }

    private func downloader(_ way: Way, _ change: (inout TLSOptions) -> Void = { _ in }) throws -> (
        ImageDownloader, TunnelProxy
    ) {
        var tls = TLSOptions()
        tls.trustRoots = Data(certificates.root.utf8)
        change(&tls)
        let proxy = try TunnelProxy()
        var configuration = ImageDownloader.Configuration(timeout: .seconds(60), tls: tls, usesHTTP2: true)
        switch way {
        case .direct:
            let network = try #require(IPNetwork("127.0.0.0/8"))
            configuration.networkGuard = NetworkGuard(ports: nil, allowedNetworks: [network]).asking(LocalResolver())
        case .tunnel: configuration.proxy = .server(ProxyServer(host: "127.0.0.1", port: proxy.port))
        case .socks:
            var server = ProxyServer(host: "127.0.0.1", port: proxy.port)
            server.usesSOCKS = true
            configuration.proxy = .server(server)
        }
        return (ImageDownloader(configuration), proxy)
    }

    /// Returns the error of a load with a token; `nil` if it succeeded. After an error, the server hasn't got the token.
    private func load(
        _ certificate: OriginTLS, as host: String, _ way: Way, http2: Bool,
        _ change: (inout TLSOptions) -> Void = { _ in }
    ) async throws -> ImageError? {
        var certificate = certificate
        certificate.speaksHTTP2 = http2
        let server = try await OriginServer.start(tls: certificate) { _ in OriginResponse(bytes) }
        let (downloader, proxy) = try downloader(way, change)
        defer { withExtendedLifetime(proxy) {} }
        let request = LoadRequest(
            url: server.url("/a", host: host), headers: ["Authorization": "Bearer secret"])
        do throws(ImageError) {
            for _ in 0..<2 { #expect(try await downloader.load(request).data == bytes) }
        } catch {
            #expect(server.requests.isEmpty)
            return error
        }
        // The field for the check stays here.
        #expect(server.requests.count == 2)
        for request in server.requests {
            #expect(!request.headers.contains { $0.name.lowercased().contains("tintype-") })
        }
        return nil
    }

    @Test(
        "A certificate is accepted for its names, and for hosts of its domains", .capability("3.10"),
        arguments: Way.allCases,
        [false, true])
    func right(_ way: Way, http2: Bool) async throws {
        #expect(try await load(certificates.name, as: "localhost", way, http2: http2) == nil)
        #expect(try await load(certificates.name, as: "LocalHost", way, http2: http2) == nil)
        #expect(try await load(certificates.wildcard, as: "a.tintype.test", way, http2: http2) == nil)
        guard way != .socks else { return }
        #expect(try await load(certificates.address, as: "127.0.0.1", way, http2: http2) == nil)
    }

    @Test(
        "A certificate for another name, or for an address in place of a name, gets no request", .capability("3.10"),
        arguments: Way.allCases, [false, true])
    func wrong(_ way: Way, http2: Bool) async throws {
        for (certificate, host) in [
            (certificates.otherHost, "localhost"), (certificates.address, "localhost"),
            (certificates.address, "victim.test"), (certificates.common, "localhost"),
            (certificates.wildcard, "tintype.test"), (certificates.wildcard, "a.b.tintype.test"),
            (certificates.wildcard, "foo.tintype.example"), (certificates.wildcard, "a.test"),
        ] {
            let error = try await load(certificate, as: host, way, http2: http2)
            #expect(error?.code == .connectionFailed, "\(host): \(error as Any)")
        }
    }

    @Test("A certificate for a name isn't one for its address", arguments: [Way.direct, .tunnel], [false, true])
    func nameForAddress(_ way: Way, http2: Bool) async throws {
        #expect(try await load(certificates.name, as: "127.0.0.1", way, http2: http2)?.code == .connectionFailed)
    }

    @Test(
        "Certificates that are expired, or signed by strangers, get no request", arguments: Way.allCases, [false, true])
    func invalid(_ way: Way, http2: Bool) async throws {
        for certificate in [certificates.expired, certificates.selfSigned] {
            let error = try await load(certificate, as: "localhost", way, http2: http2)
            #expect([.connectionFailed, .connectionLost].contains(error?.code), "\(error as Any)")
        }
    }

    @Test("Hosts that are exceptions need no certificate, and others do", arguments: Way.allCases, [false, true])
    func exceptions(_ way: Way, http2: Bool) async throws {
        for certificate in [certificates.address, certificates.selfSigned, certificates.expired] {
            let error = try await load(certificate, as: "victim.test", way, http2: http2) {
                $0.insecureHosts = ["victim.test"]
            }
            #expect(error == nil)
        }
        let error = try await load(certificates.address, as: "victim.test", way, http2: http2) {
            $0.insecureHosts = ["localhost"]
        }
        #expect(error?.code == .connectionFailed)
    }

    @Test("A client's certificate changes nothing about the server's", arguments: Way.allCases, [false, true])
    func client(_ way: Way, http2: Bool) async throws {
        for (certificate, isRight) in [(certificates.name, true), (certificates.address, false)] {
            var certificate = certificate
            certificate.clientRoots = certificates.root
            let error = try await load(certificate, as: "localhost", way, http2: http2) {
                ($0.clientCertificate, $0.clientKey) = certificates.client
            }
            #expect(error?.code == (isRight ? nil : .connectionFailed))
        }
    }

    @Test("A Host field of the program's own doesn't change the host that the certificate has to be for")
    func hostField() async throws {
        let server = try await OriginServer.start(tls: certificates.wildcard) { _ in OriginResponse(bytes) }
        let (downloader, proxy) = try downloader(.direct)
        defer { withExtendedLifetime(proxy) {} }
        func request(_ host: String, _ field: String) -> LoadRequest {
            LoadRequest(url: server.url("/a", host: host), headers: ["Host": field, "tintype-certificate-host": field])
        }
        #expect(try await failure(downloader, request("localhost", "a.tintype.test")).code == .connectionFailed)
        #expect(server.requests.isEmpty)
        #expect(try await downloader.load(request("a.tintype.test", "localhost")).data == bytes)
        #expect(server.requests.last?.header("Host") == "localhost")
        #expect(server.requests.last?.header("tintype-certificate-host") == nil)
    }
}
#endif
