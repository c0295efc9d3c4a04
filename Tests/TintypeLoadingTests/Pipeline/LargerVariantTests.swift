import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Thumbnails of thumbnails", .timeLimited)
struct LargerVariantTests {
    let directory: TemporaryDirectory
    let coder = DotCoder()
    let loader = GatedLoader { .success(.dot($0.absoluteString, size: 1_000)) }
    let url = URL(string: "test:a")!

    init() throws { directory = try TemporaryDirectory() }

    private func manager() -> (manager: ImageManager, disk: DiskCache) {
        let disk = DiskCache.temporary(directory.path + "/cache")
        let cache = ImageCache(memory: MemoryCache(), disk: disk)
        return (ImageManager(cache: cache, loader: loader, coders: coder), disk)
    }

    private func request(_ width: Int, _ height: Int, _ change: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest
    {
        var request = ImageRequest(url)
        request.thumbnailSize = PixelSize(width: width, height: height)
        request.cache.storesVariant = true
        change(&request)
        return request
    }

    /// Loads a thumbnail that the disk keeps, and removes the original from it.
    private func thumbnailOnly(_ manager: ImageManager, _ request: ImageRequest) async throws {
        _ = try await manager.image(for: request)
        await manager.flush()
        try await manager.cache.remove(ImageKey(source: url.absoluteString), from: .disk)
    }

    @Test("A thumbnail is made of a larger one on disk instead of asking the source again")
    func madeOfLarger() async throws {
        let first = manager()
        try await thumbnailOnly(first.manager, request(800, 600))
        try await thumbnailOnly(first.manager, request(400, 400))
        let second = manager()
        let before = loader.calls.count
        let result = try await second.manager.load(request(200, 200))
        #expect(loader.calls.count == before)
        #expect(result.source == .disk && result.image.size == PixelSize(width: 200, height: 200))
        #expect(result.data == nil && result.metrics.bytes == 7, "the smallest that is large enough has 7 bytes")
        #expect(try await second.manager.image(for: request(600, 600)).size == PixelSize(width: 600, height: 600))
        #expect(loader.calls.count == before)
        // Kept in turn, with the others of the URL.
        await second.manager.flush()
        #expect(
            await Set(second.manager.cachedVariants(of: url).map(\.variant.description)) == [
                "fit=800x600", "fit=400x400", "fit=200x200", "fit=600x600",
            ])
    }

    @Test("The memory for it comes out of the manager's own budget")
    func budget() async throws {
        let first = manager()
        try await thumbnailOnly(first.manager, request(400, 400))
        let second = manager()
        let budget = DecodeBudget(limit: .megabytes(10))
        second.manager.configuration.budget = budget
        #expect(try await second.manager.load(request(200, 200)).source == .disk)
        #expect(budget.statistics.peakBytes >= 200 * 200 * 4 && budget.statistics.reservedBytes == 0)
    }

    @Test("Right after the larger one was stored, and before anything else wrote the index")
    func atOnce() async throws {
        let (manager, disk) = manager()
        try await disk.put(
            Data("DOT 500".utf8), ImageKey(source: "test:a", variant: ImageVariant(description: "fit=500x500")))
        #expect(try await manager.image(for: request(100, 100)).size.width == 100)
        #expect(loader.calls.isEmpty)
    }

    @Test("What is not larger, is of another kind, or is asked for anew is loaded")
    func notMadeOf() async throws {
        let (first, disk) = manager()
        try await thumbnailOnly(first, request(400, 300))
        for other in [
            "fit=900x900;transform=gray", "stretch=900x900", "fit=900x900^", "fit=900x900;partial", "fit=900x",
        ] {
            try await disk.put(
                Data("DOT 900".utf8), ImageKey(source: "test:a", variant: ImageVariant(description: other)))
        }
        let before = loader.calls.count
        _ = try await manager().manager.image(for: request(401, 300) { $0.cache.store = [] })
        #expect(loader.calls.count == before + 1)
        _ = try await manager().manager.image(
            for: request(100, 100) { request in
                request.cachePolicy = .revalidate
                request.cache.store = []
            })
        #expect(loader.calls.count == before + 2)
        _ = try await manager().manager.image(
            for: request(100, 100) { request in
                request.cachePolicy = .reload
                request.cache.store = []
            })
        #expect(loader.calls.count == before + 3)
        _ = try await manager().manager.image(for: request(100, 100) { $0.cache.store = [] })
        #expect(loader.calls.count == before + 3)
    }

