import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

/// A transformer that returns its image.
private struct Same: ImageTransformer {
    let key = "same"
    func transform(_ image: Image) throws -> Image { image }
}

@Suite("Placeholders that are stored with images", .timeLimited)
struct StoredPlaceholderTests {
    private func bench(stores: Bool = true) -> ManagerBench {
        var configuration = ImageManager.Configuration.still
        configuration.storesPlaceholders = stores
        return ManagerBench(configuration: configuration)
    }

    private func request(_ change: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest {
        var request = ImageRequest(url)
        request.waitsForStore = true
        change(&request)
        return request
    }

    /// The previews of a load, all of them: the observer is there before the load can begin.
    private func previews(_ bench: ManagerBench, _ request: ImageRequest) async throws -> [PixelSize] {
        let seen = Lock<[PixelSize]>([])
        let environment = bench.manager.environment
        let prepared = environment.prepared(request)
        _ = try await ImageManager.result(prepared, environment, priority: LoadPriority(.normal)) { update in
            switch update {
            case .placeholder(let hash):
                guard let picture = try? hash.image() else { return }
                seen.withLock { $0.append(picture.size) }
            case .preview(let image), .outdated(let image): seen.withLock { $0.append(image.size) }
            case .progress, .arriving, .asking: break
            }
        }
        return seen.withLock { $0 }
    }

    @Test("A stored image has a placeholder, which is there without decoding", .capability("PHD-01"))
    func stored() async throws {
        let bench = bench()
        let image = try await bench.manager.image(for: request())
        let hash = try #require(await bench.manager.placeholder(for: url))
        #expect(try hash == ThumbHash(image) && bench.coder.decodes == 1)
        // The same when only a thumbnail was decoded, and none for bytes without an image.
        let other = URL(string: "test:b")!
        _ = try await bench.manager.data(for: other)
        await bench.manager.flush()
        #expect(await bench.manager.placeholder(for: other) == nil)
    }

    @Test("A load of a thumbnail stores a placeholder of the original", .capability("PHD-01"))
    func ofThumbnail() async throws {
        let bench = bench()
        _ = try await bench.manager.image(for: request { $0.thumbnailSize = PixelSize(width: 4, height: 4) })
        #expect(await bench.manager.placeholder(for: url) != nil)
    }

    @Test("A later load from disk shows the placeholder first, then the image", .capability("PHD-01"))
    func shown() async throws {
        let bench = bench()
        _ = try await bench.manager.image(for: request())
        let previews = try await previews(bench, request { $0.queryFrom = .disk })
        #expect(previews == [PixelSize(width: 32, height: 32)])
        // The events of a task say the same.
        let task = bench.manager.task(for: request { $0.queryFrom = .disk })
        #expect(try await task.result.get().source == .disk)
    }

    @Test(
        "A stored variant has a placeholder of its own; that of the original isn't shown for it", .capability("PHD-01"))
    func variants() async throws {
        let bench = bench()
        let transformed = request { request in
            request.transformer = Same()
            request.queryFrom = .disk
        }
        _ = try await bench.manager.image(for: transformed)
        #expect(try await previews(bench, transformed).isEmpty)
        var storing = transformed
        storing.storesVariant = true
        _ = try await bench.manager.image(for: storing)
        #expect(try await previews(bench, storing) == [PixelSize(width: 32, height: 32)])
        #expect(await bench.manager.placeholder(for: storing) != nil)
        let restored = try await bench.manager.image(for: storing)
        #expect(restored.properties.isTransformed)
    }

    @Test("Without the setting there is none, and damaged ones are ignored", .capability("PHD-01"))
    func none() async throws {
        let plain = bench(stores: false)
        _ = try await plain.manager.image(for: request())
        #expect(await plain.manager.placeholder(for: url) == nil)
        let bench = bench()
        _ = try await bench.manager.image(for: request())
        for damage in ["{}", "{\"thumbHash\":\"AAAA\"}", "no JSON"] {
            bench.cache.change { state in
                for key in state.disk.keys { state.disk[key]?.imageProperties = Data(damage.utf8) }
            }
            #expect(await bench.manager.placeholder(for: url) == nil)
            #expect(try await previews(bench, request { $0.queryFrom = .disk }).isEmpty)
        }
    }
}
