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
        "cold from the network, warm from disk with a new manager, hot from memory",
        .capability("MGR-15", "MGR-16", "MGR-25", "CTX-12", "CDK-01"),
        arguments: [
            ImageFormat.jpeg, .png, .gif, .webp,
        ])
    func threeWays(format: ImageFormat) async throws {
        let data = try BadInputTests.bytes(format)
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

    @Test("a thousand who want one cold image cause exactly one request", .capability("DLR-09", "AFD-04"))
    func thousand() async throws {
        let data = try BadInputTests.bytes(.jpeg)
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

    @Test("a local file is read anew from where it is, and not copied to the disk cache", .capability("3.17"))
    func localFile() async throws {
        let files = try TemporaryDirectory()
        let url = try files.write(try BadInputTests.bytes(.png), to: "a.png")
        let manager = manager()
        #expect(try await manager.load(url).source == .network)
        await manager.flush()
        let key = manager.key(for: ImageRequest(url))
        #expect(await manager.cache.contains(key, in: .all) == .memory)
        // It became something else: a new manager must not see what it was.
        try Data("no image".utf8).write(to: url)
        let result = await self.manager().task(for: url).result
        #expect(result.failure?.code == .unknownFormat)
        try BadInputTests.bytes(.gif).write(to: url)
        #expect(try await self.manager().image(for: url).format == .gif)
    }

    @Test("at most six at a time", .capability("DLC-01"))
    func six() async throws {
        let data = try BadInputTests.bytes(.png)
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in OriginResponse(chunks: [data], gate: gate) }
        let manager = manager()
        let tasks = (0..<20).map { manager.task(for: server.url("/\($0)")) }
        try await server.waitForRequests(6)
        #expect(server.openConnections <= 6)
        #expect(server.requestCount() == 6)
        gate.openForGood()
        for task in tasks { _ = try await task.image }
        #expect(server.requestCount() == 20)
        await server.stop()
    }
}
#endif
