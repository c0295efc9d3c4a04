#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeLoading
@testable import TintypeHTTP

@Suite("Names of hosts", .timeLimited)
struct HostNameTests {
    /// What somebody writes, and the host that is asked for; `nil` if there is none. The rows follow the tests of WHATWG's URL standard
    /// (`urltestdata.json` and `toascii.json` of web-platform-tests), as far as they are about names.
    private static let written: [(text: String, host: String?)] = [
        ("example.com", "example.com"), ("ExAmPlE.CoM", "example.com"), ("LOCALhost", "localhost"),
        ("example.com.", "example.com."),
        ("faß.ExAmPlE", "xn--fa-hia.example"), ("bücher.test", "xn--bcher-kva.test"),
        ("BÜCHER.test", "xn--bcher-kva.test"),
        ("bu\u{308}cher.test", "xn--bcher-kva.test"), ("b%C3%BCcher.test", "xn--bcher-kva.test"),
        ("xn--bcher-kva.test", "xn--bcher-kva.test"), ("你好你好", "xn--6qqa088eba"),
        ("%E4%BD%A0%E5%A5%BD", "xn--6qq79v"), ("β.example", "xn--nxa.example"), ("ς.example", "xn--3xa.example"),
        ("Ｇｏ.com", "go.com"), ("www.foo。bar.com", "www.foo.bar.com"), ("www.foo．bar｡com", "www.foo.bar.com"),
        ("GOO\u{200B}\u{2060}\u{FEFF}goo.com", "googoo.com"), ("ﬀ.example", "ff.example"),
        ("日本語。ＪＰ", "xn--wgv71a119e.jp"), ("ex%61mple.com", "example.com"), ("EX%41MPLE.com", "example.com"),
        ("a_b.ü.test", "a_b.xn--tda.test"), ("０Ｘｃ０．０２５０．０１", "0xc0.0250.01"),
        ("bücher%2Etest", "xn--bcher-kva.test"), ("ü%C3%BC.test", "xn--tdaa.test"), ("☃.net", "xn--n3h.net"),
        ("i❤.ws", "xn--i-7iq.ws"), ("🎨.Test", "xn--8k8h.test"), ("♥\u{FE0F}.test", "xn--g6h.test"),
        ("[::1]", "::1"), ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1"),
        // Symbols beside letters for which libidn2 knows only the old rules.
        ("faß☃.net", nil), ("☃\u{200D}☃.net", nil),
        // Characters that no host can have, as they are, as an escape, or as what a letter stands for.
        ("ho%20st", nil), ("ho%00st", nil), ("ho%0D%0Ast", nil), ("ho%09st", nil), ("ho%2Fst", nil), ("ho%3Ast", nil),
        ("ho%40st", nil), ("ho%23st", nil), ("ho%3Fst", nil), ("ho%5Bst", nil), ("ho%5Cst", nil), ("ho%3Cst", nil),
        ("ho%7Cst", nil), ("ho%5Est", nil), ("ho%25st", nil), ("ho%7Fst", nil), ("％００.com", nil),
        ("a\u{2100}b.test", nil), ("a／b.test", nil), ("a＠b.test", nil), ("a：80.test", nil), ("%EF%B7%90zyx.com", nil),
        ("\u{FFFD}.com", nil), ("\u{AD}", nil), ("%C2%AD", nil), ("%ED%A0%80.com", nil),
        ("%FF.com", nil), ("%80.com", nil), (longLabel, nil), (longName, nil),
    ]
    private static let longLabel: String = String(repeating: "ü", count: 64) + ".test"
    private static let longName: String = String(repeating: "ü.", count: 600) + "test"

    @Test(
        "A name in any script is asked for in ASCII, and one that no host can have isn't", .capability("DLR-30", "3.10")
    )
    func ascii() throws {
        for row in Self.written {
            let url = URL(written: "http://me:pw@\(row.text):81/%DF%20a?b=%E4#c")
            let encoded = url?.withCanonicalHost
            #expect(encoded?.host(percentEncoded: true) == row.host, "\(row.text)")
            // This process has all of Foundation, which writes most of them in ASCII itself.
            if !row.text.contains("%"), !row.text.contains("[") {
                #expect(InternationalName.ascii(row.text) == row.host, "\(row.text)")
            }
            guard let encoded else { continue }
            // Nothing else changes.
            #expect(encoded.absoluteString.hasSuffix(":81/%DF%20a?b=%E4#c"), "\(encoded.absoluteString)")
            #expect(encoded.absoluteString.hasPrefix("http://me:pw@"))
            #expect(URL(string: encoded.absoluteString)?.withASCIIHost == encoded)
        }
        #expect(Self.written.count > 50)
    }

