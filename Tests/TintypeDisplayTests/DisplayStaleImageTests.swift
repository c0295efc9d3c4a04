import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeDisplay
@testable import TintypeImages
@testable import TintypeLoading

@MainActor
@Suite("Displaying stale images", .timeLimited)
struct DisplayStaleImageTests {
    private let first = URL(string: "test:first")!

    @Test(
        "A stale image in memory that may be used is shown at once, too, and asked about in the background",
        .capability("VEW-05", "HTC-02"))
    func staleMemoryHit() async throws {
        let loader = GatedLoader()
        let manager = ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([DotCoder()]))
        let display = RecordingDisplay(manager)
        let loading = manager.task(for: first)
        await loader.arrival(of: 1)
        var loaded = LoadedData.dot(size: 8)
        loaded.statusCode = 200
        loaded.headers["cache-control"] = "max-age=0"
        loader.answer(0, with: .success(loaded))
        _ = try await loading.image
        display.log = []
        let load = display.setImage(
            ImageRequest(first, cachePolicy: .staleWhileRevalidate), placeholder: .square(2))
        #expect(display.log == ["image 8x8"])
        guard case .stale(.revalidating) = try #require(load.end).get().freshness else {
            return #expect(Bool(false), "not stale")
        }
        await loader.arrival(of: 2)
        loader.answer(1, with: .success(.dot()))
        await manager.flush()
    }
}
