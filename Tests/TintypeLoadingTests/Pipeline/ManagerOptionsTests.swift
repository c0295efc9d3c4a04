import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

/// Decodes anything into three frames of 4 × 4 pixels, or one.
private struct MovingCoder: ImageCoder {
    var decodableFormats: Set<ImageFormat> { [.dot] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        ImageInfo(format: .dot, size: PixelSize(width: 4, height: 4), frameCount: 3, hasAlpha: false)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        var frames: [ImageFrame] = []
        for index in 1...(options.firstFrameOnly ? 1 : 3) {
            let pixels = try MutablePixelBuffer(size: PixelSize(width: 4, height: 4), cleared: true).freeze()
            frames.append(ImageFrame(pixels: pixels, duration: .milliseconds(index * 20)))
        }
        guard let image = Image(frames: frames) else {
            throw ImageError(.corruptImage, stage: .decode, reason: "no frames")
        }
        return image
    }
}

private struct DrawingOptions: FormatOptions {
    var side = 64
}

/// Draws anything as a vector image.
private struct DrawingCoder: ImageCoder {
    var decodableFormats: Set<ImageFormat> { [.dot] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        ImageInfo(format: .dot, size: PixelSize(width: 64, height: 64), hasAlpha: false)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let side = options[DrawingOptions.self].side
        let size = options.outputSize(for: PixelSize(width: side, height: side))
        return Image(pixels: try MutablePixelBuffer(size: size, cleared: true).freeze()).with { $0.isVector = true }
    }
}

/// An actor that is not the main one.
private actor Screen {
    private var shown = 0

    func show(with manager: ImageManager) async {
        for name in ["c", "d", "c"] {
            guard let url = URL(string: "test:\(name)") else { continue }
            if await (try? manager.image(for: url)) != nil { shown += 1 }
            assertIsolated()
        }
        #expect(shown == 3)
    }
}

/// Crops to a square whose side may change from frame to frame.
private final class Crop: ImageTransformer {
    private let sides: Lock<[Int]>
    let key = "crop"

    init(_ sides: Int...) { self.sides = Lock(sides) }

    func transform(_ image: Image) throws -> Image {
        let side = sides.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        return Image(pixels: try image.pixels.resized(to: PixelSize(width: side, height: side)))
    }
}

@Suite("What a request and its options say to the manager", .timeLimited)
struct ManagerOptionsTests {
    private let cache = DictionaryCache()

    private func manager(
        coder: any ImageCoder = DotCoder(), loader: GatedLoader? = nil,
        configuration: ImageManager.Configuration = .still
    ) -> ImageManager {
        ImageManager(
            cache: cache, loader: loader ?? GatedLoader { .success(.dot($0.absoluteString)) }, coders: coder,
            configuration: configuration)
    }

    @Test("A memory hit with the bytes of the disk, where it has them", .capability("OPT-12"))
    func queryMemoryData() async throws {
        let manager = manager()
        var request = ImageRequest(url)
        _ = try await manager.image(for: request)
        await manager.flush()
        request.cache.queriesData = true
        let hit = try await manager.load(request)
        #expect(hit.source == .memory)
        #expect(hit.data == Data("DOT 8".utf8) && hit.mimeType == "image/x-dot")
        request.cache.query = .memory
        #expect(try await manager.load(request).data == nil, "the request doesn't look on disk")
        request.cache.query = .all
        try await cache.removeAll(from: .disk)
        #expect(try await manager.load(request).data == nil)
    }

    @Test("The first frame of an animation is an image of its own", .capability("OPT-19"))
    func firstFrame() async throws {
        let manager = manager(coder: MovingCoder())
        #expect(try await manager.image(for: url).frames.count == 3)
        var request = ImageRequest(url)
        request.decode.firstFrameOnly = true
        #expect(try await manager.image(for: request).frames.count == 1)
        #expect(manager.key(for: request).variant.description == "firstFrame")
        #expect(try await manager.image(for: url).frames.count == 3)
    }

