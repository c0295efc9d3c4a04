import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("Layers of caches and the rules of HTTP", .timeLimited)
struct HTTPCachingLayerTests {
    @Test("An immutable image that only memory has isn't loaded again, either", .capability("HTC-01"))
    func immutableInMemory() async throws {
        let bench = HTTPCachingBench()
        bench.send("max-age=10, immutable")
        _ = try await bench.load()
        bench.bench.cache.change { $0.disk = [:] }
        #expect(try await bench.load(policy: .revalidate).freshness.name == "cached")
        bench.wait(11)
        #expect(try await bench.load(policy: .revalidate).freshness.name == "fresh")
        #expect(bench.loads == 2)
    }

    @Test("What must not be stored isn't, by no policy that obeys HTTP", .capability("HTC-01"))
    func notStored() async throws {
        for policy in [CachePolicy.http, .staleWhileRevalidate] {
            let bench = HTTPCachingBench()
            bench.send("no-store")
            _ = try await bench.load(policy: policy)
            #expect(await bench.bench.manager.cachedLayers(for: url) == [], "\(policy)")
        }
    }

    @Test(
        "An image of a loader without HTTP is used from every layer alike, whatever its validators",
        .capability("HTC-01"))
    func withoutHTTP() async throws {
        let bench = HTTPCachingBench()
        bench.answer.withLock { $0 = .success(.dot(validators: CacheValidators(entityTag: "\"1\""))) }
        _ = try await bench.load()
        #expect(try await bench.load().source == .memory)
        bench.forgetMemory()
        #expect(try await bench.load().source == .disk && bench.loads == 1)
    }

    @Test("The time in a loader's queue doesn't make its answer older", .capability("HTC-01"))
    func queueTime() async throws {
        let bench = HTTPCachingBench()
        let loader = GatedLoader()
        let manager = ImageManager(
            cache: bench.bench.cache, loader: loader, coders: ImageCoders([DotCoder()]),
            configuration: bench.bench.manager.configuration)
        let first = Task { try await manager.load(bench.request()) }
        await loader.arrival(of: 1)
        bench.wait(100)
        var loaded = LoadedData.dot()
        (loaded.statusCode, loaded.headers) = (200, ["cache-control": "max-age=10", "age": "0"])
        var transfer = TransferMetrics()
        (transfer.waiting, transfer.firstByte, transfer.body) = (.seconds(98), .seconds(1), .seconds(1))
        loaded.transfer = transfer
        loader.answer(0, with: .success(loaded))
        _ = try await first.value
        bench.wait(7)
        #expect(try await manager.load(bench.request()).freshness.name == "cached")
    }
}
