#if HTTP
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Snippets: the network", .timeLimited)
struct NetworkSnippets {
    @Test("A downloader repeats transfers, and tries mirrors")
    func failures() async throws {
        let server = try await OriginServer.start { $0.path == "/a" ? .status(404) : OriginResponse(Data("hi".utf8)) }
        // snippet: network-retry
        let downloader = ImageDownloader(
            .init(
                retry: RetryPolicy(maximumAttempts: 4, maximumRetryAfter: .seconds(20)),
                circuitBreaker: CircuitBreakerPolicy(failureThreshold: 10, pause: .seconds(30))))
        // snippet.end
        let mirror = server.url("/mirror")
        // snippet: network-mirrors
        let loader = AlternativeSources(to: downloader) { url in
            [mirror.appending(path: url.path)]
        }
        // snippet.end
        #expect(try await loader.load(LoadRequest(url: server.url("/a"))).url.path == "/mirror/a")
    }

    @Test("A downloader keeps interrupted transfers in a directory")
    func resuming() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path
        let server = try await OriginServer.start(["/a": OriginResponse(Data("hi".utf8))])
        // snippet: network-resume
        let downloader = ImageDownloader(.init(partialDownloads: .directory(path)))
        // snippet.end
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == Data("hi".utf8))
    }

    @Test("A downloader is guarded")
    func guarding() async throws {
        let server = try await OriginServer.start { _ in .status(404) }
        // snippet: network-guard
        var configuration = ImageDownloader.Configuration.untrustedURLs
        configuration.networkGuard?.deniedHosts = ["*.internal.example.org"]
        let downloader = ImageDownloader(configuration)
        // snippet.end
        let error = await #expect(throws: ImageError.self) {
            try await downloader.load(LoadRequest(url: server.url("/a")))
        }
        #expect(error?.code == .loadingDisallowed)
    }

    @Test("A downloader answers challenges")
    func credentials() async throws {
        let server = try await OriginServer.start { _ in
            OriginResponse(status: 401, headers: ["WWW-Authenticate": "Basic"])
        }
        let password = "secret"
        // snippet: network-credentials
        let downloader = ImageDownloader(
            .init(
                cookies: SessionCookies(),
                credentials: { challenge in
                    guard challenge.url.host() == "images.example.org" else { return nil }
                    return .basic(user: "reader", password: password)
                }))
        // snippet.end
        await #expect(throws: ImageError.self) { try await downloader.load(LoadRequest(url: server.url("/a"))) }
        #expect(server.requestCount() == 1)
    }

    @Test("A downloader has certificates and a proxy")
    func connection() throws {
        let folder = try TemporaryDirectory()
        let rootsFile = try folder.write(Data(), to: "roots.pem")
        // snippet: network-connection
        var tls = TLSOptions()
        tls.trustRoots = try Data(contentsOf: rootsFile)
        tls.insecureHosts = ["camera.local"]
        let downloader = ImageDownloader(.init(tls: tls, proxy: .environment))
        // snippet.end
        #expect(downloader.configuration.proxy == .environment)
    }
}
#endif
