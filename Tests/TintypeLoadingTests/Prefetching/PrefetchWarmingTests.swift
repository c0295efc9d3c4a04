import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Warming memory", .timeLimited)
struct PrefetchWarmingTests {
    @Test("Requests that allow only cached images warm memory from disk, and load nothing", .capability("PRE-01"))
    func warming() async throws {
        let bench = ManagerBench()
        let urls = (0..<3).compactMap { URL(string: "test:\($0)") }
        for url in urls.dropLast() { _ = try await bench.manager.image(for: url) }
        await bench.manager.flush()
        try await bench.cache.removeAll(from: .memory)
        #expect(bench.cache.now.memory.isEmpty && bench.cache.now.disk.count == 2)

        let requests = urls.map { url in
            var request = ImageRequest(url)
            request.cachePolicy = .cacheOnly
            return request
        }
        let prefetch = ImagePrefetcher(manager: bench.manager, pressure: nil).prefetch(requests)
        let end = await prefetch.wait()
        #expect(end.loaded == 2 && end.failed == 1 && prefetch.failures.first?.error.code == .notCached)
        #expect(bench.cache.now.memory.count == 2 && bench.loader.calls.count == 2)
    }
}
