#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeLoading
@testable import TintypeHTTP

@Suite("Hooks of a request", .timeLimited)
struct HookTests {
    @Test(
        "A request brings its own modifiers and decryptor, in place of those of the downloader",
        .capability("CTX-23", "CTX-24", "CTX-25"))
    func hooks() async throws {
        let server = try await OriginServer.start { request in
            OriginResponse(Data((request.header("X-Key") ?? "none").utf8), type: "text/plain")
        }
        let downloader = ImageDownloader(
            .init(
                acceptableContentTypes: ["image/x-key"],
                requestModifier: { $0.headers["X-Key"] = "downloader" },
                responseModifier: { $0.headers["Content-Type"] = "image/x-key" },
                decryptor: { data, _ in data + Data("!".utf8) }))
        var request = LoadRequest(url: server.url("/a"))
        #expect(try await downloader.load(request).data == Data("downloader!".utf8))
        request.hooks = DownloadHooks(identifier: "1", modifyRequest: { $0.headers["X-Key"] = "request" })
        #expect(try await downloader.load(request).data == Data("request!".utf8))
        request.hooks = DownloadHooks(identifier: "2", decrypt: { data, _ in Data(data.reversed()) })
        #expect(try await downloader.load(request).data == Data("redaolnwod".utf8))
        request.hooks = DownloadHooks(identifier: "3", modifyResponse: { $0.headers["Content-Type"] = "image/png" })
        #expect(try await failure(downloader, request).code == .badContentType)
    }

    @Test("An error of a hook is that of the downloader's closure")
    func failures() async throws {
        struct No: Error {}
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        var request = LoadRequest(url: server.url("/a"))
        request.hooks = DownloadHooks(identifier: "1", modifyRequest: { _ in throw No() })
        #expect(try await failure(ImageDownloader(), request).code == .badRequest)
        request.hooks = DownloadHooks(identifier: "2", modifyResponse: { _ in throw No() })
        #expect(try await failure(ImageDownloader(), request).code == .badResponse)
        request.hooks = DownloadHooks(identifier: "3", decrypt: { _, _ in throw No() })
        #expect(try await failure(ImageDownloader(), request).code == .badResponse)
        request.hooks = DownloadHooks(identifier: "4", decrypt: { _, _ in Data() })
        #expect(try await failure(ImageDownloader(), request).code == .emptyBody)
    }

    @Test(
        "A method that isn't a token of HTTP is never sent",
        arguments: ["", "A B", "GÉT", "GET /b HTTP/1.1\r\nX: y\r\n\r\nGET"])
    func method(_ method: String) async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        var request = LoadRequest(url: server.url("/a"), method: method)
        #expect(try await failure(ImageDownloader(), request).code == .badRequest)
        request.method = "GET"
        request.hooks = DownloadHooks(identifier: "1", modifyRequest: { $0.method = method })
        #expect(try await failure(ImageDownloader(), request).code == .badRequest)
        #expect(server.requests.isEmpty)
    }

    @Test("The urgency of a load is in its request, unless the program sets the field", .capability("DLR-19"))
    func priority() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let downloader = ImageDownloader()
        for priority in ImagePriority.allCases {
            _ = try await downloader.load(LoadRequest(url: server.url("/a"), priority: WorkPriority(priority)))
        }
        _ = try await downloader.load(
            LoadRequest(url: server.url("/a"), headers: ["Priority": "u=0, i"], priority: WorkPriority(.high)))
        #expect(server.requests.map { $0.header("Priority") } == ["u=7", "u=5", nil, "u=2", "u=1", "u=0, i"])
    }
}
#endif
