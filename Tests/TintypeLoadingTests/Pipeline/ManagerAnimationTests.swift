import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Loads of images that move", .timeLimited)
struct ManagerAnimationTests {
    private let url = URL(string: "test:numbers")!

    private func loader() -> GatedLoader {
        GatedLoader { .success(LoadedData(data: NumberedFramesCoder.bytes, url: $0)) }
    }

    @Test(
        "A URL has one animation, in memory its bytes and its first frame, and on disk its bytes",
        .capability("ANI-01", "CTX-22", "OPT-20"))
    func oneAnimation() async throws {
        let folder = try TemporaryDirectory()
        let (coder, loader) = (NumberedFramesCoder(count: 200), loader())
        let disk = DiskCache(.init(directory: folder.path + "/cache", minimumFreeSpace: 0))
        let memory = MemoryCache()
        let manager = ImageManager(
            cache: ImageCache(memory: memory, disk: disk), loader: loader, coders: ImageCoders([coder]))
        let image = try await manager.image(for: url)
        let animation = try #require(image.animation)
        #expect(animation.frameCount == 200 && image.isAnimated && image.pixels[0, 0].x == 0)
        #expect(coder.decodes == [0: 1], "no frame is decoded before it is due")
        #expect(image.memoryCost == NumberedFramesCoder.bytes.count + NumberedFramesCoder.frameBytes)
        #expect(memory.statistics.bytes == image.memoryCost)
        #expect(try await manager.image(for: url).animation === animation)
        await manager.flush()
        #expect(await disk.entry(forKey: ImageKey(source: "test:numbers"))?.data == NumberedFramesCoder.bytes)
        // From disk.
        memory.removeAll()
        #expect(try await manager.image(for: url).animation == animation)
        #expect(loader.calls.count == 1)
        // Removed everywhere.
        try await manager.removeAll(of: url)
        #expect(try await manager.image(for: url).animation !== animation)
        #expect(loader.calls.count == 2)
    }

    @Test("What doesn't move is an error where an animation is required", .capability("OPT-21"))
    func requiredAnimation() async throws {
        let manager = ImageManager(
            cache: DictionaryCache(), loader: loader(), coders: ImageCoders([NumberedFramesCoder(count: 1)]))
        #expect(try await manager.image(for: url).animation == nil)
        var request = ImageRequest(url)
        request.requiresAnimation = true
        let error = await #expect(throws: ImageError.self) { try await manager.image(for: request) }
        #expect(error?.code == .notAnimated && error?.source == "test:numbers")
    }

    @Test("A user's animation is no other user's, also in memory", .capability("HTC-04", "CTX-22"))
    func users() async throws {
        let loader = GatedLoader { _ in
            .success(LoadedData(data: NumberedFramesCoder.bytes, url: URL(string: "test:a")!))
        }
        let manager = ImageManager(
            cache: DictionaryCache(), loader: loader, coders: ImageCoders([NumberedFramesCoder(count: 3)]))
        func animation(_ user: String) async throws -> AnimatedImage? {
            try await manager.image(for: ImageRequest(url, headers: ["Authorization": user])).animation
        }
        let anna = try await animation("anna")
        #expect(try await animation("anna") === anna)
        #expect(try await animation("bert") !== anna)
        #expect(try await manager.image(for: url).animation !== anna)
        #expect(loader.calls.count == 3)
    }

    @Test("What a program doesn't allow caches to keep isn't kept, moving or not", .capability("MGR-41", "CTX-22"))
    func shouldCache() async throws {
        var configuration = ImageManager.Configuration()
        configuration.shouldCache = { _, _ in false }
        let cache = DictionaryCache()
        let manager = ImageManager(
            cache: cache, loader: loader(), coders: ImageCoders([NumberedFramesCoder(count: 3)]),
            configuration: configuration)
        _ = try await manager.image(for: url)
        await manager.flush()
        cache.change { #expect($0.memory.isEmpty && $0.disk.isEmpty) }
    }

    @Test(
        "A request for the first frame has a still image under a key of its own, and doesn't stop others from moving",
        .capability("OPT-07", "CTX-22"))
    func firstFrame() async throws {
        let loader = loader()
        let manager = ImageManager(
            cache: DictionaryCache(), loader: loader, coders: ImageCoders([NumberedFramesCoder(count: 3)]))
        var still = ImageRequest(url)
        still.decode.firstFrameOnly = true
        #expect(try await !manager.image(for: still).isAnimated)
        #expect(try await manager.image(for: url).animation?.frameCount == 3)
        #expect(try await !manager.image(for: still).isAnimated)
        #expect(loader.calls.count == 1)
    }

    @Test("A source that changes between still and moving is what its last answer was", .capability("CTX-22", "3.3"))
    func changes() async throws {
        let loader = GatedLoader()
        let manager = ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([MovieCoder()]))
        for (index, frames) in [1, 4, 1, 2].enumerated() {
            var reload = ImageRequest(url)
            if index > 0 { reload.cache.query = [] }
            async let loaded = manager.image(for: reload)
            await loader.arrival(of: index + 1)
            loader.answer(index, with: .success(LoadedData(data: MovieCoder.bytes(frames: frames), url: url)))
            #expect(try await loaded.frames.count == frames)
            #expect(try await manager.image(for: url).frames.count == frames)
        }
    }