    @Test("A URL with such a name is requested, and one with an impossible name is refused")
    func requests() async throws {
        let server = try await OriginServer.start { request in
            request.path == "/to"
                ? .redirect(to: "http://bücher.test:\(request.header("port") ?? "")/x") : OriginResponse(bytes)
        }
        let resolver = FixedResolver("127.0.0.1")
        let networkGuard = NetworkGuard(
            allowedHosts: ["*.TEST", "127.0.0.1"], deniedHosts: ["fuß.test"], ports: nil,
            allowedNetworks: [try #require(IPNetwork("127.0.0.0/8"))]
        ).asking(resolver)
        let downloader = ImageDownloader(.init(networkGuard: networkGuard))
        for text in ["http://bücher.test:\(server.port)/a", "http://b%C3%BCcher.test:\(server.port)/a"] {
            let url = try #require(URL(string: text))
            #expect(try await downloader.load(LoadRequest(url: url)).data == bytes)
            #expect(server.requests.last?.header("Host") == "xn--bcher-kva.test:\(server.port)")
        }
        let request = LoadRequest(url: server.url("/to"), headers: ["port": "\(server.port)"])
        let moved = try await downloader.load(request)
        #expect(moved.url.absoluteString == "http://xn--bcher-kva.test:\(server.port)/x")
        let denied = try #require(URL(string: "http://FUß.test:\(server.port)/"))
        #expect(try await failure(downloader, LoadRequest(url: denied)).code == .loadingDisallowed)
        let count = server.requestCount()
        for text in ["http://ho%0D%0Ast/", "http://a%2Fb/", "http://%FF.com/"] {
            let url = try #require(URL(string: text))
            #expect(try await failure(downloader, LoadRequest(url: url)).code == .invalidURL, "\(text)")
            let redirector = try await OriginServer.start { _ in .redirect(to: text) }
            #expect(try await failure(ImageDownloader(), LoadRequest(url: redirector.url("/"))).code == .badRedirect)
            let changed = ImageDownloader(.init(requestModifier: { $0.url = url }))
            #expect(try await failure(changed, LoadRequest(url: server.url("/"))).code == .invalidURL)
        }
        #expect(server.requestCount() == count)
    }

    @Test("However a host is spelled, its connection is used again")
    func sharedConnection() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let networkGuard = NetworkGuard(ports: nil, requiresPublicAddresses: false).asking(FixedResolver("127.0.0.1"))
        let downloader = ImageDownloader(.init(networkGuard: networkGuard))
        for host in ["name.test", "Name.test", "NAME.TEST", "n%41me.test"] {
            let url = try #require(URL(string: "http://\(host):\(server.port)/a"))
            #expect(try await downloader.load(LoadRequest(url: url)).data == bytes)
        }
        #expect(server.acceptedConnections == 1)
        #expect(server.requests.allSatisfy { $0.header("Host") == "name.test:\(server.port)" })
    }

    @Test(
        "Two spellings of a host are one",
        arguments: [
            ("Example.COM.", "example.com"), ("[::1]", "::1"), ("[0:0::0:1]", "::1"),
            ("::FFFF:7f00:1", "::ffff:127.0.0.1"),
            ("bücher.test", "XN--BCHER-KVA.test"), ("127.0.0.1", "[127.0.0.1]"),
        ])
    func spellings(one: String, other: String) {
        #expect(HostName(one) == HostName(other))
        var tls = TLSOptions()
        tls.insecureHosts = [one]
        #expect(tls.isInsecure(other) && !tls.isInsecure("other") && !tls.isInsecure(nil))
    }

    @Test(
        "no_proxy names hosts with brackets and ports, and networks", .capability("DLC-04"),
        arguments: [
            ("http://[::1]/", "[::1]", true), ("http://[::1]/", "::1", true), ("http://[::1]:81/", "[::1]:81", true),
            ("http://[::1]:81/", "[::1]:82", false), ("http://[::2]/", "::1", false),
            ("http://a.test/", "a.test:80", true),
            ("https://a.test/", "a.test:80", false), ("https://b.a.test/", ".a.test:443", true),
            ("http://a.test:8080/", "x, a.test:8080", true), ("http://10.1.2.3/", "10.0.0.0/8", true),
            ("http://a.test./", "a.test", true), ("http://bücher.test/", "bücher.test", true),
            ("http://a.test/", ":80", false),
            ("http://a.test/", "est", false), ("http://[fe80::1]/", "fe80::/10", true),
        ])
    func exceptions(_ url: String, _ list: String, _ isException: Bool) throws {
        let url = try #require(URL(written: url))
        let proxy = try ProxyOptions.server(
            for: url, in: ["all_proxy": "http://proxy:1", "no_proxy": list])
        #expect((proxy == nil) == isException)
    }

    @Test(
        "A denied address is denied in every spelling, as an address of zeros, and under any name", .capability("3.10"),
        arguments: [
            "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "0", "[::]", "[::1]", "[::ffff:0.0.0.0]",
            "[::ffff:127.0.0.1]", "name.test",
        ])
    func denied(_ host: String) async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let url = try #require(URL(string: "http://\(host):\(server.port)/a"))
        let resolver: any HostResolving = host == "name.test" ? FixedResolver("127.0.0.1") : SystemHostResolver()
        let networks = ["127.0.0.0/8", "::1"].compactMap { IPNetwork($0) }
        var networkGuard = NetworkGuard(
            ports: nil, requiresPublicAddresses: false, deniedNetworks: networks
        ).asking(resolver)
        for _ in 0..<2 {
            let downloader = ImageDownloader(.init(networkGuard: networkGuard))
            #expect(try await failure(downloader, LoadRequest(url: url)).code == .loadingDisallowed)
            (networkGuard.deniedNetworks, networkGuard.deniedHosts) = ([], ["127.0.0.1", "[::1]"])
        }
        #expect(server.acceptedConnections == 0)
    }
}

/// A resolver with one answer.
private struct FixedResolver: HostResolving {
    let address: String

    init(_ address: String) { self.address = address }

    func addresses(of host: String) async throws(ImageError) -> [IPAddress] { [IPAddress(address)].compactMap { $0 } }
}
#endif
