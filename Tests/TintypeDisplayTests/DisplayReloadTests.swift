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

    @Test("Meanwhile, and if it fails, the image stays that is shown, and its load", .capability("VEW-24"))
    func failing() async throws {
        let display = display()
        let load = display.setImage(url, placeholder: .square(2), indicator: .progress)
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot()))
        _ = await load.result
        cache.change { ($0.memory, $0.disk) = ([:], [:]) }
        let (before, phases) = (display.log, display.phases)
        display.thumbnailSize = PixelSize(width: 4, height: 4)
        display.imageBinding.reload()
        let second = try #require(display.imageBinding.load())
        #expect(second !== load)
        await loader.arrival(of: 2)
        guard case .image = display.imageBinding.phase(), !display.imageBinding.isLoading else {
            return #expect(Bool(false), "the image is gone")
        }
        loader.answer(1, with: .failure(ImageError(.connectionFailed, stage: .load, reason: "none")))
        #expect(await second.result.failure?.code == .connectionFailed)
        #expect(display.log == before && display.phases == phases)
        #expect(display.imageBinding.load() === load)
        // The next time that the display is asked, it tries again.
        display.imageBinding.reload()
        let third = try #require(display.imageBinding.load())
        await loader.arrival(of: 3)
        loader.answer(2, with: .success(.dot()))
        #expect(try await third.result.get().image.size.width == 4)
        #expect(display.log == before + ["image 4x4"] && display.phases == phases + ["image"])
    }

    @Test("A load that is canceled while its transition is prepared shows nothing")
    func canceledWhilePreparing() async throws {
        let display = display()
        var transition = ImageTransition.crossDissolve()
        transition.prepare = { [display] _ in display.cancelImageLoad() }
        let load = display.setImage(url, transition: transition)
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot()))
        #expect(await load.result.failure?.isCancellation == true)
        #expect(display.log == ["nothing"])
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
