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

    /// A display whose manager has an image of 8 × 8 pixels.
    private func display(_ loader: GatedLoader) async throws -> RecordingDisplay {
        let manager = ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([DotCoder()]))
        try await manager.store(.square(8), for: first)
        return RecordingDisplay(manager)
    }

    @Test("An outdated image is whole: it stays when the next load of its URL fails", .capability("VEW-22"))
    func staysAfterFailure() async throws {
        let loader = GatedLoader()
        let display = try await display(loader)
        display.setImage(ImageRequest(first, cachePolicy: .revalidate), placeholder: .square(2))
        await loader.arrival(of: 1)
        display.cancelImageLoad()
        let load = display.setImage(ImageRequest(first, cachePolicy: .reload), placeholder: .square(2))
        await loader.arrival(of: 2)
        loader.answer(1, with: .failure(ImageError(.badStatus, stage: .load, reason: "404", statusCode: 404)))
        #expect(await load.result.failure?.code == .badStatus)
        #expect(Set(display.log) == ["preview 8x8"])
    }

    @Test("A suspended load shows the outdated image, too", .capability("VEW-22", "VEW-23"))
    func suspended() async throws {
        let loader = GatedLoader()
        let display = try await display(loader)
        display.imageBinding.isSuspended = true
        let load = display.setImage(ImageRequest(first, cachePolicy: .revalidate), placeholder: .square(2))
        #expect(display.log == ["preview 8x8"] && loader.calls.isEmpty)
        display.imageBinding.isSuspended = false
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot(size: 9)))
        _ = try await load.result.get()
        #expect(display.log.last == "image 9x9")
    }

    @Test("A program that shows the images itself shows the outdated image, too", .capability("OPT-10", "VEW-22"))
    func avoidAutoSet() async throws {
        let loader = GatedLoader()
        let display = try await display(loader)
        let previews = Watched(0)
        let load = display.setImage(
            ImageRequest(first, cachePolicy: .revalidate), placeholder: .square(2), display: .avoidAutoSetImage
        ) { event in
            if case .preview = event { previews.update { $0 += 1 } }
        }
        try await previews.wait { $0 > 0 }
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot(size: 9)))
        _ = try await load.result.get()
        #expect(display.log == ["placeholder 2x2"])
    }

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
