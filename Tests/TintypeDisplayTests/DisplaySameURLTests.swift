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
@Suite("Displays that are given the URL that they load", .timeLimited)
struct DisplaySameURLTests {
    private let url = URL(string: "test:a")!
    private let loader = GatedLoader()
    private let display: RecordingDisplay

    init() {
        display = RecordingDisplay(
            ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([DotCoder()])))
    }

    @Test("The transfer of a URL goes on when the same display is given the URL again", .capability("AFD-13", "VEW-03"))
    func again() async throws {
        let loads = [display.setImage(url)]
        await loader.arrival(of: 1)
        let later = (0..<3).map { _ in display.setImage(url) }
        #expect(loads[0].end?.failure?.isCancellation == true)
        loader.answer(0, with: .success(.dot()))
        #expect(try await later[2].result.get().image.size.width == 8)
        #expect(later[0].end?.failure?.isCancellation == true)
        #expect(loader.calls.count == 1)
        #expect(loader.cancelled == 0)
        #expect(display.imageBinding.activeLoads == 0)
    }

    @Test(
        "A preview stays when the URL that it belongs to is given again, and goes if the load fails",
        .capability("VEW-11"))
    func preview() async {
        var configuration = ImageManager.Configuration()
        configuration.previewInterval = .zero
        let manager = ImageManager(
            cache: DictionaryCache(), loader: loader, coders: ImageCoders([GrowingCoder()]),
            configuration: configuration)
        let (display, placeholder) = (RecordingDisplay(manager), Image.square(2))
        display.setImage(ImageRequest(url, isProgressive: true), placeholder: placeholder)
        await loader.arrival(of: 1)
        let data = Data("GROW0123456789abcdef".utf8)
        loader.calls[0].request.receive(LoadProgress(chunk: data[0..<8], receivedBytes: 8, expectedBytes: 20))
        while display.shown[.image]?.role != .preview { await Task.yield() }
        let again = display.setImage(ImageRequest(url, isProgressive: true), placeholder: placeholder)
        #expect(display.shown[.image]?.role == .preview)
        loader.answer(0, with: .failure(ImageError(.connectionLost, stage: .load, reason: "lost")))
        _ = await again.result
        #expect(display.shown[.image]?.role == .placeholder)
    }

    @Test("The transfer of a URL goes on when the display wants another size", .capability("AFD-13", "VEW-24"))
    func anotherSize() async throws {
        let load = display.setImage(url)
        await loader.arrival(of: 1)
        display.thumbnailSize = PixelSize(width: 4, height: 4)
        display.imageBinding.reload()
        loader.answer(0, with: .success(.dot()))
        #expect(try await load.result.get().image.size.width == 4)
        #expect(loader.calls.count == 1)
        #expect(loader.cancelled == 0)
    }

    @Test("A transfer that was taken over ends with the load that took it over", .capability("AFD-13"))
    func cancelled() async {
        _ = display.setImage(url)
        await loader.arrival(of: 1)
        let second = display.setImage(url)
        second.cancel()
        while loader.cancelled == 0 { await Task.yield() }
        #expect(second.end?.failure?.isCancellation == true)
        _ = display.setImage(url)
        await loader.arrival(of: 2)
        _ = display.setImage(url)
        _ = display.setImage(URL(string: "test:b")!)
        while loader.cancelled == 1 { await Task.yield() }
        display.imageBinding.cancelAll()
        #expect(display.imageBinding.activeLoads == 0)
    }
}
