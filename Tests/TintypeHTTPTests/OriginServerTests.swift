#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

@Suite("Origin server", .timeLimited)
struct OriginServerTests {
    private let downloader = ImageDownloader()

    @Test("A directory is served with media types and validators, and 304 for current validators")
    func directory() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(bytes, to: "sub/ä b.png")
        let server = try await OriginServer.start(directory: folder.path)
        var request = LoadRequest(url: server.url("/sub/%C3%A4%20b.png?x=1"))
        let loaded = try await downloader.load(request)
        #expect(loaded.data == bytes && loaded.mimeType == "image/png")
        request.validators = loaded.validators
        #expect(try await downloader.load(request).isNotModified)
        request.validators = CacheValidators(lastModified: loaded.validators?.lastModified)
        #expect(try await downloader.load(request).isNotModified)
        try folder.write(bytes + bytes, to: "sub/ä b.png")
        request.validators = CacheValidators(entityTag: loaded.validators?.entityTag)
        #expect(try await downloader.load(request).data.count == 10_000)
    }

    @Test("An empty chunk doesn't end an answer")
    func emptyChunk() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(chunks: [bytes, Data(), bytes]).chunked() }
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes + bytes)
    }

    @Test("What one wait takes may end another, also of those that came before")
    func watchedValues() async throws {
        let value = Watched(1)
        async let isZero: Void = value.wait { $0 == 0 }
        for _ in 0..<100 { await Task.yield() }
        try await value.take { count in
            defer { count -= 1 }
            return true
        }
        try await isZero
        async let one: Void = value.wait { $0 == 1 }
        async let two: Void = value.take { count in
            guard count == 2 else { return false }
            count = 1
            return true
        }
        for _ in 0..<100 { await Task.yield() }
        value.update { $0 = 2 }
        _ = try await (one, two)
    }

    @Test(
        "No file outside of the directory is served",
        arguments: ["/../secret", "/%2e%2e/secret", "/..%2fsecret", "/link", "/sub", "/", "/none", "/%00", "//"])
    func traversal(_ path: String) async throws {
        let outer = try TemporaryDirectory()
        try outer.write(bytes, to: "secret")
        try outer.write(bytes, to: "root/sub/file")
        try FileManager.default.createSymbolicLink(
            at: outer.url(of: "root/link"), withDestinationURL: outer.url(of: "secret"))
        let server = try await OriginServer.start(directory: outer.path + "/root")
        let sending = ImageDownloader()
        #expect(try await failure(sending, LoadRequest(url: server.url(path))).statusCode == 404)
    }

    @Test(
        "A reset breaks a connection, also a secure one, and a close ends it in an orderly way",
        arguments: [true, false])
    func ends(isSecure: Bool) async throws {
        let certificates = try Certificates.shared.get()
        let gate = OriginGate()
        let server = try await OriginServer.start(tls: isSecure ? certificates.good : nil) { request in
            var response = OriginResponse(bytes)
            // Only the end of the connection tells where the body ends.
            response.framing = .untilClose
            return request.path == "/reset"
                ? response.reset(after: 1_000, gate: gate) : response.close(after: 1_000)
        }
        var trusting = TLSOptions()
        trusting.trustRoots = Data(certificates.root.utf8)
        let downloader = ImageDownloader(.init(tls: trusting))
        #expect(try await downloader.load(LoadRequest(url: server.url("/close"))).data == bytes.prefix(1_000))
        let reports = Reports()
        let request = reports.request(server.url("/reset"))
        async let error = failure(downloader, request)
        try await reports.waitForBytes(1_000)
        gate.open()
        #expect(try await error.code == .connectionLost)
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test("A path is the same for routes, URLs, and counts, whether its characters are escaped or not")
    func writtenPaths() async throws {
        let server = try await OriginServer.start(["/a b.png": OriginResponse(bytes), "/%C3%A4": OriginResponse(bytes)])
        for (path, escaped) in [("/a b.png", "/a%20b.png"), ("/ä", "/%C3%A4")] {
            #expect(server.url(path) == server.url(escaped))
            #expect(try await downloader.load(LoadRequest(url: server.url(path))).data == bytes)
            #expect(try await downloader.load(LoadRequest(url: server.url(escaped))).data == bytes)
            try await server.waitForRequests(2, path)
            #expect(server.requestCount(path) == 2 && server.requestCount(escaped) == 2)
        }
        #expect(server.url("/a", host: "::1").absoluteString == "http://[::1]:\(server.port)/a")
        #expect(server.url("/a", host: "[::1]") == server.url("/a", host: "::1"))
    }

    @Test("What can't be a port or a URL stops the test")
    func impossibleArguments() async {
        await #expect(processExitsWith: .failure) { _ = try await OriginServer.start(port: 70_000, [:]) }
        await #expect(processExitsWith: .failure) { _ = try await OriginServer.start([:]).url("a.png") }
    }

    @Test("The length is stated once, as the answer says, and not where it may not be")
    func statedLengths() async throws {
        let own = OriginResponse(bytes, headers: ["content-length": "5000"])
        let server = try await OriginServer.start([
            "/own": own, "/cut": own.close(after: 100), "/announced": own.announcing(contentLength: 6_000),
            "/204": .status(204), "/404": .status(404),
        ])
        let lengths = Watched<[String?]>([])
        let asking = ImageDownloader(
            .init(responseModifier: { response in
                let length = response.headers["Content-Length"]
                lengths.update { $0.append(length) }
            }))
        for path in ["/own", "/cut", "/announced", "/204", "/404"] {
            _ = try? await asking.load(LoadRequest(url: server.url(path)))
        }
        #expect(lengths.value == ["5000", "5000", "6000", nil, "0"])
    }

    @Test("HEAD has the header fields of GET and no body")
    func head() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(bytes, to: "a.gif")
        let server = try await OriginServer.start(directory: folder.path)
        let heads = Watched<[ResponseHead]>([])
        let asking = ImageDownloader(
            .init(
                requestModifier: { $0.method = "HEAD" },
                responseModifier: { response in heads.update { [response] in $0.append(response) } }))
        _ = try await failure(asking, LoadRequest(url: server.url("/a.gif")))
        #expect(heads.value.first?.headers["Content-Length"] == "5000")
        #expect(heads.value.first?.mimeType == "image/gif")
        #expect(try await downloader.load(LoadRequest(url: server.url("/a.gif"))).data == bytes)
    }

    @Test("A temporary directory is removed when it is released")
    func temporaryDirectory() throws {
        var folder: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(folder?.path)
        try folder?.write(bytes, to: "a/b/c")
        #expect(FileManager.default.fileExists(atPath: path + "/a/b/c"))
        folder = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
#endif
