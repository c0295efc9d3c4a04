import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeDisplay
@testable import TintypeImages
@testable import TintypeLoading

/// Something that the closure of a load keeps.
private final class Kept: Sendable {}

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

    @Test(
        "The closure of a load is released at the end, although the slot keeps the load, and isn't told more",
        .capability("VEW-23"), arguments: [true, false])
    func closureAfterEnd(isSuccess: Bool) async throws {
        var events = 0
        var kept: Kept? = Kept()
        weak let weakKept = kept
        let load = display.setImage(first) { [kept] _ in withExtendedLifetime(kept) { events += 1 } }
        kept = nil
        await loader.arrival(of: 1)
        #expect(weakKept != nil)
        if isSuccess { loader.answer(0, with: .success(.dot())) } else { fail(0) }
        _ = await load.result
        let told = events
        #expect(told > 0 && weakKept == nil)
        #expect(display.imageBinding.load() === load)
        display.thumbnailSize = PixelSize(width: 4, height: 4)
        if isSuccess { display.imageBinding.reload() } else { display.imageBinding.retry() }
        let next = try #require(display.imageBinding.load())
        #expect(next !== load)
        // The smaller image may be made without the loader.
        loader.answer(1, with: .success(.dot()))
        #expect(try await next.result.get().image.size.width == 4)
        #expect(events == told)
    }

    @Test(
        "The closures of a transition are released at the end, whatever it is; the transition is that of the next attempt",
        .capability("VEW-23"), arguments: ["success", "failure", "cancellation"])
    func closuresOfTransition(end: String) async throws {
        weak var weakKept: Kept?
        func begin() -> DisplayLoad {
            let kept = Kept()
            weakKept = kept
            var transition = ImageTransition.crossDissolve()
            transition.prepare = { _ in withExtendedLifetime(kept) {} }
            transition.completion = { _ in withExtendedLifetime(kept) {} }
            return display.setImage(first, transition: transition)
        }
        let load = begin()
        await loader.arrival(of: 1)
        #expect(weakKept != nil)
        switch end {
        case "success": loader.answer(0, with: .success(.dot()))
        case "failure": fail(0)
        default: load.cancel()
        }
        _ = await load.result
        #expect(weakKept == nil && display.imageBinding.load() === load)
        guard let next = display.imageBinding.retry() else { return #expect(end == "success") }
        await loader.arrival(of: 2)
        loader.answer(1, with: .success(.dot()))
        _ = try await next.result.get()
        #expect(display.log.last == "transition begins")
    }

    @Test(
        "A failure that is remembered stays as it is when the display appears again, also after another attempt",
        .capability("VEW-23"))
    func rememberedFailure() async throws {
        var load = display.setImage(first, placeholder: .square(2), failureImage: .square(3))
        for attempt in 1...2 {
            await loader.arrival(of: attempt)
            fail(attempt - 1)
            #expect(await load.result.failure?.code == .badStatus)
            let (log, phases) = (display.log, display.phases)
            for _ in 0..<3 { display.imageBinding.repeatFailed() }
            #expect(display.log == log && display.phases == phases && loader.calls.count == attempt)
            #expect(display.imageBinding.load() === load)
            if attempt == 1 { load = try #require(display.imageBinding.retry()) }
        }
        manager.removeAllFailures()
        display.imageBinding.repeatFailed()
        await loader.arrival(of: 3)
        loader.answer(2, with: .success(.dot()))
        _ = try await #require(display.imageBinding.load()).result.get()
        #expect(display.log.last == "image 8x8")
    }

    @Test("The closure of a load that is canceled is told so, and released")
    func closureOfCanceledLoad() async throws {
        var ends = 0
        var kept: Kept? = Kept()
        weak let weakKept = kept
        let load = display.setImage(first) { [kept] event in
            withExtendedLifetime(kept) { if case .finished = event { ends += 1 } }
        }
        kept = nil
        await loader.arrival(of: 1)
        load.cancel()
        #expect(ends == 1 && weakKept == nil)
        #expect(display.imageBinding.load() === load)
    }
}
