import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("Images that are not decoded", .timeLimited)
struct EncodedImageTests {
    private let cache = DictionaryCache()
    private let coder = DotCoder()

    private func manager(_ loader: GatedLoader) -> ImageManager {
        ImageManager(cache: cache, loader: loader, coders: ImageCoders([coder]), configuration: .still)
    }

    private func result(_ manager: ImageManager, _ request: ImageRequest) async -> Result<EncodedImage, ImageError> {
        do throws(ImageError) {
            return .success(try await manager.data(for: request))
        } catch {
            return .failure(error)
        }
    }

    private static func bytes(_ text: String) -> Result<LoadedData, ImageError> {
        .success(LoadedData(data: Data(text.utf8), url: url, mimeType: "image/x-dot"))
    }

    @Test(
        "Bytes without decoding, kept on disk, and decoded when the image is wanted",
        .capability("OLD-04", "COD-16", "OPT-18", "CTX-08"))
    func undecoded() async throws {
        let loader = GatedLoader { _ in Self.bytes("DOT 8") }
        let manager = manager(loader)
        let cold = try await manager.data(for: ImageRequest(url))
        #expect(cold.data == Data("DOT 8".utf8) && cold.info.size.width == 8 && cold.mimeType == "image/x-dot")
        #expect(cold.source == .network && cold.url == url && cold.key == ImageKey(source: "test:a"))
        #expect(cold.metrics.bytes == 5 && cold.metrics.total > .zero)
        await manager.flush()
        #expect(cache.now.disk.count == 1 && cache.now.memory.isEmpty)
        #expect(try await manager.data(for: ImageRequest(url)).source == .disk)
        #expect(coder.decodes == 0)
        #expect(try await manager.load(url).source == .disk)
        #expect(coder.decodes == 1 && loader.calls.count == 1 && cache.now.diskStores == 1)
    }

    @Test("One download for who wants the bytes and who wants the image; it is stored once")
    func shared() async throws {
        let loader = GatedLoader()
        let manager = manager(loader)
        var request = ImageRequest(url)
        request.thumbnailSize = PixelSize(width: 4, height: 4)
        let image = manager.task(for: request)
        await loader.arrival(of: 1)
        let data = Task { try await manager.data(for: ImageRequest(url)) }
        while manager.waiting.fetches < 2 { await Task.yield() }
        #expect(manager.hasActiveLoads)
        loader.answer(0, with: Self.bytes("DOT 8"))
        #expect(try await data.value.data == Data("DOT 8".utf8))
        #expect(try await image.image.size.width == 4)
        await manager.flush()
        #expect(loader.calls.count == 1 && cache.now.diskStores == 1)
    }

    @Test(
        "Bytes without a header that can be read are an error, and not kept; on disk they are replaced",
        .capability("3.8"))
    func rubbish() async throws {
        let loader = GatedLoader { Self.bytes($0.absoluteString == "test:a" ? "DOT 8" : "DOT x") }
        let manager = manager(loader)
        let bad = URL(string: "test:bad")!
        #expect(await result(manager, ImageRequest(bad)).failure?.code == .corruptImage)
        await manager.flush()
        #expect(cache.now.disk.isEmpty)
        try await cache.store(
            DiskCacheEntry(data: Data("DOT ?".utf8), created: Date()), forKey: ImageKey(source: "test:a"))
        #expect(try await manager.data(for: ImageRequest(url)).source == .network)
        await manager.flush()
        #expect(cache.now.disk[ImageKey(source: "test:a")]?.data == Data("DOT 8".utf8))
    }

    @Test("What the request says of caches holds, and who is cancelled ends at once")
    func options() async throws {
        let loader = GatedLoader()
        let manager = manager(loader)
        var request = ImageRequest(url)
        request.cachePolicy = .cacheOnly
        let missing = await result(manager, request).failure
        #expect(missing?.code == .notCached && missing?.source == "test:a")
        request.cachePolicy = .cacheFirst
        request.cache.store = .memory
        let task = Task { [request] in await result(manager, request) }
        await loader.arrival(of: 1)
        manager.cancelAll()
        #expect(await task.value.failure?.code == .cancelled)
        #expect(!manager.hasActiveLoads)
        let again = Task { [request] in try await manager.data(for: request) }
        await loader.arrival(of: 2)
        loader.answer(1, with: Self.bytes("DOT 8"))
        #expect(try await again.value.data.count == 5)
        await manager.flush()
        #expect(cache.now.disk.isEmpty)
        let nowhere = await result(manager, ImageRequest(URL(string: "photo.png")!)).failure
        #expect(nowhere?.code == .invalidURL)
    }
}
