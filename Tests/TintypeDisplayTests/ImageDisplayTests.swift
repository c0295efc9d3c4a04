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
@Suite("Displaying images", .timeLimited)
struct ImageDisplayTests {
    private let first = URL(string: "test:first")!
    private let second = URL(string: "test:second")!
    private let loader = GatedLoader()
    private let manager: ImageManager
    private let display: RecordingDisplay
    private let placeholder = Image.square(2)
    private let failureImage = Image.square(3)

    init() {
        manager = ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([DotCoder()]))
        display = RecordingDisplay(manager)
    }

    private func answer(_ call: Int, size: Int = 8) { loader.answer(call, with: .success(.dot(size: size))) }

    private func fail(_ call: Int) {
        loader.answer(call, with: .failure(ImageError(.badStatus, stage: .load, reason: "404", statusCode: 404)))
    }

    private func keep(_ url: URL, size: Int = 8) async throws { try await manager.store(.square(size), for: url) }

    // MARK: The usual way

    @Test(
        "A load shows the placeholder, its indicator, and the image, and then ends",
        .capability("VEW-01", "VEW-04", "VEW-08", "VEW-10", "IND-01", "IND-02", "IND-03", "PLG-06"))
    func usualWay() async throws {
        let load = display.setImage(first, placeholder: placeholder, indicator: .progress) { [display] event in
            if case .finished(let result) = event { display.log.append("end \(result.isSuccess)") }
        }
        #expect(display.log == ["placeholder 2x2", "progress starts"])
        #expect(display.imageURL() == first)
        await loader.arrival(of: 1)
        answer(0)
        #expect(try await load.result.get().source == .network)
        #expect(
            display.log.filter { !$0.hasPrefix("progress 0") && !$0.hasPrefix("progress 1") } == [
                "placeholder 2x2", "progress starts", "progress stops", "image 8x8", "end true",
            ])
    }

    @Test(
        "An image in memory is shown at once, without placeholder, indicator, or transition",
        .capability("VEW-05", "3.2", "VEW-13"))
    func memoryHit() async throws {
        try await keep(first)
        let load = display.setImage(
            first, placeholder: placeholder, transition: .crossDissolve(), indicator: .spinner)
        #expect(display.log == ["image 8x8"])
        #expect(try load.end?.get().source == .memory)
        #expect(load.fraction == 1)
    }

    @Test("Without a URL the placeholder is shown, and the load ends with an error", .capability("VEW-06"))
    func noURL() async throws {
        for options in [[], .delayPlaceholder] as [DisplayOptions] {
            display.log = []
            let load = display.setImage(
                nil as URL?, placeholder: placeholder, display: options, indicator: .spinner)
            #expect(display.log == ["placeholder 2x2"])
            #expect(load.end?.failure?.code == .invalidURL)
        }
    }

    @Test("Progress begins unknown, follows the bytes, and is complete with the image", .capability("VEW-07"))
    func progress() async throws {
        let seen = Watched(0)
        let load = display.setImage(first, indicator: .progress) { event in
            if case .progress = event { seen.update { $0 += 1 } }
        }
        #expect(load.fraction == nil)
        await loader.arrival(of: 1)
        loader.calls[0].request.receive(LoadProgress(receivedBytes: 25, expectedBytes: 100))
        try await seen.wait { $0 > 0 }
        #expect(load.fraction == 0.25)
        #expect(display.log.contains("progress 0.25"))
        guard case .loading(0.25) = display.imageBinding.phase() else {
            Issue.record("\(display.imageBinding.phase())")
            return
        }
        answer(0)
        _ = await load.result
        #expect(load.fraction == 1)
    }

    // MARK: Replacing

    @Test(
        "A new load ends the previous one first, and its image never appears", .capability("VEW-03", "VEW-12", "3.2"))
    func replaced() async throws {
        let old = display.setImage(first) { [display] event in
            if case .finished(let result) = event { display.log.append("old: \(result.failure?.code.rawValue ?? "")") }
        }
        await loader.arrival(of: 1)
        display.log = []
        let new = display.setImage(second, placeholder: placeholder)
        #expect(display.log == ["old: cancelled", "placeholder 2x2"])
        #expect(old.end?.failure?.isCancellation == true)
        answer(0, size: 5)
        await loader.arrival(of: 2)
        answer(1, size: 6)
        _ = await new.result
        #expect(display.shown[.image]?.image.size.width == 6)
        #expect(display.imageBinding.activeLoads == 0)
    }

    @Test("A slow earlier load that may go on never overwrites a later one", .capability("VEW-12", "OPT-24", "3.2"))
    func slowEarlierLoad() async throws {
        let old = display.setImage(first, indicator: .spinner)
        await loader.arrival(of: 1)
        let new = display.setImage(second, display: .avoidAutoCancelImage)
        await loader.arrival(of: 2)
        answer(1, size: 6)
        _ = await new.result
        answer(0, size: 5)
        #expect(try await old.result.get().image.size.width == 5)
        #expect(display.shown[.image]?.image.size.width == 6)
        #expect(display.log.filter { $0 == "spinner stops" }.count == 1)
    }

    @Test("A program may ask for another image when a load ends", .capability("VEW-03"))
    func reentrant() async throws {
        try await keep(second, size: 6)
        display.setImage(first) { [display, second] event in
            if case .finished = event { display.setImage(second) }
        }
        let lost = display.setImage(first)
        #expect(lost.end?.failure?.isCancellation == true)
        #expect(display.imageURL() == second)
        #expect(display.shown[.image]?.image.size.width == 6)
        #expect(display.imageBinding.activeLoads == 0)
    }

    @Test("Slots load, cancel, and show independently", .capability("VEW-02", "VEW-17", "VEW-19", "CTX-01"))
    func slots() async throws {
        let image = display.setImage(first)
        let other = display.setImage(second, in: .highlighted)
        await loader.arrival(of: 2)
        display.cancelImageLoad()
        #expect(image.end?.failure?.isCancellation == true)
        #expect(other.end == nil)
        for call in loader.calls where call.request.url == second { answer(call.index, size: 6) }
        _ = await other.result
        #expect(display.shown[.highlighted]?.image.size.width == 6)
        #expect(display.shown[.image] == nil)
        #expect(display.imageURL(in: .highlighted) == second)
    }

    @Test("Canceling ends a load once, and leaves what is shown", .capability("VEW-16"))
    func cancel() async throws {
        var ends = 0
        let load = display.setImage(first, placeholder: placeholder, indicator: .spinner) { event in
            if case .finished = event { ends += 1 }
        }
        await loader.arrival(of: 1)
        display.cancelImageLoad()
        display.cancelImageLoad()
        display.imageBinding.cancelAll()
        #expect(ends == 1)
        #expect(load.end?.failure?.isCancellation == true)
        #expect(display.log == ["placeholder 2x2", "spinner starts", "spinner stops"])
    }

    @Test("A reused display is empty, and nothing of before appears", .capability("3.2", "VEW-16"))
    func reuse() async throws {
        let load = display.setImage(first)
        await loader.arrival(of: 1)
        display.imageBinding.prepareForReuse()
        #expect(load.end?.failure?.isCancellation == true)
        #expect(display.shown[.image] == nil)
        guard case .empty = display.imageBinding.phase() else {
            Issue.record("not empty")
            return
        }
    }

    @Test("A display that is gone ends its loads", .capability("VEW-12", "3.7"))
    func gone() async throws {
        var ends = 0
        var other: RecordingDisplay? = RecordingDisplay(manager)
        weak let weakDisplay = other
        let load = other?.setImage(first) { event in if case .finished = event { ends += 1 } }
        await loader.arrival(of: 1)
        other = nil
        #expect(weakDisplay == nil)
        let error = await load?.result.failure
        #expect(error?.isCancellation == true)
        #expect(ends == 1)
    }

    // MARK: Options

    @Test("A delayed placeholder appears only if there is no image", .capability("OPT-08", "VEW-09"))
    func delayedPlaceholder() async throws {
        let load = display.setImage(first, placeholder: placeholder, display: .delayPlaceholder)
        #expect(display.log == [])
        await loader.arrival(of: 1)
        fail(0)
        _ = await load.result
        #expect(display.log == ["placeholder 2x2"])
        let other = display.setImage(second, placeholder: placeholder, display: .delayPlaceholder)
        await loader.arrival(of: 2)
        answer(1)
        _ = await other.result
        #expect(display.log == ["placeholder 2x2", "image 8x8"])
    }

    @Test("A failed load shows the failure image, and can be tried again", .capability("VEW-09", "VEW-23"))
    func failure() async throws {
        let load = display.setImage(first, placeholder: placeholder, failureImage: failureImage)
        await loader.arrival(of: 1)
        fail(0)
        #expect(await load.result.failure?.code == .badStatus)
        #expect(display.log == ["placeholder 2x2", "failure 3x3"])
        let retry = try #require(display.imageBinding.retry())
        await loader.arrival(of: 2)
        answer(1)
        _ = await retry.result
        #expect(display.log.suffix(2) == ["placeholder 2x2", "image 8x8"])
        #expect(display.imageBinding.retry() == nil)
    }

    @Test(
        "A display is told each change of its phase, and failed loads are repeated when it appears again",
        .capability("VEW-23"))
    func phases() async throws {
        let load = display.setImage(first)
        #expect(display.phases == ["loading"])
        await loader.arrival(of: 1)
        fail(0)
        _ = await load.result
        #expect(display.phases == ["loading", "badStatus"])
        manager.removeAllFailures()
        display.imageBinding.repeatFailed()
        await loader.arrival(of: 2)
        answer(1)
        _ = await display.imageBinding.load()?.result
        #expect(display.phases == ["loading", "badStatus", "loading", "image"])
        // Nothing failed: nothing is repeated.
        display.imageBinding.repeatFailed()
        #expect(display.phases.count == 4)
        // In memory, and so without a wait; the load that it replaces isn't told of any more.
        try await keep(second)
        display.setImage(second)
        display.imageBinding.prepareForReuse()
        #expect(display.phases == ["loading", "badStatus", "loading", "image", "image", "empty"])
    }

    @Test("The program may show the image itself", .capability("OPT-10", "VEW-10"))
    func avoidAutoSet() async throws {
        var received: Image?
        let load = display.setImage(first, placeholder: placeholder, display: .avoidAutoSetImage) { event in
            if case .finished(.success(let result)) = event { received = result.image }
        }
        await loader.arrival(of: 1)
        answer(0)
        _ = await load.result
        #expect(received?.size.width == 8)
        #expect(display.log == ["placeholder 2x2"])
    }

    @Test("The image that is shown can stay until the new one is there", .capability("3.2"))
    func keepCurrent() async throws {
        try await keep(first)
        display.setImage(first)
        let load = display.setImage(second, display: .keepCurrentImage)
        #expect(display.log == ["image 8x8"])
        await loader.arrival(of: 1)
        answer(0, size: 6)
        _ = await load.result
        #expect(display.log == ["image 8x8", "image 6x6"])
    }

    @Test("The same image doesn't flash its placeholder when it is loaded again", .capability("3.2"))
    func sameImage() async throws {
        try await keep(first)
        display.setImage(first)
        try await manager.removeCachedImage(for: ImageRequest(first))
        let load = display.setImage(first, placeholder: placeholder)
        await loader.arrival(of: 1)
        answer(0, size: 9)
        _ = await load.result
        #expect(display.log == ["image 8x8", "image 9x9"])
    }

    @Test("A placeholder can wait, so that a fast load causes no flicker", .capability("3.2"))
    func placeholderDelay() async throws {
        let clock = ManualClock()
        let display = RecordingDisplay(manager, clock: clock)
        display.imageBinding.placeholderDelay = .milliseconds(100)
        let fast = display.setImage(first, placeholder: placeholder)
        await loader.arrival(of: 1)
        answer(0)
        _ = await fast.result
        #expect(display.log == ["image 8x8"])
        let slow = display.setImage(second, placeholder: placeholder)
        await loader.arrival(of: 2)
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(100))
        while display.log.count < 2 { await Task.yield() }
        #expect(display.log == ["image 8x8", "placeholder 2x2"])
        answer(1)
        _ = await slow.result
        #expect(display.log.last == "image 8x8")
    }

    @Test("While an image is refreshed, the cached one is shown", .capability("3.2", "VEW-22"))
    func refresh() async throws {
        try await keep(first)
        let load = display.setImage(ImageRequest(first, cachePolicy: .revalidate), placeholder: placeholder)
        #expect(display.log == ["preview 8x8"])
        await loader.arrival(of: 1)
        answer(0, size: 9)
        _ = await load.result
        #expect(display.log.last == "image 9x9")
    }

    // MARK: Visibility

    @Test("Loads of displays that nobody sees have a low priority", .capability("3.20"))
    func visibility() async throws {
        var request = ImageRequest(first)
        request.priority = .high
        let load = display.setImage(request)
        await loader.arrival(of: 1)
        let priority = loader.calls[0].request.priority
        #expect(priority.value == .high)
        display.imageBinding.isVisible = false
        #expect(priority.value == .low)
        load.priority = .veryHigh
        #expect(priority.value == .low)
        display.imageBinding.isVisible = true
        #expect(priority.value == .veryHigh)
    }

    @Test("A display that nobody sees starts its load with a low priority", .capability("3.20"))
    func invisibleStart() async throws {
        struct Observer: ImageLoading {
            let seen: Lock<[ImagePriority]>
            let schemes = ["seen"]

            func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
                seen.withLock { $0.append(request.priority.value) }
                return .dot("seen:a")
            }
        }
        let seen = Lock<[ImagePriority]>([])
        manager.loaders.add(Observer(seen: seen))
        display.imageBinding.isVisible = false
        _ = try await display.setImage(URL(string: "seen:a")).result.get()
        #expect(seen.withLock { $0 } == [.low])
    }

    @Test("A suspended load stops, goes on when it is resumed, and has one end", .capability("VEW-23"))
    func suspension() async throws {
        var ends = 0
        let load = display.setImage(first, placeholder: placeholder, indicator: .spinner) { event in
            if case .finished = event { ends += 1 }
        }
        await loader.arrival(of: 1)
        display.imageBinding.isSuspended = true
        while manager.hasActiveLoads { await Task.yield() }
        #expect(ends == 0)
        display.setImage(second, in: .highlighted, placeholder: placeholder)
        #expect(!manager.hasActiveLoads)
        display.imageBinding.isSuspended = false
        await loader.arrival(of: 3)
        for call in 1...2 { answer(call) }
        #expect(try await load.result.get().image.size.width == 8)
        #expect(ends == 1)
        #expect(display.log.filter { $0 == "placeholder 2x2" }.count == 1)
    }
}
