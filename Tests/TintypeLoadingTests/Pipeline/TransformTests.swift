import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private struct Broken: ImageTransformer {
    struct Reason: Error {}
    let key = "broken"
    func transform(_ image: Image) throws -> Image { throw Reason() }
}

private struct DotSettings: FormatOptions {
    var roundness = 0
}

@Suite("Transformers in the pipeline", .timeLimited)
struct TransformTests {
    private let url = URL(string: "test:a")!
    private let cache = DictionaryCache()
    private let coder = DotCoder()
    private let loader = GatedLoader { .success(.dot($0.absoluteString, size: 8)) }
    private var manager: ImageManager { ImageManager(cache: cache, loader: loader, coders: ImageCoders([coder])) }

    @Test(
        "A transformed image has a key of its own, and the original's bytes are stored once",
        .capability("MGR-11", "MGR-26", "CTX-07", "TRF-01", "MET-07")
    )
    func keys() async throws {
        let half = Half()
        var request = ImageRequest(url)
        request.transformer = half
        let manager = manager
        let image = try await manager.image(for: request)
        #expect(image.size.width == 4)
        #expect(image.isTransformed)
        await manager.flush()
        #expect(cache.now.memory.keys.map(\.variant.description) == ["transform=half"])
        #expect(cache.now.disk.keys.map(\.variant) == [.original])
        #expect(try await manager.load(request).source == .memory)
        #expect(half.runs == 1)
    }

    @Test("One transform for all who want the same, and the plain image beside it from the same decode")
    func sharing() async throws {
        let half = Half()
        let loader = GatedLoader()
        let manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([coder]))
        var request = ImageRequest(url)
        request.transformer = half
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<50 {
                let one = index % 2 == 0 ? request : ImageRequest(url)
                group.addTask { try await manager.image(for: one).size.width }
            }
            await loader.arrival(of: 1)
            loader.answer(0, with: .success(.dot(size: 8)))
            var widths: [Int: Int] = [:]
            for try await width in group { widths[width, default: 0] += 1 }
            #expect(widths == [4: 25, 8: 25])
        }
        #expect(half.runs == 1)
        #expect(coder.decodes == 1)
    }

    @Test("A transformer that fails is an error, and nothing is cached under its key", .capability("MGR-23"))
    func failure() async throws {
        var request = ImageRequest(url)
        request.transformer = Broken()
        let manager = manager
        let result = await manager.task(for: request).result
        #expect(result.failure?.code == .transformFailed)
        #expect(result.failure?.source == "test:a")
        #expect(cache.now.memory.isEmpty)
    }

    @Test("storesVariant keeps the transformed image on disk, and the next load makes nothing", .capability("MGR-27"))
    func variant() async throws {
        let half = Half()
        var request = ImageRequest(url)
        request.transformer = half
        request.cache.storesVariant = true
        request.cache.waitsForStore = true
        let manager = manager
        _ = try await manager.image(for: request)
        #expect(Set(cache.now.disk.keys.map(\.variant.description)) == ["", "transform=half"])
        try await cache.removeAll(from: .memory)
        let again = try await manager.load(request)
        #expect(again.source == .disk)
        #expect(again.image.size.width == 4)
        #expect(again.image.isTransformed)
        #expect(half.runs == 1)
    }

    @Test(
        "Each encoding of a stored variant is a variant of its own", .capability("CTX-16"))
    func variantOptions() async throws {
        var request = ImageRequest(url)
        request.transformer = Half()
        request.cache.storesVariant = true
        request.cache.waitsForStore = true
        request.cache.encoding.quality = 0.25
        request.cache.encoding[DotSettings.self].roundness = 4
        _ = try await manager.image(for: request)
        #expect(coder.encoded == [request.cache.encoding])
        try await cache.removeAll(from: .memory)
        #expect(try await manager.load(request).source == .disk && coder.encoded.count == 1)
        request.cache.encoding.quality = 0.5
        _ = try await manager.load(request)
        #expect(coder.encoded.count == 2 && coder.encoded.last == request.cache.encoding)
        // The bytes of the original are kept as they came, whatever the options say.
        var plain = ImageRequest(url)
        plain.cache.encoding.quality = 0.1
        plain.cache.waitsForStore = true
        plain.cachePolicy = .reload
        _ = try await manager.image(for: plain)
        #expect(coder.encoded.count == 2)
    }

    @Test("Transformers are applied in order, and an empty sequence leaves the image unchanged", .capability("TRF-03"))
    func pipeline() throws {
        let order = Lock<[String]>([])
        func step(_ key: String) -> ClosureTransformer {
            ClosureTransformer(key: key) { image in
                order.withLock { $0.append(key) }
                return image
            }
        }
        let both = step("a").then(step("b")).then(ImageTransformers([step("c")]))
        #expect(both.key == "a|b|c" && both.transformers.count == 3)
        let image = Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 8, height: 8), cleared: true).freeze())
        #expect(try image.transformed(both).isTransformed)
        #expect(order.withLock { $0 } == ["a", "b", "c"])
        #expect(try image.transformed(ImageTransformers([])).isIdentical(to: image))
    }
}
