#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

@Suite("Servers that redirects lead to", .timeLimited)
struct ServerVisitTests {
    private let clock = ManualClock()

    private func redirector(to server: OriginServer) async throws -> OriginServer {
        try await redirector(to: server.url("/", host: "localhost").absoluteString)
    }

    private func redirector(to target: String) async throws -> OriginServer {
        try await OriginServer.start { request in
            request.path == "/own" ? OriginResponse(bytes) : .redirect(to: target + request.path.dropFirst())
        }
    }

    @Test("A redirect's target that fails again and again isn't asked, and the first server is", .capability("3.4"))
    func breaker() async throws {
        let script = Script(.status(503), .status(503), .status(503), OriginResponse(bytes))
        let target = try await OriginServer.start { _ in script.next() }
        let first = try await redirector(to: target)
        let downloader = ImageDownloader(
            .init(circuitBreaker: .init(failureThreshold: 2, pause: .seconds(30))), clock: clock)
        let request = LoadRequest(url: first.url("/a"))
        for _ in 1...2 { #expect(try await failure(downloader, request).code == .badStatus) }
        let refused = try await failure(downloader, request)
        #expect(refused.code == .hostUnavailable && refused.reason.contains("redirected to http://localhost"))
        // The first server has answered each time, also the refused load.
        #expect(first.requestCount() == 3 && target.requestCount() == 2)
        #expect(try await downloader.load(LoadRequest(url: first.url("/own"))).data == bytes)
        // A load of the target itself is refused, too. After the pause, a redirected load is the probe.
        let direct = LoadRequest(url: target.url("/a", host: "localhost"))
        #expect(try await failure(downloader, direct).code == .hostUnavailable)
        clock.advance(by: .seconds(30))
        #expect(try await failure(downloader, request).code == .badStatus)
        #expect(try await failure(downloader, direct).code == .hostUnavailable)
        clock.advance(by: .seconds(30))
        #expect(try await downloader.load(request).data == bytes)
        #expect(try await downloader.load(direct).data == bytes)
    }

    @Test("A target that refuses connections counts by itself")
    func unreachable() async throws {
        // No other test's server can have this port.
        let first = try await redirector(to: "http://localhost:1/")
        let downloader = ImageDownloader(.init(circuitBreaker: .init(failureThreshold: 1)), clock: clock)
        #expect(try await failure(downloader, LoadRequest(url: first.url("/a"))).code == .connectionFailed)
        #expect(try await failure(downloader, LoadRequest(url: first.url("/a"))).code == .hostUnavailable)
        #expect(try await downloader.load(LoadRequest(url: first.url("/own"))).data == bytes)
    }

    @Test("A target whose name is unknown counts by itself")
    func unknown() async throws {
        struct Resolver: HostResolving {
            func addresses(of host: String) async throws(ImageError) -> [IPAddress] {
                throw ImageError(.connectionFailed, stage: .load, reason: "the host name is unknown")
            }
        }
        let first = try await OriginServer.start([
            "/a": .redirect(to: "http://unknown.example/"), "/own": OriginResponse(bytes),
        ])
        let loopback = try #require(IPNetwork("127.0.0.1"))
        let networkGuard = NetworkGuard(ports: nil, allowedNetworks: [loopback]).asking(Resolver())
        let downloader = ImageDownloader(
            .init(circuitBreaker: .init(failureThreshold: 1), networkGuard: networkGuard), clock: clock)
        #expect(try await failure(downloader, LoadRequest(url: first.url("/a"))).code == .connectionFailed)
        #expect(try await downloader.load(LoadRequest(url: first.url("/own"))).data == bytes)
        #expect(try await failure(downloader, LoadRequest(url: first.url("/a"))).code == .hostUnavailable)
        #expect(first.requestCount() == 3)
    }

    @Test("Repetitions count for the server that fails")
    func budget() async throws {
        let target = try await OriginServer.start { _ in .status(503) }
        let first = try await redirector(to: target)
        let downloader = ImageDownloader(
            .init(retry: RetryPolicy(maximumAttempts: 10, baseDelay: .zero, retriesPerMinute: 3)), clock: clock)
        for _ in 1...2 { _ = try await failure(downloader, LoadRequest(url: first.url("/a"))) }
        #expect(target.requestCount() == 5)
        // Nothing is left for the target.
        _ = try await failure(downloader, LoadRequest(url: target.url("/a", host: "localhost")))
        #expect(target.requestCount() == 6)
    }

    @Test("A redirected transfer gives its slot back, and counts for its new host", .capability("3.10"))
    func slots() async throws {
        let gate = OriginGate()
        let target = try await OriginServer.start { _ in
            try? await gate.pass()
            return OriginResponse(bytes)
        }
        let first = try await redirector(to: target)
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 6, maximumDownloadsPerHost: 1))
        let urls = [first.url("/a"), first.url("/b")]
        let redirected = urls.map { url in Task { try await downloader.load(LoadRequest(url: url)) } }
        // Each gives the slot of the first host to the next.
        try await gate.waitForArrivals(2)
        #expect(try await downloader.load(LoadRequest(url: first.url("/own"))).data == bytes)
        // The target has two, so that a third waits for both.
        let direct = target.url("/c", host: "localhost")
        let waiting = Task { try await downloader.load(LoadRequest(url: direct)) }
        while downloader.statistics.waiting < 1 { await Task.yield() }
        #expect(target.requestCount() == 2 && downloader.statistics.active == 2)
        gate.openForGood()
        for task in redirected + [waiting] { #expect(try await task.value.data == bytes) }
        #expect(target.requestCount() == 3)
        #expect(downloader.statistics.waiting == 0 && downloader.statistics.active == 0)
    }
}
#endif
