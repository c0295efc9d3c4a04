#if HTTP
import ArgumentParser
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("Network options of commands", .timeLimited)
struct NetworkArgumentTests {
    private let folder: TemporaryDirectory
    private let transcript = Transcript()

    init() throws { folder = try TemporaryDirectory() }

    private func command(_ arguments: [String]) throws -> FetchCommand {
        let all = ["fetch", "-o", folder.path + "/out", "--no-cache"] + arguments
        return try required(TintypeTool.parseAsRoot(all) as? FetchCommand)
    }

    private func fetch(_ arguments: String...) async throws -> Int32 {
        let fetch = try command(arguments)
        return await status { try await fetch.run(transcript.console()) }
    }

    @Test("The options are those of the downloader")
    func configuration() throws {
        let fetch = try command([
            "--retry", "3", "--insecure-host", "a", "--insecure-host", "b", "--proxy", "socks5://p:1", "http://x/",
        ])
        let configuration = fetch.download.network.configuration
        #expect(configuration.retry.maximumAttempts == 4 && configuration.networkGuard == nil)
        #expect(configuration.tls.insecureHosts == ["a", "b"])
        #expect(configuration.proxy == .server(ProxyServer(host: "p", port: 1, usesSOCKS: true)))
        let plain = try command(["http://x/"]).download.network.configuration
        #expect(plain.retry.maximumAttempts == 1 && plain.proxy == .environment)
        #expect(try command(["--proxy", "none", "http://x/"]).download.network.configuration.proxy == .none)
    }

    @Test(
        "Wrong values are refused, and no message shows a password",
        arguments: [["--retry", "101"], ["--retry=-1"], ["--proxy", "ftp://u:s3cret@p"]])
    func wrong(_ arguments: [String]) throws {
        do {
            _ = try command(arguments + ["http://x/"])
            Issue.record("it was accepted")
        } catch {
            #expect(!TintypeTool.message(for: error).contains("s3cret"))
        }
    }

    @Test("--guard refuses this computer")
    func guarded() async throws {
        let server = try await OriginServer.start(["/a.png": OriginResponse(try picture().encoded(as: .png))])
        #expect(try await fetch("--guard", server.url("/a.png").absoluteString) == 1)
        #expect(server.requestCount() == 0)
        #expect(transcript.errors.contains { $0.contains("network guard") })
    }
}
#endif
