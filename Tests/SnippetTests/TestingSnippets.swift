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

@Suite("Snippets: tests without a server", .timeLimited)
struct TestLoaderSnippets {
    private func makePNG() throws -> Data {
        // snippet: doc-sample-images
        let png = try SampleImages.draw(.colorWheel, scale: 0.1).data
        // snippet.end
        return png
    }

    @Test("A test loader counts its requests")
    func testLoader() async throws {
        let png = try makePNG()
        // snippet: doc-test-loader
        let url = try #require(URL(string: "test:/avatar.png"))
        let loader = TestLoader([url: .data(png, mimeType: "image/png")])
        let manager = ImageManager(cache: ImageCache(), loader: loader)
        _ = try await manager.image(for: url)
        _ = try await manager.image(for: url)
        #expect(loader.requestCount(for: url) == 1)
        // snippet.end
    }

    @Test("A gate stops a load until the test opens it")
    func gate() async throws {
        let (png, loader) = (try makePNG(), TestLoader())
        let url = try #require(URL(string: "test:/avatar.png"))
        let manager = ImageManager(cache: ImageCache(), loader: loader)
        // snippet: doc-gate
        let gate = OriginGate()
        loader.answer(url, with: .data(png).waiting(at: gate))
        let task = manager.task(for: url)
        try await gate.waitForArrivals(1)
        task.cancel()
        gate.open()
        // snippet.end
        await #expect(throws: ImageError.self) { try await task.image }
    }

    @Test("A test waits for a value")
    func watched() async throws {
        let (png, url) = (try makePNG(), try #require(URL(string: "test:/avatar.png")))
        let loader = TestLoader([url: .data(png)])
        var request = LoadRequest(url: url)
        // snippet: doc-watched
        let received = Watched(0)
        request.receive = { progress in received.update { $0 = progress.receivedBytes } }
        // snippet.hide
        _ = try await loader.load(request)
        // snippet.show
        try await received.wait { $0 >= 100 }
        // snippet.end
    }

    @Test("A clock leads a task through its sleeps, one by one")
    func clock() async throws {
        // snippet: doc-manual-clock
        let clock = ManualClock()
        let task = Task {
            for _ in 1...3 { try await clock.sleep(for: .seconds(1)) }
        }
        for _ in 1...3 {
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
        }
        try await task.value
        // snippet.end
        #expect(clock.sleepers == 0)
    }

    #if HTTP
    @Test("A server misbehaves on demand")
    func responses() throws {
        let (png, gate) = (try makePNG(), OriginGate())
        let (first, second) = (png.prefix(100), png.dropFirst(100))
        // snippet: doc-origin-response
        let responses = [
            "/image.png": OriginResponse(png, type: "image/png"),
            "/broken.png": OriginResponse(png).reset(after: 100),  // The connection breaks.
            "/stalled.png": OriginResponse(png).silence(after: 100),  // No more bytes arrive.
            "/short.png": OriginResponse(png).announcing(contentLength: 1_000_000),
            "/slow.png": OriginResponse(chunks: [first, second], gate: gate),
        ]
        // snippet.end
        #expect(responses["/slow.png"]?.body == png)
    }
    #endif
}
