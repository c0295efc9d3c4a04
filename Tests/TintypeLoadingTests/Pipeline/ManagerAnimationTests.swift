import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@testable import TestDoubles

@Suite("Loading animated images", .timeLimited)
struct ManagerAnimationTests {
    @Test(
        "a manager gives one object for one URL, keeps its bytes on disk, and no frames in memory",
        .capability("ANI-01", "CTX-22", "OPT-20"))
    func manager() async throws {
        let folder = try TemporaryDirectory()
        let coder = NumberedFramesCoder(count: 40)
        let url = URL(string: "test:numbers")!
        let loader = GatedLoader { _ in .success(LoadedData(data: NumberedFramesCoder.bytes, url: url)) }
        let disk = DiskCache(.init(directory: folder.path + "/cache", minimumFreeSpace: 0))
        let memory = MemoryCache()
        let cache = ImageCache(memory: memory, disk: disk)
        func manager() -> ImageManager { ImageManager(cache: cache, loader: loader, coders: ImageCoders([coder])) }
        let first = manager()
        let image = try await first.animatedImage(for: url)
        #expect(image.frameCount == 40)
        #expect(try await first.animatedImage(for: url) === image)
        await first.flush()
        #expect(memory.statistics.bytes <= 2 * image.memoryCost)
        #expect(await disk.entry(forKey: ImageKey(source: "test:numbers"))?.data == NumberedFramesCoder.bytes)
        // The same URL as a whole image is another one.
        #expect(try await first.image(for: url).frames.count == 40)
        #expect(try await first.animatedImage(for: url) === image)
        // From disk.
        memory.removeAll()
        #expect(try await first.animatedImage(for: url) == image)
        #expect(loader.calls.count == 1)
        // Removed everywhere.
        try await first.removeAll(of: url)
        #expect(try await first.animatedImage(for: url) !== image)
        #expect(loader.calls.count == 2)
    }

    @Test("what is no animation is an error where one is required, and has one frame elsewhere", .capability("OPT-21"))
    func requiredAnimation() async throws {
        let coder = NumberedFramesCoder(count: 1)
        let url = URL(string: "test:still")!
        let loader = GatedLoader { _ in .success(LoadedData(data: NumberedFramesCoder.bytes, url: url)) }
        let manager = ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([coder]))
        #expect(try await manager.animatedImage(for: url).frameCount == 1)
        var request = ImageRequest(url)
        request.requiresAnimation = true
        let error = await #expect(throws: ImageError.self) { try await manager.animatedImage(for: request) }
        #expect(error?.code == .notAnimated && error?.source == "test:still")
    }
}
