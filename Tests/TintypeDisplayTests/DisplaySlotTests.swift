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
@Suite("What a slot of a display shows", .timeLimited)
struct DisplaySlotTests {
    private let url = URL(string: "test:a")!
    private let other = URL(string: "test:b")!
    private let loader = GatedLoader()
    private let manager: ImageManager
    private let display: RecordingDisplay

    init() {
        manager = ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([DotCoder()]))
        display = RecordingDisplay(manager)
    }

    private func answer(_ call: Int, size: Int = 8) { loader.answer(call, with: .success(.dot(size: size))) }

    /// Shows a square of the program's own, or nothing.
    private func showOwn(_ side: Int?) {
        display.imageBinding.showOwn(in: .image, isEmpty: side == nil) {
            display.show(side.map { DisplayedImage(.square($0), role: .image) }, in: .image)
        }
    }

    // MARK: Loading

    @Test("A display waits for the image of its last load alone, not for loads that may go on", .capability("VEW-03"))
    func waiting() async throws {
        let old = display.setImage(url)
        await loader.arrival(of: 1)
        let new = display.setImage(other, display: .avoidAutoCancelImage)
        await loader.arrival(of: 2)
        #expect(display.imageBinding.isLoading)
        answer(1)
        _ = await new.result
        #expect(!display.imageBinding.isLoading && display.imageBinding.activeLoads == 1)
        answer(0)
        _ = try await old.result.get()
        #expect(!display.imageBinding.isLoading)
    }

    // MARK: Images of the program

    @Test("The image of a load doesn't come back after the program has shown something else", .capability("VEW-24"))
    func ownImage() async throws {
        let load = display.setImage(url)
        await loader.arrival(of: 1)
        answer(0)
        _ = try await load.result.get()
        for side in [5, nil] {
            showOwn(side)
            #expect(display.imageBinding.load() == nil && display.phases.last == "empty")
            let log = display.log
            display.thumbnailSize = PixelSize(width: 4, height: 4)
            display.imageBinding.reload()
            display.imageBinding.repeatFailed()
            #expect(display.log == log && loader.calls.count == 1)
            display.thumbnailSize = nil
            // It is in memory.
            display.setImage(url)
            #expect(display.log.last == "image 8x8")
        }
        showOwn(nil)
        try await manager.removeAll(of: url)
        display.setImage(url, placeholder: .square(2))
        #expect(display.log.last == "placeholder 2x2")
        display.imageBinding.cancelAll()
    }

    @Test("A load ends when the program shows something else, and an image that it then asks for stays")
    func ownImageDuringLoad() async throws {
        try await manager.store(.square(6), for: other)
        for asksForAnother in [false, true] {
            let load = display.setImage(url) { [display, other] event in
                if asksForAnother, case .finished(.failure) = event { display.setImage(other) }
            }
            await loader.arrival(of: asksForAnother ? 2 : 1)
            showOwn(5)
            #expect(load.end?.failure?.isCancellation == true)
            #expect(display.shown[.image]?.image.size.width == (asksForAnother ? 6 : 5))
            #expect(display.phases.last == (asksForAnother ? "image" : "empty"))
        }
    }

    @Test("A load that leaves it to the program to show its image goes on when the program does", .capability("OPT-10"))
    func ownImageOfLoad() async throws {
        let load = display.setImage(url, display: .avoidAutoSetImage)
        await loader.arrival(of: 1)
        showOwn(5)
        #expect(load.end == nil && display.imageURL() == url)
        answer(0)
        _ = try await load.result.get()
        showOwn(6)
        #expect(display.imageURL() == url && display.phases.last == "image")
    }

    // MARK: Reuse

    @Test("An image that is asked for when the load of a reused display ends is shown", .capability("VEW-16"))
    func reuse() async throws {
        try await manager.store(.square(6), for: other)
        let load = display.setImage(url) { [display, other] event in
            if case .finished(.failure) = event { display.setImage(other) }
        }
        await loader.arrival(of: 1)
        display.imageBinding.prepareForReuse()
        #expect(load.end?.failure?.isCancellation == true)
        #expect(display.shown[.image]?.image.size.width == 6 && display.imageURL() == other)
        #expect(display.phases.suffix(2) == ["empty", "image"])
        display.imageBinding.prepareForReuse()
        #expect(display.shown[.image] == nil && display.phases.last == "empty")
    }

    // MARK: Previews

    @Test(
        "A part of an image takes the place of no whole image of the same source, or that is to be kept",
        .capability("VEW-11", "3.2"))
    func wholeImage() async throws {
        let data = Data("GROW0123456789abcdef".utf8)
        for (shown, side, options, delay) in [
            (url, 4, .keepCurrentImage, .zero), (other, 4, .keepCurrentImage, .zero), (url, 8, [], .zero),
            (url, 4, [], .milliseconds(100)),
        ] as [(URL, Int, DisplayOptions, Duration)] {
            var configuration = ImageManager.Configuration()
            configuration.previewInterval = .zero
            let loader = GatedLoader()
            let manager = ImageManager(
                cache: DictionaryCache(), loader: loader, coders: ImageCoders([GrowingCoder()]),
                configuration: configuration)
            let clock = ManualClock()
            let display = RecordingDisplay(manager, clock: clock)
            display.imageBinding.placeholderDelay = delay
            var first = ImageRequest(shown, thumbnailSize: side < 8 ? PixelSize(width: side, height: side) : nil)
            first.cache.store = .memory
            try await manager.store(.square(side), for: first)
            display.setImage(first)
            let previews = Watched(0)
            let load = display.setImage(
                ImageRequest(url, cachePolicy: .reload, isProgressive: true), placeholder: .square(2), display: options
            ) { event in
                if case .preview = event { previews.update { $0 += 1 } }
            }
            await loader.arrival(of: 1)
            if delay > .zero { try await clock.waitForSleepers(1) }
            loader.calls[0].request.receive(LoadProgress(chunk: data[0..<8], receivedBytes: 8, expectedBytes: 20))
            try await previews.wait { $0 > 0 }
            // The placeholder doesn't follow the part that wasn't shown.
            clock.advance(by: delay)
            for _ in 0..<20 { await Task.yield() }
            #expect(display.log == ["image \(side)x\(side)"])
            loader.answer(0, with: .success(LoadedData(data: data, url: url)))
            _ = try await load.result.get()
            #expect(display.log == ["image \(side)x\(side)", "image 8x8"])
        }
    }
}
