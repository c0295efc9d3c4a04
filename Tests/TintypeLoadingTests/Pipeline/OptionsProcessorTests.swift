import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("The processor of options", .timeLimited)
struct OptionsProcessorTests {
    private let bench = ManagerBench()

    @Test(
        "The processor sees a request as it would be carried out: first its own parts, then the manager's",
        .capability("MGR-06", "MGR-07"))
    func order() async throws {
        let seen = Lock<[ImageRequest]>([])
        var configuration = bench.manager.configuration
        configuration.transformer = { _ in ClosureTransformer(key: "manager's") { $0 } }
        configuration.cacheKey = { "key of \($0)" }
        configuration.optionsProcessor = { request in
            seen.withLock { $0.append(request) }
            return request
        }
        bench.manager.configuration = configuration
        var own = ImageRequest(url, transformer: ClosureTransformer(key: "own") { $0 })
        own.cache.key = "own"
        for request in [ImageRequest(url), own] { _ = try await bench.manager.image(for: request) }
        let requests = seen.withLock { $0 }
        #expect(requests.count == 2, "once for each load")
        #expect(requests.map { $0.transformer?.key } == ["manager's", "own"])
        #expect(requests.map(\.cache.key) == ["key of test:a", "own"])
    }

    @Test("The key of a request is made of what the processor returns", .capability("MGR-06", "MGR-07"))
    func keys() async throws {
        bench.manager.configuration.cacheKey = { "key of \($0)" }
        bench.manager.configuration.optionsProcessor = { request in
            var request = request
            (request.method, request.body) = ("POST", request.headers["size"].map { Data($0.utf8) })
            return request
        }
        let keys = ["3", "5"].map { bench.manager.key(for: ImageRequest(url, headers: ["size": $0])).source }
        #expect(Set(keys).count == 2 && keys.allSatisfy { $0.hasSuffix("key of test:a") })
        bench.manager.configuration.optionsProcessor = { request in
            var request = request
            request.thumbnailSize = PixelSize(width: 3, height: 3)
            request.loadsTargetSize = true
            return request
        }
        #expect(bench.manager.key(for: url).source == "3x3 key of test:a")
    }

    @Test("The processor may change everything, and what it returns is carried out", .capability("MGR-07"))
    func replaces() async throws {
        bench.manager.configuration.cacheKey = { "key of \($0)" }
        bench.manager.configuration.optionsProcessor = { request in
            var request = request
            request.url = URL(string: "test:b")!
            request.thumbnailSize = PixelSize(width: 3, height: 3)
            request.cache.store = .memory
            return request
        }
        let result = try await bench.manager.load(url)
        #expect(result.image.size.width == 3 && result.url.absoluteString == "test:b")
        #expect(result.key.source == "key of test:b", "the key is that of the URL that is loaded")
        #expect(bench.cache.now.memory.count == 1 && bench.cache.now.disk.isEmpty)
        #expect(bench.manager.memoryImage(for: url)?.size.width == 3)
    }
}
