#if HTTP
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Loading over HTTP, end to end", .timeLimited)
struct LoadingTests {
    private let folder = try! TemporaryDirectory()

    private func manager() -> ImageManager {
        ImageManager(
            cache: ImageCache(
                memory: MemoryCache(), disk: DiskCache(DiskCache.Configuration(directory: folder.path)),
            ))
    }

    @Test(
        "Cold from the network, warm from disk with a new manager, hot from memory",
        .capability("MGR-15", "MGR-16", "MGR-25", "CTX-12", "CDK-01"),
        arguments: [
            ImageFormat.jpeg, .png, .gif, .webp,
        ])
    func threeWays(format: ImageFormat) async throws {
        let data = try Gradients.data(format)
        let server = try await OriginServer.start(["/a": OriginResponse(data, type: format.mimeType)])
        var request = ImageRequest(server.url("/a"))
        request.thumbnailSize = PixelSize(width: 32, height: 32)
        let first = manager()
        let cold = try await first.load(request)
        #expect(cold.source == .network)
        #expect(cold.image.size == PixelSize(width: 32, height: 24))
        #expect(cold.image.format == format)
        #expect(cold.data == data)
        await first.flush()
        let second = manager()
        let warm = try await second.load(request)
        #expect(warm.source == .disk)
        #expect(warm.image.pixels == cold.image.pixels)
        #expect(try await second.load(request).source == .memory)
        #expect(server.requestCount() == 1)
        await server.stop()
    }

    @Test("An image that varies on the credentials in its URL is cached for those alone", .capability("HTC-04"))
    func credentialsInURL() async throws {
        let data = try Gradients.data(.png)
        let server = try await OriginServer.start { _ in OriginResponse(data, headers: ["Vary": "Authorization"]) }
        for (user, requests) in [("anna:1", 1), ("bert:2", 2)] {
            var request = ImageRequest(server.url("/a", user: user))
            request.cache.key = "photo"
            request.cache.waitsForStore = true
            let first = manager()
            #expect(try await first.load(request).source == .network)
            #expect(try await first.load(request).source == .memory)
            #expect(try await manager().load(request).source == .disk)
            #expect(server.requestCount() == requests)
        }
    }

    @Test("A thousand who want one cold image cause exactly one request", .capability("DLR-09", "AFD-04"))
    func thousand() async throws {
        let data = try Gradients.data(.jpeg)
        let gate = OriginGate()
        let server = try await OriginServer.start(["/a": OriginResponse(chunks: [data], gate: gate)])
        let manager = manager()
        let url = server.url("/a")
        try await withThrowingTaskGroup(of: Image.self) { group in
            for _ in 0..<1_000 { group.addTask { try await manager.image(for: url) } }
            try await server.waitForRequests(1)
            gate.openForGood()
            var images: [Image] = []
            for try await image in group { images.append(image) }
            #expect(images.allSatisfy { $0.isIdentical(to: images[0]) })
        }
        await manager.flush()
        #expect(server.requestCount() == 1)
        await server.stop()
    }

    @Test("A local file is read anew from where it is, and not copied to the disk cache", .capability("3.17"))
    func localFile() async throws {
        let files = try TemporaryDirectory()
        let url = try files.write(try Gradients.data(.png), to: "a.png")
        let manager = manager()
        #expect(try await manager.load(url).source == .network)
        await manager.flush()
        let key = manager.key(for: ImageRequest(url))
        #expect(await manager.cache.contains(key, in: .all) == .memory)
        // It became something else: a new manager must not see what it was.
        try Data("no image".utf8).write(to: url)
        let result = await self.manager().task(for: url).result
        #expect(result.failure?.code == .unknownFormat)
        try Gradients.data(.gif).write(to: url)
        #expect(try await self.manager().image(for: url).format == .gif)
    }

    @Test("Each result has the times and the bytes of the stages that it went through", .capability("DLR-34"))
    func metrics() async throws {
        struct Slow: ImageTransformer {
            let key = "slow"
            func transform(_ image: Image) throws -> Image { try image.resized(to: PixelSize(width: 16, height: 16)) }
        }
        let data = try Gradients.data(.png)
        let gate = OriginGate()
        let server = try await OriginServer.start(["/a": OriginResponse(chunks: [data], gate: gate)])
        var request = ImageRequest(server.url("/a"))
        request.transformer = Slow()
        let first = manager()
        let task = first.task(for: request)
        try await gate.waitForArrivals(1)
        // The transfer takes at least as long as the server waits.
        let start = ContinuousClock.now
        while ContinuousClock.now - start < .milliseconds(20) { await Task.yield() }
        gate.open()
        let cold = try await task.result.get().metrics
        #expect(cold.load.total >= .milliseconds(20) && cold.decode.total > .zero && cold.transform.total > .zero)
        #expect(cold.total >= cold.load.total + cold.decode.total + cold.transform.total)
        #expect(cold.bytes == data.count && cold.networkProtocol == "HTTP/1.1")
        await first.flush()
        let second = manager()
        let warm = try await second.load(request).metrics
        #expect(warm.disk.total > .zero && warm.load.total == .zero)
        #expect(warm.decode.total > .zero && warm.transform.total > .zero)
        #expect(warm.total >= warm.disk.total + warm.decode.total + warm.transform.total && warm.bytes == data.count)
        #expect(warm.networkProtocol == nil)
        let hot = try await second.load(request).metrics
        #expect(hot.total > .zero && hot.disk == .zero && hot.load == .zero && hot.decode == .zero)
        #expect(hot.transform == .zero && hot.bytes == 0)
        await server.stop()
    }

    @Test("A download's wait for its turn is queued time of the load", .capability("OBS-04"))
    func queuedDownload() async throws {
        let data = try Gradients.data(.png)
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in OriginResponse(chunks: [data], gate: gate) }
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 1))
        let manager = ImageManager(cache: ImageCache(), loader: downloader)
        let first = manager.task(for: server.url("/1"))
        try await server.waitForRequests(1)
        let second = manager.task(for: server.url("/2"))
        while downloader.statistics.waiting == 0 { await Task.yield() }
        let start = ContinuousClock.now
        await Task.yield()
        let waited = ContinuousClock.now - start
        gate.openForGood()
        _ = try await first.image
        let metrics = try await second.result.get().metrics
        #expect(metrics.load.queued >= waited && metrics.load.running > .zero)
        await server.stop()
    }

    @Test("At most six at a time", .capability("DLC-01"))
    func six() async throws {
        let data = try Gradients.data(.png)
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in OriginResponse(chunks: [data], gate: gate) }
        let downloader = ImageDownloader()
        let manager = ImageManager(cache: ImageCache(), loader: downloader)
        let tasks = (0..<20).map { manager.task(for: server.url("/\($0)")) }
        try await server.waitForRequests(6)
        // All others wait for their turn, so that no seventh request can follow.
        while downloader.statistics.active + downloader.statistics.waiting < 20 { await Task.yield() }
        #expect(downloader.statistics.active == 6 && downloader.statistics.waiting == 14)
        #expect(server.openConnections == 6 && server.requestCount() == 6)
        gate.openForGood()
        for task in tasks { _ = try await task.image }
        #expect(server.requestCount() == 20)
        await server.stop()
    }
}
#endif
