#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// Certificates that are made for one run of the tests.
struct Certificates: Sendable {
    let root: String
    let good: OriginTLS
    let expired: OriginTLS
    let otherHost: OriginTLS
    /// A certificate for the name `localhost` alone, for any host of a domain, for the address of the server, and for a common name alone.
    let name: OriginTLS
    let wildcard: OriginTLS
    let address: OriginTLS
    let common: OriginTLS
    let selfSigned: OriginTLS
    let client: (certificate: Data, key: Data)

    static let shared = Result { try Certificates() }

    private init() throws {
        let folder = try TemporaryDirectory()
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        func openssl(_ arguments: [String]) throws { try run(["openssl"] + arguments, in: folder.path) }
        func text(_ name: String) throws -> String {
            try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
        }
        try openssl(
            ["req", "-x509"] + newKey + ["-keyout", "root.key", "-out", "root.pem", "-subj", "/CN=Root", "-days", "30"])
        func signed(_ name: String, _ alternative: String, days: Int) throws -> OriginTLS {
            try openssl(
                ["req"] + newKey + [
                    "-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(name)",
                    "-addext", "subjectAltName=\(alternative)",
                ])
            try openssl([
                "x509", "-req", "-in", "\(name).csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial",
                "-copy_extensions", "copy", "-days", "\(days)", "-out", "\(name).pem",
            ])
            return OriginTLS(certificate: try text("\(name).pem"), key: try text("\(name).key"))
        }
        root = try text("root.pem")
        good = try signed("good", "DNS:localhost,IP:127.0.0.1", days: 30)
        expired = try signed("expired", "DNS:localhost,IP:127.0.0.1", days: -1)
        otherHost = try signed("other", "DNS:other.example", days: 30)
        name = try signed("name", "DNS:localhost", days: 30)
        wildcard = try signed("wildcard", "DNS:*.tintype.test,DNS:*.test,DNS:f*.tintype.example", days: 30)
        address = try signed("address", "IP:127.0.0.1", days: 30)
        common = try signed("localhost", "email:a@b.test", days: 30)
        let user = try signed("user", "DNS:user", days: 30)
        client = (Data(user.certificate.utf8), Data(user.key.utf8))
        try openssl(
            ["req", "-x509"] + newKey + [
                "-keyout", "self.key", "-out", "self.pem", "-subj", "/CN=self", "-days", "30",
                "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            ])
        selfSigned = OriginTLS(certificate: try text("self.pem"), key: try text("self.key"))
    }
}

@Suite("Secure connections", .timeLimited)
struct TLSTests {
    private let certificates: Certificates
    private var trusting: TLSOptions {
        var tls = TLSOptions()
        tls.trustRoots = Data(certificates.root.utf8)
        return tls
    }

    init() throws { certificates = try Certificates.shared.get() }

    private func server(_ tls: OriginTLS) async throws -> OriginServer {
        try await OriginServer.start(tls: tls) { _ in OriginResponse(bytes) }
    }

    @Test("A certificate of a trusted root is accepted, also for a checked address", .capability("DLR-36"))
    func good() async throws {
        let server = try await server(certificates.good)
        let url = server.url("/a", host: "localhost")
        #expect(try await ImageDownloader(.init(tls: trusting)).load(LoadRequest(url: url)).data == bytes)
        var only = trusting
        only.usesSystemRoots = false
        #expect(try await ImageDownloader(.init(tls: only)).load(LoadRequest(url: url)).data == bytes)
        let network = try #require(IPNetwork("127.0.0.0/8"))
        let six = try #require(IPNetwork("::1"))
        // The connection goes to the address, and the certificate has to have the name.
        let guarded = ImageDownloader(
            .init(networkGuard: NetworkGuard(ports: nil, allowedNetworks: [network, six]), tls: trusting))
        #expect(try await guarded.load(LoadRequest(url: url)).data == bytes)
    }

    @Test(
        "An invalid certificate is a failed connection, and nothing is requested", .capability("DLR-36"),
        arguments: ["expired", "other host", "self-signed", "unknown root"])
    func bad(_ kind: String) async throws {
        let tls =
            switch kind {
            case "expired": certificates.expired
            case "other host": certificates.otherHost
            case "self-signed": certificates.selfSigned
            default: certificates.good
            }
        let server = try await server(tls)
        let options = kind == "unknown root" ? TLSOptions() : trusting
        let downloader = ImageDownloader(.init(tls: options))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a", host: "localhost")))
        #expect(error.code == .connectionFailed && error.reason.contains("secure connection"), "\(error)")
        #expect(server.requestCount() == 0)
    }

    @Test("An exception lets one host have an invalid certificate, and no other", .capability("OPT-06"))
    func insecureHost() async throws {
        let expired = try await server(certificates.expired)
        var tls = TLSOptions()
        tls.insecureHosts = ["LOCALHOST"]
        let downloader = ImageDownloader(.init(tls: tls))
        #expect(try await downloader.load(LoadRequest(url: expired.url("/a", host: "localhost"))).data == bytes)
        #expect(try await failure(downloader, LoadRequest(url: expired.url("/a"))).code == .connectionFailed)
        let target = expired.url("/a").absoluteString
        let redirecting = try await OriginServer.start(tls: certificates.expired) { _ in .redirect(to: target) }
        let error = try await failure(downloader, LoadRequest(url: redirecting.url("/a", host: "localhost")))
        #expect(error.code == .connectionFailed)
    }

    @Test("A server that asks for a certificate gets that of the configuration")
    func clientCertificate() async throws {
        var asking = certificates.good
        asking.clientRoots = certificates.root
        let server = try await server(asking)
        let url = server.url("/a", host: "localhost")
        let code = try await failure(ImageDownloader(.init(tls: trusting)), LoadRequest(url: url)).code
        #expect([.connectionFailed, .connectionLost].contains(code))
        var tls = trusting
        (tls.clientCertificate, tls.clientKey) = certificates.client
        #expect(try await ImageDownloader(.init(tls: tls)).load(LoadRequest(url: url)).data == bytes)
    }

    @Test("Certificates that can't be read are an error of each load")
    func unreadable() async throws {
        let server = try await server(certificates.good)
        var tls = TLSOptions()
        tls.trustRoots = Data("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n".utf8)
        let error = try await failure(ImageDownloader(.init(tls: tls)), LoadRequest(url: server.url("/a")))
        #expect(error.code == .connectionFailed && error.reason.contains("TLS options"))
    }
}
#endif