    @Test("The original on disk is preferred, and makes the thumbnail")
    func originalFirst() async throws {
        let first = manager().manager
        _ = try await first.image(for: request(400, 400))
        await first.flush()
        let result = try await manager().manager.load(request(200, 200))
        #expect(result.data == Data("DOT 1000".utf8) && loader.calls.count == 1)
    }

    @Test("A larger one that does not decode is removed, and the source is asked")
    func damaged() async throws {
        let (manager, disk) = manager()
        let key = ImageKey(source: "test:a", variant: ImageVariant(description: "fit=500x500"))
        try await disk.put(Data("DOT x".utf8), key)
        #expect(try await manager.image(for: request(100, 100)).size.width == 100)
        #expect(loader.calls.count == 1)
        #expect(await !disk.contains(key))
    }

    @Test("All that is cached of a URL is listed, and removed together")
    func listingAndRemoving() async throws {
        let (manager, disk) = manager()
        _ = try await manager.image(for: request(400, 400))
        await manager.flush()
        #expect(await Set(manager.cachedVariants(of: url).map(\.variant.description)) == ["", "fit=400x400"])
        #expect(await manager.cachedVariants(of: URL(string: "test:b")!).isEmpty)
        try await manager.removeAll(of: url)
        #expect(await manager.cachedVariants(of: url).isEmpty)
        #expect(await disk.usage().entries == 0)
        #expect(manager.memoryImage(for: request(400, 400)) == nil)
    }

    @Test("A variant that has expired isn't listed", .capability("CRM-05"))
    func expiredVariant() async throws {
        let (manager, disk) = manager()
        let key = ImageKey(source: "test:a", variant: ImageVariant(description: "fit=10x10"))
        let entry = DiskCacheEntry(data: Data("DOT 10".utf8), created: .distantPast, expires: .distantPast)
        try await disk.store(entry, forKey: key)
        #expect(await disk.variants(ofSource: "test:a") == [key.variant])
        #expect(await !disk.contains(key))
        #expect(await manager.cachedVariants(of: url).isEmpty)
    }

    @Test(
        "Which variant can be made of which",
        arguments: [
            ("fit=100x100", "fit=200x200", true), ("fit=100x100", "fit=100x100", true),
            ("fit=100x100", "fit=99x200", false),
            ("fit=100x100", "", false), ("", "fit=100x100", false), ("stretch=10x10", "stretch=20x20", true),
            ("stretch=10x10", "fit=20x20", false), ("fit=100x100^", "fit=200x200", true),
            ("fit=100x100", "fit=200x200^", false), ("fit=100x100", "fit=200x200;scale=2.0", true),
            ("fit=100x100;firstFrame", "fit=200x200", true), ("fit=100x100", "fit=200x200;firstFrame", false),
            ("fit=100x100", "fit=200x200;transform=a", false),
            ("fit=100x100;transform=a", "fit=200x200;transform=a", false),
            ("fit=100x100;sourceColor", "fit=200x200;sourceColor", false),
            ("fit=100x100;bytes=9", "fit=200x200;bytes=9", false),
            ("fit=100x100;as=tiff", "fit=200x200", false), ("fit=-1x5", "fit=200x200", false),
            ("fit=100x100", "fit=99999999999999999999x200", false),
        ])
    func rules(wanted: String, other: String, isPossible: Bool) {
        #expect(ImageVariant(description: wanted).canBeMade(of: ImageVariant(description: other)) == isPossible)
    }

    @Test("A thumbnail of a larger one has its own scale, and doesn't loop unless it is animated")
    func scaleAndLoops() async throws {
        let bench = try PipelineBench()
        var large = ModelPicture(source: 2, shape: .box)
        large.isDoubleScale = true
        _ = await bench.load(Wish(picture: large, storesVariant: true))
        await bench.manager.flush()
        await bench.remove(Removal(extent: .picture(large.original), layers: .all))
        var small = ModelPicture(source: 2, shape: .smallBox)
        small.firstFrameOnly = true
        #expect(await bench.load(Wish(picture: small)) == Answer(version: 1, source: .disk))
        #expect(bench.takeComplaints() == [])
    }

    @Test("A larger one serves where the original does not decode", arguments: [CachePolicy.cacheFirst, .cacheOnly])
    func damagedOriginal(policy: CachePolicy) async throws {
        let bench = try PipelineBench()
        let large = ModelPicture(source: 0, shape: .box)
        _ = await bench.load(Wish(picture: large, storesVariant: true))
        try await bench.damage(large.original, .undecodable)
        let small = Wish(picture: ModelPicture(source: 0, shape: .smallBox), policy: policy)
        #expect(await bench.load(small) == Answer(version: 1, source: .disk))
        #expect(bench.loader.requests == 1)
    }
}