    @Test(
        "Animations are transformed only if asked, every frame, and keep their durations",
        .capability("OPT-09", "MGR-22"))
    func animations() async throws {
        let manager = manager(coder: MovingCoder())
        var request = ImageRequest(url)
        request.transformer = Crop(2)
        request.cache.store = []
        #expect(try await manager.image(for: request).size.width == 4)
        request.transformsAnimatedImages = true
        let image = try await manager.image(for: request)
        #expect(image.frames.map(\.pixels.width) == [2, 2, 2])
        #expect(image.frames.map(\.duration) == [.milliseconds(20), .milliseconds(40), .milliseconds(60)])
        #expect(image.isTransformed)
        request.transformer = Crop(2, 3)
        let uneven = try await manager.image(for: request)
        let error = await #expect(throws: ImageError.self) { try await uneven.animation?.frame(at: 1) }
        #expect(error?.code == .transformFailed)
    }

    @Test(
        "Vector images are transformed only if asked, and keep their size otherwise", .capability("OPT-23", "MGR-22"))
    func vectors() async throws {
        let manager = manager(coder: DrawingCoder())
        var request = ImageRequest(url)
        request.transformer = .resize(width: 2)
        #expect(try await manager.image(for: request).size.width == 64)
        request.transformsVectorImages = true
        let image = try await manager.image(for: request)
        #expect(image.size.width == 2 && image.isTransformed)
        request.transformsVectorImages = false
        #expect(try await manager.image(for: request).size.width == 64, "each has a key of its own")
    }

    @Test("A request's settings for a program's own coder reach it", .capability("CTX-09"))
    func coderSettings() async throws {
        let manager = manager(coder: DrawingCoder())
        var request = ImageRequest(url)
        request.decode[DrawingOptions.self].side = 12
        #expect(try await manager.image(for: request).size.width == 12)
        #expect(try await manager.image(for: url).size.width == 64)
    }

    @Test(
        "Results arrive where the caller runs, and those from memory without suspension",
        .capability("AFD-09", "CTX-03", "MGR-32", "MGR-42"))
    @MainActor func isolation() async throws {
        let manager = manager()
        _ = try await manager.image(for: url)
        MainActor.assertIsolated()
        var order: [String] = []
        let other = Task { @MainActor in order.append("other") }
        _ = try await manager.image(for: url)
        _ = try await manager.load(ImageRequest(url))
        MainActor.assertIsolated()
        order.append("hit")
        await other.value
        #expect(order == ["hit", "other"])
        await Screen().show(with: manager)
    }

