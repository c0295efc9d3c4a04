import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A loader that draws, and has no bytes.
private struct DrawingLoader: ImageLoading {
    let calls = Watched(0)
    var scale = 1.0
    var isPartial = false
    let schemes = ["test"]
    func canLoad(_ url: URL) -> Bool { url.scheme == "test" }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        calls.update { $0 += 1 }
        var pixels = try MutablePixelBuffer(size: PixelSize(width: 40, height: 20))
        pixels.withUnsafeMutableBytes { bytes in _ = bytes.initializeMemory(as: UInt8.self, repeating: 200) }
        var image = Image(pixels: pixels.freeze())
        image.scale = scale
        image.isPartial = isPartial
        return LoadedData(image: image, url: request.url)
    }
}

@Suite("Loaders that return an image", .timeLimited)
struct ImageMakingLoaderTests {
    private let loader = DrawingLoader()
    private let cache = DictionaryCache()
    private let manager: ImageManager
    private let request = ImageRequest(URL(string: "test:a")!)

    init() {
        manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()]))
    }

    @Test("The image is the result, in the size of the request, and has no bytes", .capability("DLR-45"))
    func result() async throws {
        let result = try await manager.load(request)
        #expect(result.image.size == PixelSize(width: 40, height: 20) && result.data == nil)
        #expect(result.source == .network && !result.image.isThumbnail)
        var small = request
        small.thumbnailSize = PixelSize(width: 10, height: 10)
        (small.cache.query, small.cache.store) = ([], [])
        let thumbnail = try await manager.image(for: small)
        #expect(thumbnail.size == PixelSize(width: 10, height: 5) && thumbnail.isThumbnail)
        #expect(try await manager.load(request).source == .memory)
    }

    @Test("The image keeps the scale of its loader, unless the request asks for another", .capability("CTX-10"))
    func scale() async throws {
        let manager = ImageManager(
            cache: cache, loader: DrawingLoader(scale: 2), coders: ImageCoders([DotCoder()]))
        var request = request
        request.cache.query = .memory
        #expect(try await manager.image(for: request).scale == 2)
        for scale in [1.0, 3.0] {
            request.decode.scale = scale
            #expect(try await manager.image(for: request).scale == scale)
        }
    }

    @Test("Images that wait to be encoded count with their pixels, and a load waits for them")
    func pendingStores() async throws {
        let disk = GatedDisk()
        var configuration = ImageManager.Configuration.still
        configuration.pendingStoreLimit = .kilobytes(4)
        let manager = ImageManager(
            cache: ImageCache(memory: MemoryCache(), disk: disk), loader: loader, coders: ImageCoders([DotCoder()]),
            configuration: configuration)
        // 3,200 bytes each.
        _ = try await manager.load(ImageRequest(#require(URL(string: "test:a"))))
        let isDone = Lock(false)
        let second = Task {
            _ = try await manager.load(ImageRequest(#require(URL(string: "test:b"))))
            isDone.withLock { $0 = true }
        }
        try await loader.calls.wait { $0 == 2 }
        for _ in 0..<100 { await Task.yield() }
        #expect(!isDone.withLock { $0 })
        disk.gate.open()
        try await second.value
    }

    @Test("The disk stores the image as a coder encodes it")
    func stored() async throws {
        var request = request
        request.cache.waitsForStore = true
        request.cache.encoding = EncodeOptions()
        let result = try await manager.load(request)
        #expect(result.storeError == nil)
        #expect(cache.now.disk[result.key]?.data == Data("DOT 40".utf8))
        request.cache.query = .disk
        #expect(try await manager.load(request).source == .disk && loader.calls.value == 1)
    }

    @Test("A part of an image is stored nowhere, whatever it is asked for")
    func part() async throws {
        let manager = ImageManager(
            cache: cache, loader: DrawingLoader(isPartial: true), coders: ImageCoders([DotCoder()]))
        var request = request
        request.cache.waitsForStore = true
        request.decode.allowsPartialImage = true
        _ = try await manager.data(for: request)
        #expect(try await manager.image(for: request).isPartial)
        _ = try await manager.encoded(for: request, as: .dot)
        await manager.flush()
        #expect(cache.now.disk.isEmpty && cache.now.memory.isEmpty)
    }

    @Test("Where bytes are asked for, a coder makes them")
    func bytes() async throws {
        let encoded = try await manager.data(for: request)
        #expect(encoded.data == Data("DOT 40".utf8) && encoded.info.size.width == 40)
    }

    @Test("A transformer gets the image")
    func transformed() async throws {
        struct Half: ImageTransformer {
            let key = "half"
            func transform(_ image: Image) throws -> Image {
                try image.resized(to: PixelSize(width: image.size.width / 2, height: image.size.height / 2))
            }
        }
        var request = request
        request.transformer = Half()
        #expect(try await manager.image(for: request).size == PixelSize(width: 20, height: 10))
    }
}
