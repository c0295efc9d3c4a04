import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Entries that are made of other entries", .timeLimited)
struct DerivedEntryTests {
    private let source = HTTPCachingBench(policy: .cacheFirst)
    private var manager: ImageManager { source.bench.manager }
    private var disk: [ImageKey: DiskCacheEntry] { source.bench.cache.now.disk }

    private func thumbnail(_ side: Int) -> ImageRequest {
        var request = source.request()
        request.thumbnailSize = PixelSize(width: side, height: side)
        request.cache.storesVariant = true
        return request
    }

    @Test("What is made of an entry has its age, and ends no later", .capability("3.13"))
    func times() async throws {
        source.send(nil)
        let start = source.now.withLock { $0 }
        var request = source.request()
        request.cache.lifetime = .hours(1)
        _ = try await manager.load(request)
        await manager.flush()
        source.forgetMemory()
        source.wait(60)
        let small = try await manager.load(thumbnail(4))
        let encoded = try await manager.encoded(for: source.request(), as: .dot)
        await manager.flush()
        #expect(source.loads == 1 && disk.count == 3)
        for key in [small.key, encoded.key] {
            let entry = try #require(disk[key])
            #expect(entry.created == start && entry.expires == start + 3_600)
        }
        // A shorter lifetime counts from now.
        var shorter = thumbnail(2)
        shorter.cache.lifetime = .minutes(2)
        let key = try await manager.load(shorter).key
        await manager.flush()
        let entry = try #require(disk[key])
        #expect(entry.created == start && entry.expires == start + 180)
    }

    @Test(
        "Thumbnails of the same bytes leave each other in memory where the disk isn't asked",
        arguments: [CacheLayers.memory, .all])
    func inMemoryAlone(stored: CacheLayers) async throws {
        source.send(nil)
        for side in [2, 4] {
            var request = source.request()
            request.thumbnailSize = PixelSize(width: side, height: side)
            (request.cache.query, request.cache.store) = (.memory, stored)
            _ = try await manager.load(request)
            await manager.flush()
        }
        #expect(source.loads == 2 && source.bench.cache.now.memory.count == 2)
    }
}