    @Test("Failures can be forgotten, one or all", .capability("MGR-39"))
    func forgetting() async {
        let loader = GatedLoader { _ in .failure(ImageError(.badStatus, stage: .load, reason: "404", statusCode: 404)) }
        let manager = manager(loader: loader)
        let other = URL(string: "test:b")!
        for url in [url, other] { #expect(await manager.task(for: url).result.failure?.code == .badStatus) }
        manager.removeFailure(of: ImageRequest(url))
        #expect(await manager.task(for: url).result.failure?.code == .badStatus)
        #expect(await manager.task(for: other).result.failure?.code == .recentlyFailed)
        manager.removeAllFailures()
        #expect(await manager.task(for: other).result.failure?.code == .badStatus)
    }

    @Test("Failures are bounded, the oldest go first, and the bound can change", .capability("MGR-37"))
    func failureLimit() async {
        let loader = GatedLoader { _ in .failure(ImageError(.badStatus, stage: .load, reason: "404", statusCode: 404)) }
        let manager = manager(loader: loader)
        manager.configuration.failureLimit = 2
        for name in ["a", "b", "c"] { _ = await manager.task(for: URL(string: "test:\(name)")!).result }
        #expect(await manager.task(for: URL(string: "test:c")!).result.failure?.code == .recentlyFailed)
        #expect(await manager.task(for: URL(string: "test:a")!).result.failure?.code == .badStatus)
    }

    @Test(
        "What is not to be queried is not", .capability("CTX-17"), arguments: [[] as CacheLayers, .memory, .disk, .all])
    func queryFrom(layers: CacheLayers) async throws {
        let loader = GatedLoader { .success(.dot($0.absoluteString)) }
        let manager = manager(loader: loader)
        _ = try await manager.image(for: url)
        await manager.flush()
        var request = ImageRequest(url)
        request.cache.query = layers
        let source = try await manager.load(request).source
        #expect(source == (layers.contains(.memory) ? .memory : layers.contains(.disk) ? .disk : .network))
        #expect(loader.calls.count == (layers.isEmpty ? 2 : 1))
    }

    @Test(
        "A copy of the manager may have its own coder, and shares its loads with nobody",
        .capability("CTX-06", "MGR-40"))
    func ownCoder() async throws {
        let standard = DotCoder()
        let own = DotCoder()
        let loader = GatedLoader { .success(.dot($0.absoluteString)) }
        let manager = manager(coder: standard, loader: loader)
        let copy = manager.copy(coders: own)
        _ = try await copy.image(for: url)
        await copy.flush()
        #expect((own.decodes, standard.decodes) == (1, 0))
        _ = try await manager.image(for: url)
        #expect((own.decodes, standard.decodes) == (1, 1), "of the bytes that the copy stored on disk")
        #expect(loader.calls.count == 1)
        _ = try await copy.image(for: url)
        #expect((own.decodes, standard.decodes) == (1, 1))
    }

    @Test("A request's own cache key stands for its URL, before the manager's", .capability("3.17", "CTX-26"))
    func cacheKey() async throws {
        let loader = GatedLoader { .success(.dot($0.absoluteString)) }
        let manager = manager(loader: loader)
        manager.configuration.cacheKey = { _ in "by the manager" }
        var one = ImageRequest(URL(string: "test:a?signature=1")!)
        one.cache.key = "photo"
        var two = ImageRequest(URL(string: "test:a?signature=2")!)
        two.cache.key = "photo"
        _ = try await manager.image(for: one)
        #expect(try await manager.load(two).source == .memory)
        #expect(manager.key(for: two).source == "photo")
        #expect(manager.key(for: ImageRequest(url)).source == "by the manager")
        #expect(loader.calls.count == 1)
    }

    @Test(
        "The cached image is a preview while it is refreshed; in memory alone, it outlives a failing refresh",
        .capability("OPT-03"))
    func refreshPreview() async throws {
        let loader = GatedLoader()
        let manager = manager(loader: loader)
        let old = Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 3, height: 3), cleared: true).freeze())
        cache.storeInMemory(old, forKey: manager.key(for: ImageRequest(url)))
        var request = ImageRequest(url)
        request.cachePolicy = .revalidate
        let task = manager.task(for: request)
        await loader.arrival(of: 1)
        let events = task.events
        loader.answer(0, with: .failure(ImageError(.connectionFailed, stage: .load, reason: "no")))
        var previews = 0
        for await event in events {
            switch event {
            case .preview(let image):
                previews += 1
                #expect(image.isIdentical(to: old))
            case .finished(let result): #expect(try result.get().image.isIdentical(to: old))
            case .progress: break
            }
        }
        #expect(previews == 1)
    }

    @Test("A look at memory alone, at once", .capability("OLD-07"))
    func cachedImage() async throws {
        let manager = manager()
        #expect(manager.memoryImage(for: ImageRequest(url)) == nil)
        let image = try await manager.image(for: url)
        #expect(manager.memoryImage(for: ImageRequest(url))?.isIdentical(to: image) == true)
    }

    @Test("A manager that nobody holds is freed, and its loads go on", .capability("3.19"))
    func lifetime() async throws {
        let loader = GatedLoader()
        weak var weakManager: ImageManager?
        var task: ImageTask?
        do {
            let manager = manager(loader: loader)
            weakManager = manager
            task = manager.task(for: url)
        }
        await loader.arrival(of: 1)
        #expect(weakManager == nil)
        loader.answer(0, with: .success(.dot()))
        #expect(try await task?.image.size.width == 8)
    }

    @Test("A loader that keeps its last request is freed with its manager", .capability("3.19"))
    func keptRequest() async throws {
        final class KeepingLoader: ImageLoading {
            let schemes = ["test"]
            let last = Lock<LoadRequest?>(nil)

            func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
                last.withLock { $0 = request }
                let data = Data("DOT 8".utf8)
                request.receive(LoadProgress(chunk: data, receivedBytes: data.count, expectedBytes: data.count))
                return LoadedData(data: data, url: request.url)
            }
        }
        weak var weakLoader: KeepingLoader?
        do {
            let loader = KeepingLoader()
            weakLoader = loader
            let manager = ImageManager(cache: cache, loader: loader, coders: DotCoder(), configuration: .still)
            #expect(try await manager.image(for: ImageRequest(url)).size.width == 8)
            #expect(loader.last.withLock { $0 != nil })
        }
        // The job ends beside its callers.
        while weakLoader != nil { await Task.yield() }
    }

    @Test("A manager scales down to 60 MB where nothing else is said", .capability("COD-34"))
    func scaleDownLimit() { #expect(ImageManager.Configuration().scaleDownLimit == .megabytes(60)) }
}
