import Benchmark
import BenchmarkPictures
import Foundation
import Tintype
import TintypeTesting

/// The whole way, from URLs on a loopback server to thumbnails in memory.
func loadBenchmarks() {
    for pass in ["cold, from the network", "warm, from disk"] {
        Benchmark("load 500 distinct JPEGs (0.5 MP) as 300 px: \(pass)", configuration: .init(maxIterations: 3)) {
            benchmark in
            let folder = try TemporaryDirectory()
            var routes: [String: OriginResponse] = [:]
            for index in 0..<10 {
                let data = try Pictures.encoded(.jpeg, width: 800, height: 600, seed: UInt32(index + 1))
                for copy in 0..<50 { routes["/\(index)-\(copy).jpg"] = OriginResponse(data, type: "image/jpeg") }
            }
            let server = try await OriginServer.start(routes)
            let urls = routes.keys.sorted().map { server.url($0) }
            if pass.hasPrefix("warm") { try await load(urls, in: folder) }
            benchmark.startMeasurement()
            for _ in benchmark.scaledIterations { try await load(urls, in: folder) }
            benchmark.stopMeasurement()
            await server.stop()
        }
    }
}

/// Loads with a manager of its own, so that nothing is in memory.
private func load(_ urls: [URL], in folder: TemporaryDirectory) async throws {
    let disk = DiskCache(DiskCache.Configuration(directory: folder.path))
    let manager = ImageManager(cache: ImageCache(memory: MemoryCache(), disk: disk))
    try await withThrowingTaskGroup(of: Void.self) { group in
        for url in urls {
            group.addTask {
                var request = ImageRequest(url)
                request.thumbnailSize = PixelSize(width: 300, height: 300)
                blackHole(try await manager.image(for: request))
            }
        }
        try await group.waitForAll()
    }
    await manager.flush()
}