    @Test(
        "A transformer applies to all frames or to none, when they are due, and its alpha counts",
        .capability("OPT-09", "MGR-22", "AIV-09"))
    func transformer() async throws {
        let coder = NumberedFramesCoder(count: 5)
        let manager = ImageManager(cache: DictionaryCache(), loader: loader(), coders: ImageCoders([coder]))
        var request = ImageRequest(url, transformer: .circle())
        let plain = try await manager.image(for: request)
        #expect(!plain.isTransformed && !plain.hasAlpha && plain.animation?.frameCount == 5)
        request.transformsAnimatedImages = true
        let round = try await manager.image(for: request)
        #expect(round.isTransformed && round.hasAlpha && coder.decodes.keys.max() == 0)
        let frame = try #require(try await round.animation?.frame(at: 3))
        #expect(frame.pixels[0, 0].x < 3 && frame.pixels[2, 2].x == 3, "the corners are cut")
        #expect(try await manager.image(for: request).animation === round.animation)
    }

    @Test("A program's coder may use the manager, and its own image, while it decodes", .capability("MGR-43"))
    func coderThatLooksAround() async throws {
        let inspected = Lock(0)
        let manager = Lock(ImageManager?.none)
        let coder = InspectingCoder {
            guard let manager = manager.withLock({ $0 }) else { return }
            _ = manager.memoryImage(for: URL(string: "test:numbers")!)?.animation?.frameCount
            _ = manager.hasActiveLoads
            inspected.withLock { $0 += 1 }
        }
        let made = ImageManager(cache: DictionaryCache(), loader: loader(), coders: ImageCoders([coder]))
        manager.withLock { $0 = made }
        let animation = try #require(try await made.image(for: url).animation)
        coder.animation.withLock { $0 = animation }
        for index in 0..<4 { #expect(try await animation.frame(at: index) != nil) }
        #expect(inspected.withLock { $0 } >= 4)
    }

    @Test("Several URLs make one animation, and the first error ends it", .capability("VEW-22", "OLD-10"))
    func urls() async throws {
        let loader = GatedLoader { url in
            url == URL(string: "test:missing")
                ? .failure(ImageError(.badStatus, stage: .load, reason: "HTTP 404", statusCode: 404))
                : .success(
                    LoadedData(
                        data: MovieCoder.bytes(frames: 2, side: url == URL(string: "test:large") ? 9 : 8), url: url))
        }
        let manager = ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([MovieCoder()]))
        let urls = (0..<4).map { URL(string: "test:\($0)")! }
        let durations = [Duration.milliseconds(40), .milliseconds(60)]
        let animation = try await AnimatedImage(urls: urls, durations: durations, loopCount: 2, manager: manager)
        #expect(animation.frameDurations == durations + [durations[1], durations[1]] && animation.loopCount == 2)
        #expect(animation.memoryCost == 4 * Image(animation).pixels.byteCount)
        for (others, code) in [(["test:missing"], ImageError.Code.badStatus), (["test:large"], .invalidRequest)] {
            let wrong = urls + others.map { URL(string: $0)! }
            let error = await #expect(throws: ImageError.self) {
                try await AnimatedImage(urls: wrong, durations: durations, manager: manager)
            }
            #expect(error?.code == code)
        }
        let none = await #expect(throws: ImageError.self) {
            try await AnimatedImage(urls: [], durations: durations, manager: manager)
        }
        #expect(none?.code == .invalidRequest)
    }
}

/// Decodes numbered frames, and calls the program before each.
private struct InspectingCoder: AnimatedImageCoder {
    let base = NumberedFramesCoder(count: 4)
    let animation = Lock(AnimatedImage?.none)
    let onFrame: @Sendable () -> Void

    init(_ onFrame: @escaping @Sendable () -> Void) { self.onFrame = onFrame }

    var decodableFormats: Set<ImageFormat> { base.decodableFormats }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { base.canDecode(data, format: format) }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try base.info(of: data, context: context)
    }

    func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        Frames(try base.frameDecoder(for: data, options: options, context: context), self)
    }

    private final class Frames: FrameDecoder {
        private let base: any FrameDecoder
        private let coder: InspectingCoder
        var info: ImageInfo { base.info }
        var outputSize: PixelSize { base.outputSize }

        init(_ base: any FrameDecoder, _ coder: InspectingCoder) { (self.base, self.coder) = (base, coder) }

        func nextFrame() throws(ImageError) -> ImageFrame? {
            coder.onFrame()
            // Whoever leaves an animation looks whether its decoder can be closed.
            if let animation = coder.animation.withLock({ $0 }) { _ = AnimatedImagePlayer(animation) }
            return try base.nextFrame()
        }

        func rewind() throws(ImageError) { try base.rewind() }
        func seek(to index: Int) throws(ImageError) { try base.seek(to: index) }
    }
}
