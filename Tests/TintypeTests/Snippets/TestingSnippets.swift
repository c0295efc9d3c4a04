import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

#if HTTP
@Suite("Snippets: tests with TintypeTesting", .timeLimited)
struct TestingSnippets {
    let bench: SnippetBench

    init() throws { bench = try SnippetBench() }

    private func manager() throws -> ImageManager {
        ImageManager(cache: try bench.cache(), loader: ImageDownloader())
    }

    @Test("A loopback server answers a load and counts the requests")
    func server() async throws {
        let (manager, png) = (try manager(), try bench.picture().encoded(as: .png))
        // snippet: origin-server
        let server = try await OriginServer.start(["/a.png": OriginResponse(png, type: "image/png")])
        let image = try await manager.image(for: server.url("/a.png"))
        #expect(server.requestCount("/a.png") == 1)
        await server.stop()
        // snippet.end
        #expect(image.size == PixelSize(width: 80, height: 60))
    }

    @Test("A connection that breaks is an error")
    func faults() async throws {
        let (manager, png) = (try manager(), try bench.picture().encoded(as: .png))
        // snippet: faults
        let server = try await OriginServer.start(["/broken.png": OriginResponse(png).reset(after: 100)])
        let error = await #expect(throws: ImageError.self) {
            try await manager.image(for: server.url("/broken.png"))
        }
        #expect(error?.code == .connectionLost)
        // snippet.end
        await server.stop()
    }
}
#endif
