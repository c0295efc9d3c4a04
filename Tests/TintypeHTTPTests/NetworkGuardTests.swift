#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

/// A resolver with answers in order, the last one again and again.
private final class ScriptedResolver: HostResolving {
    private let answers: Watched<[[String]]>
    let asked = Watched<[String]>([])

    init(_ answers: [String]...) { self.answers = Watched(answers) }

    func addresses(of host: String) async throws(ImageError) -> [IPAddress] {
        asked.update { $0.append(host) }
        return answers.update { $0.count > 1 ? $0.removeFirst() : $0[0] }.compactMap { IPAddress($0) }
    }
}

private func network(_ text: String) throws -> IPNetwork { try #require(IPNetwork(text)) }

@Suite("Network guards", .timeLimited)
struct NetworkGuardTests {
    @Test(
        "Addresses that aren't those of public servers are recognized in every form", .capability("3.10"),
        arguments: [
            "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.255", "169.254.169.254",
            "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1", "203.0.113.9",
            "224.0.0.1", "255.255.255.255", "168.63.129.16", "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8",
            "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1",
            "2002:7f00:1::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "5f00::1",
        ])
    func special(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!address.isPublic)
        #expect(!NetworkGuard().allows(address))
        #expect(NetworkGuard(requiresPublicAddresses: false).allows(address))
        #expect(NetworkGuard(allowedNetworks: [try network(text)]).allows(address))
    }

    @Test(
        "A denied network stays denied in addresses of version 6", arguments: ["::ffff:10.1.2.3", "64:ff9b::10.1.2.3"])
    func deniedForms(text: String) throws {
        let address = try #require(IPAddress(text))
        let networks = [try #require(IPNetwork("10.0.0.0/8"))]
        #expect(!NetworkGuard(requiresPublicAddresses: false, deniedNetworks: networks).allows(address))
        #expect(NetworkGuard(requiresPublicAddresses: false).allows(address))
    }

    @Test(
        "Addresses of public servers are allowed, unless they are denied",
        arguments: ["1.1.1.1", "8.8.8.8", "100.63.255.255", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"])
    func ordinary(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(NetworkGuard().allows(address) && address.description == text)
        #expect(!NetworkGuard(deniedNetworks: [try network(text)]).allows(address))
    }

    @Test("Networks contain the addresses with their prefix")
    func networks() throws {
        #expect(try network("172.16.0.0/12").contains(try #require(IPAddress("172.31.0.1"))))
        #expect(try !network("172.16.0.0/12").contains(try #require(IPAddress("172.32.0.1"))))
        #expect(try network("0.0.0.0/0").contains(try #require(IPAddress("9.9.9.9"))))
        #expect(try !network("0.0.0.0/0").contains(try #require(IPAddress("::1"))))
        for text in ["", "/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "10.0.0.0/8/8", "::/129", "10.0.0.0/", "a/8"] {
            #expect(IPNetwork(text) == nil, "\(text)")
        }
    }

    @Test(
        "A private address is refused in every spelling, without a connection", .capability("3.10"),
        arguments: [
            "127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "017700000001", "[::1]", "[::ffff:127.0.0.1]",
            "localhost", "LOCALHOST.",
        ])
    func spellings(_ host: String) async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let downloader = ImageDownloader(.init(networkGuard: NetworkGuard(ports: nil)))
        guard let url = URL(string: "http://\(host):\(server.port)/a") else { return }
        let error = try await failure(downloader, LoadRequest(url: url))
        #expect([.loadingDisallowed, .connectionFailed].contains(error.code), "\(error)")
        #expect(server.acceptedConnections == 0)
    }

    @Test("A name whose address changes between the check and the connection gains nothing", .capability("3.10"))
    func rebinding() async throws {
        let allowed = try await OriginServer.start { _ in OriginResponse(bytes) }
        let forbidden = try await OriginServer.start(port: allowed.port, host: "127.0.0.2") { _ in OriginResponse(bytes)
        }
        let resolver = ScriptedResolver(["127.0.0.1"], ["127.0.0.2"])
        let networkGuard = NetworkGuard(
            ports: nil, allowedNetworks: [try network("127.0.0.1/32")]
        ).asking(resolver)
        let downloader = ImageDownloader(.init(networkGuard: networkGuard))
        let url = try #require(URL(string: "http://rebind.example:\(allowed.port)/a"))
        #expect(try await downloader.load(LoadRequest(url: url)).data == bytes)
        #expect(resolver.asked.value == ["rebind.example"])
        #expect(allowed.requests[0].header("Host") == "rebind.example:\(allowed.port)")
        // Even the kept connection isn't used after the name has another address.
        let error = try await failure(downloader, LoadRequest(url: url))
        #expect(error.code == .loadingDisallowed && !error.reason.contains("127.0.0.2"))
        #expect(allowed.requestCount() == 1 && forbidden.acceptedConnections == 0)
    }

    @Test("One forbidden address among several refuses the host")
    func mixedAnswer() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let networkGuard = NetworkGuard(
            ports: nil, allowedNetworks: [try network("127.0.0.1")]
        ).asking(ScriptedResolver(["127.0.0.1", "10.0.0.1"]))
        let downloader = ImageDownloader(.init(networkGuard: networkGuard))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a", host: "mixed.example")))
        #expect(error.code == .loadingDisallowed && server.acceptedConnections == 0)
    }

    @Test("If an attempt to connect to an address gets no answer, the next one is tried", .capability("3.10"))
    func silentAddress() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let silent = try FullPort(host: "127.0.0.4", port: server.port)
        let networkGuard = NetworkGuard(
            ports: nil, allowedNetworks: [try network("127.0.0.0/8")]
        ).asking(ScriptedResolver(["127.0.0.4", "127.0.0.1"]))
        let downloader = ImageDownloader(.init(timeout: .seconds(30), networkGuard: networkGuard))
        #expect(try await downloader.load(LoadRequest(url: server.url("/a", host: "two.example"))).data == bytes)
        withExtendedLifetime(silent) {}
    }

    @Test("If one address refuses the connection, the next one is tried")
    func nextAddress() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let networkGuard = NetworkGuard(
            ports: nil, allowedNetworks: [try network("127.0.0.0/8")]
        ).asking(ScriptedResolver(["127.0.0.3", "127.0.0.1"]))
        let downloader = ImageDownloader(.init(networkGuard: networkGuard))
        #expect(try await downloader.load(LoadRequest(url: server.url("/a", host: "two.example"))).data == bytes)
    }

    @Test(
        "A redirect to a forbidden place is refused, without a connection", .capability("3.10", "DLR-37"),
        arguments: [
            "http://127.0.0.2:PORT/", "http://internal.example:PORT/", "//127.0.0.2:PORT/", "http://127.0.0.1:22/",
        ])
    func redirects(_ target: String) async throws {
        let port = Watched(0)
        let server = try await OriginServer.start { _ in
            .redirect(to: target.replacingOccurrences(of: "PORT", with: String(port.value)))
        }
        port.update { $0 = server.port }
        let forbidden = try await OriginServer.start(port: server.port, host: "127.0.0.2") { _ in OriginResponse(bytes)
        }
        let networkGuard = NetworkGuard(
            ports: [server.port], allowedNetworks: [try network("127.0.0.1")]
        ).asking(ScriptedResolver(["127.0.0.2"]))
        let downloader = ImageDownloader(.init(networkGuard: networkGuard))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badRedirect)
        #expect(forbidden.acceptedConnections == 0)
    }

    @Test("Ports and hosts can be allowed and denied")
    func rules() async throws {
        func code(_ networkGuard: NetworkGuard, _ url: String) async throws -> ImageError.Code? {
            let url = try #require(URL(string: url))
            do throws(ImageError) {
                _ = try await networkGuard.addresses(of: url)
                return nil
            } catch {
                return error.code
            }
        }
        let resolver = ScriptedResolver(["8.8.8.8"])
        let ports = NetworkGuard().asking(resolver)
        #expect(try await code(ports, "http://a.example/") == nil)
        #expect(try await code(ports, "https://a.example/") == nil)
        #expect(try await code(ports, "https://a.example:8443/") == .loadingDisallowed)
        let some = NetworkGuard(
            allowedHosts: ["a.example", "*.b.example"], deniedHosts: ["x.b.example"]
        ).asking(resolver)
        for host in ["a.example", "A.Example", "a.example.", "c.b.example", "d.c.b.example"] {
            #expect(try await code(some, "http://\(host)/") == nil, "\(host)")
        }
        for host in ["x.b.example", "X.b.example.", "b.example", "aa.example", "evilb.example", "c.a.example"] {
            #expect(try await code(some, "http://\(host)/") == .loadingDisallowed, "\(host)")
        }
        let nothing = NetworkGuard().asking(ScriptedResolver([]))
        #expect(try await code(nothing, "http://a.example/") == .connectionFailed)
    }

    @Test("The preset for strangers' URLs refuses this computer", .capability("3.10"))
    func preset() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let downloader = ImageDownloader(.untrustedURLs)
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .loadingDisallowed)
        let url = try #require(URL(string: "http://127.0.0.1/"))
        #expect(try await failure(downloader, LoadRequest(url: url)).code == .loadingDisallowed)
        #expect(server.acceptedConnections == 0)
    }

    @Test("A redirect leads only to the schemes of the configuration, and never to a file")
    func schemes() async throws {
        let server = try await OriginServer.start {
            .redirect(to: $0.path == "/f" ? "file:///etc/passwd" : "https://a/")
        }
        let downloader = ImageDownloader(.init(schemes: ["http"]))
        #expect(try await failure(downloader, LoadRequest(url: server.url("/f"))).code == .badRedirect)
        #expect(try await failure(downloader, LoadRequest(url: server.url("/s"))).code == .badRedirect)
    }

    @Test("One origin redirects only as often as it may")
    func redirectsPerOrigin() async throws {
        let server = try await OriginServer.start { .redirect(to: $0.path + "a") }
        let downloader = ImageDownloader(.init(maximumRedirects: 20, maximumRedirectsPerOrigin: 2))
        #expect(try await failure(downloader, LoadRequest(url: server.url("/"))).code == .badRedirect)
        #expect(server.requestCount() == 3)
    }

    @Test("A body that expands too much is refused, and small ones are not")
    func ratio() async throws {
        let server = try await OriginServer.start([
            "/bomb": OriginResponse(try gzip(Data(count: 5_000_000)), headers: ["Content-Encoding": "gzip"]),
            "/small": OriginResponse(try gzip(Data(count: 900_000)), headers: ["Content-Encoding": "gzip"]),
        ])
        let downloader = ImageDownloader(.init(maximumDecompressionRatio: 100))
        #expect(try await failure(downloader, LoadRequest(url: server.url("/bomb"))).code == .bodyTooLarge)
        #expect(try await downloader.load(LoadRequest(url: server.url("/small"))).data.count == 900_000)
        #expect(try await ImageDownloader().load(LoadRequest(url: server.url("/bomb"))).data.count == 5_000_000)
    }

    @Test("A host gets only so many transfers at once, and its others occupy no slots", .capability("3.10"))
    func perHost() async throws {
        let gate = OriginGate()
        let slow = try await OriginServer.start { _ in
            try? await gate.pass()
            return OriginResponse(bytes)
        }
        let quick = try await OriginServer.start { _ in OriginResponse(bytes) }
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 6, maximumDownloadsPerHost: 2))
        let urls = (0..<6).map { slow.url("/\($0)") }
        let tasks = urls.map { url in Task { try await downloader.load(LoadRequest(url: url)) } }
        try await gate.waitForArrivals(2)
        while downloader.statistics.waiting < 4 { await Task.yield() }
        #expect(slow.requestCount() == 2 && downloader.statistics.active == 2)
        #expect(try await downloader.load(LoadRequest(url: quick.url("/a", host: "localhost"))).data == bytes)
        tasks[5].cancel()
        gate.openForGood()
        for task in tasks.dropLast() { #expect(try await task.value.data == bytes) }
        #expect(slow.requestCount() == 5 && downloader.statistics.waiting == 0)
    }
}
#endif
