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
@Suite("Transitions, previews, and animations of displays", .timeLimited)
struct DisplayTransitionTests {
    private let url = URL(string: "test:a")!
    private let other = URL(string: "test:b")!
    private let loader = GatedLoader()
    private let cache = DictionaryCache()

    private func manager(_ coder: any ImageCoder = DotCoder()) -> ImageManager {
        ImageManager(cache: cache, loader: loader, coders: ImageCoders([coder]))
    }

    @Test(
        "A transition is prepared, shown, and completed, for an image that was not in memory",
        .capability("TRN-01", "TRN-03", "VEW-13"))
    func order() async throws {
        let display = RecordingDisplay(manager())
        var transition = ImageTransition.crossDissolve(0.25)
        transition.prepare = { [display] _ in display.log.append("prepares") }
        transition.completion = { [display] isFinished in display.log.append("completes \(isFinished)") }
        let load = display.setImage(url, display: .keepCurrentImage, transition: transition)
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot()))
        _ = await load.result
        let steps = ["prepares", "image 8x8", "transition begins", "completes true"]
        #expect(display.log == steps)
        display.setImage(url, transition: transition)
        #expect(display.log == steps + ["image 8x8"])
        display.setImage(url, display: .forceTransition, transition: transition)
        #expect(display.log == steps + ["image 8x8"] + steps)
    }

    @Test("A transition is completed once, though its display tells the end twice", .capability("TRN-03"))
    func repeatedEnd() async throws {
        let manager = manager()
        try await manager.store(.square(8), for: url)
        let display = RecordingDisplay(manager)
        display.endsTransitions = false
        var transition = ImageTransition.crossDissolve()
        transition.completion = { [display] isFinished in display.log.append("completes \(isFinished)") }
        display.setImage(url, display: .forceTransition, transition: transition)
        for isFinished in [true, false] { display.transitions[0](isFinished) }
        #expect(display.log == ["image 8x8", "transition begins", "completes true"])
    }

    @Test("forceTransition is for images in memory, too", .capability("OPT-17"))
    func forced() async throws {
        let manager = manager()
        try await manager.store(.square(8), for: url)
        let display = RecordingDisplay(manager)
        display.setImage(url, display: .forceTransition, transition: .slide(from: .left))
        #expect(display.log == ["image 8x8", "transition begins"])
    }

    @Test(
        "A load that waits for its transition ends when that ends, or is replaced, and once",
        .capability("VEW-14", "VEW-15", "OPT-25", "D18"))
    func waiting() async throws {
        let display = RecordingDisplay(manager())
        display.endsTransitions = false
        for isReplaced in [false, true] {
            var ends = 0
            cache.change { $0.memory = [:] }
            let calls = loader.calls.count
            let load = display.setImage(
                ImageRequest(url, cachePolicy: .reload), display: .waitTransition, transition: .crossDissolve()
            ) { event in
                if case .finished = event { ends += 1 }
            }
            await loader.arrival(of: calls + 1)
            loader.answer(calls, with: .success(.dot()))
            while display.transitions.isEmpty { await Task.yield() }
            #expect(ends == 0)
            #expect(load.end == nil)
            if isReplaced { display.setImage(nil as URL?) }
            for end in display.transitions { end(!isReplaced) }
            display.transitions = []
            #expect(ends == 1)
            #expect(try load.end?.get().image.size.width == 8)
        }
    }

    @Test("A transition begins and ends slowly, and an odd duration shows the image at once", .capability("TRN-02"))
    func curve() {
        let transition = ImageTransition.slide(from: .top, 0.4)
        let fractions = [-1, 0, 100, 200, 300, 400, 500].map { transition.fraction(after: .milliseconds($0)) }
        #expect(fractions == [0, 0, 0.15625, 0.5, 0.84375, 1, 1])
        for seconds in [0, -1, Double.nan, -Double.infinity] {
            #expect(ImageTransition.crossDissolve(seconds).fraction(after: .zero) == 1)
        }
        #expect(ImageTransition.crossDissolve(Double.infinity).duration == .seconds(3_600))
    }

    @Test("An easing of the program's own is kept between 0 and 1", .capability("TRN-02"))
    func easing() {
        var transition = ImageTransition.flip(from: .top, 1)
        for (part, expected) in [(0.3, 0.3), (-2, 0), (7, 1), (.nan, 0), (.infinity, 1)] as [(Double, Double)] {
            transition.easing = { _ in part }
            #expect(transition.fraction(after: .milliseconds(500)) == expected)
        }
        #expect(transition.fraction(after: .seconds(1)) == 1)
    }

    @Test("Previews are shown while bytes arrive, and don't stay when the load fails", .capability("VEW-11"))
    func previews() async throws {
        let display = RecordingDisplay(manager(GrowingCoder()))
        let placeholder = Image.square(2)
        let load = display.setImage(
            ImageRequest(url, isProgressive: true), placeholder: placeholder)
        await loader.arrival(of: 1)
        let data = Data("GROW0123456789abcdef".utf8)
        loader.calls[0].request.receive(LoadProgress(chunk: data[0..<8], receivedBytes: 8, expectedBytes: 20))
        while display.shown[.image]?.role != .preview { await Task.yield() }
        #expect(load.end == nil)
        loader.answer(0, with: .failure(ImageError(.connectionLost, stage: .load, reason: "lost")))
        _ = await load.result
        #expect(display.log == ["placeholder 2x2", "preview 8x8", "placeholder 2x2"])
    }

    @Test(
        "An animation plays after its first frame is shown, and no frame is decoded before",
        .capability("CTX-22", "3.5"))
    func animation() async throws {
        let coder = NumberedFramesCoder(count: 5)
        let display = RecordingDisplay(manager(coder))
        display.isAnimating = true
        let load = display.setImage(url)
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(LoadedData(data: NumberedFramesCoder.bytes, url: url)))
        _ = await load.result
        #expect(display.log == ["nothing", "image 4x4", "plays 5"])
        #expect(coder.decodes == [0: 1])
        #expect(loader.calls.count == 1)
        // The next display finds all of it in memory.
        let second = RecordingDisplay(display.imageBinding.manager)
        second.isAnimating = true
        second.setImage(url)
        #expect(second.log == ["image 4x4", "plays 5"])
        #expect(second.playing[.image] === display.playing[.image])
        second.setImage(nil as URL?)
        #expect(second.playing[.image] == nil)
    }

    @Test(
        "An image in memory isn't asked for again, and a display that plays nothing decodes one frame",
        .capability("CTX-22"))
    func memory() async throws {
        let coder = NumberedFramesCoder(count: 40)
        let manager = manager(coder)
        let image = try coder.decode(NumberedFramesCoder.bytes)
        var request = ImageRequest(url)
        request.cache.store = .memory
        try await manager.store(image, for: request)
        let display = RecordingDisplay(manager)
        display.isAnimating = true
        for _ in 0..<3 { display.setImage(url) }
        #expect(display.playing[.image] === image.animation && loader.calls.isEmpty)
        display.isAnimating = false
        display.setImage(url)
        #expect(display.playing[.image] == nil && display.shown[.image]?.image.isIdentical(to: image) == true)
        #expect(coder.decodes.keys.max() == 0 && loader.calls.isEmpty)
        // What a display has loaded is what others get, under the same key.
        #expect(manager.memoryImage(for: ImageRequest(url))?.isIdentical(to: image) == true)
        try await manager.removeCachedImage(for: ImageRequest(url))
        let load = display.setImage(url)
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(LoadedData(data: NumberedFramesCoder.bytes, url: url)))
        #expect(try await load.result.get().source == .network)
    }

    @Test("The manager's transformer is that of all frames which a display shows", .capability("MGR-10", "AIV-09"))
    func managersTransformer() async throws {
        var configuration = ImageManager.Configuration()
        configuration.transformer = { _ in .circle() }
        configuration.optionsProcessor = { request in
            var request = request
            request.transformsAnimatedImages = true
            return request
        }
        let manager = ImageManager(
            cache: DictionaryCache(), loader: loader, coders: ImageCoders([NumberedFramesCoder(count: 3)]),
            configuration: configuration)
        let display = RecordingDisplay(manager)
        display.isAnimating = true
        let load = display.setImage(url)
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(LoadedData(data: NumberedFramesCoder.bytes, url: url)))
        _ = await load.result
        #expect(display.shown[.image]?.image.isTransformed == true)
        let frame = try #require(try await display.playing[.image]?.frame(at: 2)?.pixels)
        #expect(frame[0, 0].x < 2 && frame[2, 2].x == 2, "the corners are cut")
    }

    @Test("Whatever happens, each load ends once, and the slot shows the last one", .capability("3.2", "3.7"))
    func random() async throws {
        var random = SeededRandom(seed: 12)
        let manager = manager()
        let display = RecordingDisplay(manager)
        var ends: [Int] = []
        var loads: [DisplayLoad] = []
        var answered = 0
        for step in 0..<300 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1, 2:
                let url = URL(string: "test:\(Int.random(in: 0..<40, using: &random))")!
                let index = ends.count
                ends.append(0)
                loads.append(
                    display.setImage(
                        url, display: step % 5 == 0 ? .avoidAutoCancelImage : [],
                        transition: step % 3 == 0 ? .crossDissolve() : nil
                    ) { event in
                        if case .finished = event { ends[index] += 1 }
                    })
            case 3: display.cancelImageLoad()
            case 4: display.imageBinding.isSuspended.toggle()
            default:
                for _ in 0..<Int.random(in: 0..<5, using: &random) { await Task.yield() }
                while answered < loader.calls.count {
                    loader.answer(answered, with: .success(.dot(size: 1 + answered % 50)))
                    answered += 1
                }
            }
        }
        display.imageBinding.isSuspended = false
        let last = display.setImage(URL(string: "test:last")!)
        while last.end == nil || display.imageBinding.activeLoads > 0 {
            while answered < loader.calls.count {
                let isLast = loader.calls[answered].request.url.absoluteString == "test:last"
                loader.answer(answered, with: .success(.dot(size: isLast ? 99 : 1 + answered % 50)))
                answered += 1
            }
            await Task.yield()
        }
        #expect(ends.allSatisfy { $0 == 1 })
        #expect(loads.allSatisfy { $0.end != nil })
        #expect(display.shown[.image]?.image.size.width == 99)
    }
}
