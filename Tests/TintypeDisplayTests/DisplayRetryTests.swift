import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeDisplay
@testable import TintypeImages
@testable import TintypeLoading

@MainActor
@Suite("Displays: later attempts", .timeLimited)
struct DisplayRetryTests {
    private let loader = GatedLoader()
    private let manager: ImageManager
    private let display: RecordingDisplay
    private let first = URL(string: "test:a")!

    init() {
        manager = ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([DotCoder()]))
        display = RecordingDisplay(manager)
    }

    private func fail(_ call: Int) {
        loader.answer(call, with: .failure(ImageError(.badStatus, stage: .load, reason: "404", statusCode: 404)))
    }

    @Test("The closure of a load is told each event once, and nothing of later attempts", .capability("VEW-23"))
    func eventsOfLaterAttempts() async throws {
        var (events, ends) = (0, 0)
        let load = display.setImage(first) { event in
            events += 1
            if case .finished(.failure) = event { ends += 1 }
        }
        await loader.arrival(of: 1)
        loader.calls[0].request.receive(LoadProgress(receivedBytes: 5, expectedBytes: 10))
        fail(0)
        _ = await load.result
        let told = events
        #expect(told > 0 && ends == 1)
        let retry = try #require(display.imageBinding.retry())
        await loader.arrival(of: 2)
        fail(1)
        _ = await retry.result
        manager.removeAllFailures()
        display.imageBinding.repeatFailed()
        await loader.arrival(of: 3)
        loader.calls[2].request.receive(LoadProgress(receivedBytes: 5, expectedBytes: 10))
        loader.answer(2, with: .success(.dot()))
        _ = await display.imageBinding.load()?.result
        #expect(display.log.last == "image 8x8")
        #expect(events == told && ends == 1)
    }
}
