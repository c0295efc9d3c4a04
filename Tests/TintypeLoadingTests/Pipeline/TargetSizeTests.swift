import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("Target sizes for loaders", .timeLimited)
struct TargetSizeTests {
    /// A loader whose images are as large as they are asked for.
    private final class SizedLoader: ImageLoading {
        private let asked = Lock<[PixelSize?]>([])
        var sizes: [PixelSize?] { asked.withLock { $0 } }

        func canLoad(_ url: URL) -> Bool { true }

        func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
            asked.withLock { $0.append(request.targetSize) }
            return .dot(size: request.targetSize?.width ?? 64)
        }
    }

    private func request(_ side: Int?, tells: Bool = true) -> ImageRequest {
        var request = ImageRequest(url)
        request.thumbnailSize = side.map { PixelSize(width: $0, height: $0) }
        request.loadsTargetSize = tells
        request.cache.waitsForStore = true
        return request
    }

    @Test("A loader is told the size, and each size is a source of its own", .capability("PLG-04"))
    func sizes() async throws {
        let (loader, cache) = (SizedLoader(), DictionaryCache())
        let manager = ImageManager(
            cache: cache, loader: loader, coders: ImageCoders([DotCoder()]), configuration: .still)
        let small = try await manager.load(request(8))
        #expect(small.image.size.width == 8 && small.data == Data("DOT 8".utf8))
        #expect(try await manager.image(for: request(16)).size.width == 16)
        #expect(try await manager.image(for: request(nil)).size.width == 64)
        #expect(try await manager.image(for: request(8, tells: false)).size.width == 8)
        #expect(loader.sizes == [PixelSize(width: 8, height: 8), PixelSize(width: 16, height: 16), nil])
        // Each is found in the cache again, and removed alone.
        for side in [8, 16] {
            var again = request(side)
            again.cache.query = .disk
            #expect(try await manager.load(again).source == .disk)
        }
        #expect(loader.sizes.count == 3)
        try await manager.removeCachedImage(for: request(8))
        #expect(await manager.cachedLayers(for: request(8)).isEmpty)
        #expect(await !manager.cachedLayers(for: request(16)).isEmpty)
    }

    @Test("With a transformer, the bytes of a size stay those of that size", .capability("PLG-04"))
    func transformed() async throws {
        let loader = SizedLoader()
        let manager = ImageManager(
            cache: DictionaryCache(), loader: loader, coders: ImageCoders([DotCoder()]), configuration: .still)
        var shrunk = request(nil)
        shrunk.transformer = .resize(width: 4, height: 4)
        #expect(try await manager.image(for: shrunk).size.width == 4)
        var sized = request(8)
        sized.transformer = .resize(width: 4, height: 4)
        #expect(try await manager.image(for: sized).size.width == 4)
        #expect(loader.sizes == [nil, PixelSize(width: 8, height: 8)])
        var plain = request(nil)
        plain.cache.query = .disk
        #expect(try await manager.image(for: plain).size.width == 64)
    }

    @Test("An empty box and a request without the setting tell no size", .capability("PLG-04"))
    func empty() {
        var none = request(8, tells: false)
        #expect(none.targetSize == nil)
        none = request(nil)
        none.thumbnailSize = PixelSize(width: 0, height: 8)
        #expect(none.targetSize == nil)
    }
}
