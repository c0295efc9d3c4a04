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
@Suite("Displays whose wishes change", .timeLimited)
struct DisplayReloadTests {
    private let url = URL(string: "test:a")!
    private let other = URL(string: "test:b")!
    private let loader = GatedLoader()
    private let cache = DictionaryCache()

    private func display() -> RecordingDisplay {
        RecordingDisplay(ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()])))
    }

    @Test("A load that is under way goes on at the new size, and has one end", .capability("VEW-24"))
    func running() async throws {
        let display = display()
        var ends: [ImageEvent] = []
        let load = display.setImage(url) { event in
            if case .finished = event { ends.append(event) }
        }
        await loader.arrival(of: 1)
        display.thumbnailSize = PixelSize(width: 4, height: 4)
        display.imageBinding.reload()
        #expect(display.imageBinding.load() === load)
        #expect(ends.isEmpty)
        // It shares the transfer, or begins another one.
        for call in 0...1 { loader.answer(call, with: .success(.dot())) }
        #expect(try await load.result.get().image.size.width == 4)
        #expect(ends.count == 1)
    }

    @Test("Nothing is loaded again that was canceled, or is wanted as before")
    func unchanged() async throws {
        let display = display()
        let load = display.setImage(url)
        await loader.arrival(of: 1)
        display.imageBinding.reload()
        #expect(load.end == nil)
        load.cancel()
        display.thumbnailSize = PixelSize(width: 4, height: 4)
        display.imageBinding.reload()
        #expect(display.imageBinding.load() === load)
        #expect(loader.calls.count == 1)
    }

    @Test("Meanwhile, and if it fails, the image stays that is shown")
    func failing() async throws {
        let display = display()
        let load = display.setImage(url, placeholder: .square(2))
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot()))
        _ = await load.result
        cache.change { ($0.memory, $0.disk) = ([:], [:]) }
        let before = display.log
        display.thumbnailSize = PixelSize(width: 4, height: 4)
        display.imageBinding.reload()
        let second = try #require(display.imageBinding.load())
        #expect(second !== load)
        await loader.arrival(of: 2)
        loader.answer(1, with: .failure(ImageError(.connectionFailed, stage: .load, reason: "none")))
        _ = await second.result
        #expect(display.log == before)
    }

    @Test("An image that the program shows while a transition is prepared isn't overwritten")
    func preparing() async throws {
        let display = display()
        let manager = display.imageBinding.manager
        try await manager.store(.square(3), for: other)
        var transition = ImageTransition.crossDissolve()
        transition.prepare = { [display, other] _ in display.setImage(other) }
        let load = display.setImage(url, transition: transition)
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot()))
        _ = await load.result
        #expect(display.shown[.image]?.image.size.width == 3)
        #expect(display.log.last == "image 3x3")
    }
}
