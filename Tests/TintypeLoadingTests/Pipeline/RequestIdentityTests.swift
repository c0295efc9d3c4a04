import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("Identity of requests and of their results", .timeLimited)
struct RequestIdentityTests {
    @Test(
        "Animations that are transformed, and those that are not, have different keys", .capability("OPT-09", "MGR-22"))
    func transformedAnimations() throws {
        let manager = ManagerBench().manager
        var request = ImageRequest(url)
        request.transformer = .closure(key: "same") { $0 }
        let still = manager.key(for: request)
        request.transformsAnimatedImages = true
        #expect(manager.key(for: request) != still)
    }

    @Test(
        "A coder without an identifier has images of its own, which its copy of the manager finds",
        .capability("CTX-06"))
    func ownCoders() async throws {
        let bench = ManagerBench()
        let (own, other) = (bench.manager.copy(coders: DotCoder()), bench.manager.copy(coders: DotCoder()))
        #expect(Set([bench.manager, own, other].map { $0.key(for: url) }).count == 3)
        let image = try await own.image(for: url)
        await own.flush()
        #expect(try await own.image(for: url).isIdentical(to: image))
        #expect(try await !other.image(for: url).isIdentical(to: image))
        #expect(try await !bench.manager.image(for: url).isIdentical(to: image))
        #expect(bench.loader.calls.count == 1)
    }

    @Test("A transformer with an empty key is refused", .capability("TRF-01"))
    func emptyKey() async {
        let bench = ManagerBench()
        for transformer: any ImageTransformer in [
            ClosureTransformer(key: "") { $0 },
            ClosureTransformer(key: "a") { $0 }.then(ClosureTransformer(key: "") { $0 }),
        ] {
            var request = ImageRequest(url)
            request.transformer = transformer
            #expect(await bench.failure(request)?.code == .invalidRequest)
        }
        #expect(bench.loader.calls.isEmpty)
    }

    @Test(
        "A transformed image keeps the metadata of its source unless the transformer says otherwise",
        .capability("MGR-24"))
    func metadata() throws {
        var properties = Image.Properties()
        properties.format = .jpeg
        properties.metadata = ImageMetadata(exif: Data([1, 2, 3]))
        properties.sourceSize = PixelSize(width: 40, height: 30)
        properties.sourceOrientation = .right
        let pixels = try MutablePixelBuffer(size: PixelSize(width: 4, height: 3), cleared: true).freeze()
        let image = Image(pixels: pixels, properties: properties)
        let kept = try image.transformed(ClosureTransformer(key: "new") { Image(pixels: $0.pixels) })
        #expect(kept.metadata == properties.metadata && kept.format == .jpeg && kept.isTransformed)
        #expect(kept.properties.sourceSize == properties.sourceSize && kept.properties.sourceOrientation == .right)
        let bare = try image.transformed(
            ClosureTransformer(key: "bare", preservesMetadata: false) { Image(pixels: $0.pixels) })
        #expect(bare.metadata == ImageMetadata() && bare.format == nil && bare.isTransformed)
    }

    @Test("Hooks belong to the identity of a download and of its image", .capability("CTX-23", "CTX-24", "CTX-25"))
    func hooks() async throws {
        let url = try #require(URL(string: "test://host/a"))
        let bench = ManagerBench(answer: nil)
        func request(_ identifier: String?) -> ImageRequest {
            var request = ImageRequest(url)
            request.downloadHooks = identifier.map { DownloadHooks(identifier: $0) }
            return request
        }
        let identifiers: [String?] = [nil, "a", "b", "", "a"]
        let tasks = identifiers.map { bench.manager.task(for: request($0)) }
        await bench.loader.arrival(of: 4)
        #expect(Set(bench.loader.calls.map { $0.request.hooks?.identifier }) == [nil, "a", "b", ""])
        for index in 0..<4 { bench.loader.answer(index, with: .success(.dot())) }
        for task in tasks { _ = try await task.image }
        #expect(bench.loader.calls.count == 4)
        #expect(Set(identifiers.map { bench.manager.key(for: request($0)).source }).count == 4)
        var own = request("a")
        own.cache.key = "key"
        #expect(bench.manager.key(for: own).source == "key")
    }

    @Test("A failure with one token says nothing about another, and is listed without secrets", .capability("MGR-37"))
    func failuresByHeaders() async throws {
        let secret = URL(string: "test://me:secret@host/a?token=abc")!
        let loader = GatedLoader()
        let manager = ManagerBench(answer: nil).manager
        manager.loaders = ImageLoaders([loader])
        func load(_ token: String) -> ImageTask {
            var request = ImageRequest(secret)
            request.headers = ["Authorization": token]
            return manager.task(for: request)
        }
        let old = load("old")
        await loader.arrival(of: 1)
        loader.answer(
            0, with: .failure(ImageError(.badStatus, stage: .load, reason: "HTTP 401 Unauthorized", statusCode: 401)))
        #expect(await old.result.failure?.code == .badStatus)
        #expect(await load("old").result.failure?.code == .recentlyFailed)
        let new = load("new")
        await loader.arrival(of: 2)
        loader.answer(1, with: .success(.dot()))
        #expect(try await new.image.size.width == 8)
        #expect(manager.failureCount == 1)
        manager.removeFailure(of: ImageRequest(secret))
        #expect(manager.failureCount == 0)
    }

    @Test("The loader that a manager is made with is the only one, until others are added")
    func onlyLoader() async throws {
        let bench = ManagerBench()
        let data = try ImageRequest(string: "data:image/x-dot,DOT 4")
        #expect(await bench.failure(data)?.code == .invalidURL)
        #expect(await bench.failure(ImageRequest(path: "/etc/hostname"))?.code == .invalidURL)
        bench.manager.loaders.add(DataURLLoader())
        bench.manager.removeAllFailures()
        #expect(try await bench.manager.image(for: data).size.width == 4)
        #expect(await bench.failure(ImageRequest(path: "/etc/hostname"))?.code == .invalidURL)
    }

    @Test("A coder can be added to a manager that is in use", .capability("COD-05"))
    func addedCoder() async throws {
        let cache = DictionaryCache()
        let manager = ImageManager(
            cache: cache, loader: GatedLoader { _ in .success(.dot()) }, coders: ImageCoders([]))
        await #expect(throws: ImageError.self) { try await manager.image(for: url) }
        manager.coders.add(DotCoder())
        manager.removeAllFailures()
        #expect(try await manager.image(for: url).size.width == 8)
    }

    @Test("An image that is removed after its load stays removed, from memory and disk", .capability("CRM-01"))
    func removeWins() async throws {
        let folder = try TemporaryDirectory()
        let cache = ImageCache(
            memory: MemoryCache(), disk: DiskCache(.init(directory: folder.path, minimumFreeSpace: 0)))
        let manager = ImageManager(
            cache: cache, loader: GatedLoader { .success(.dot($0.absoluteString)) }, coders: ImageCoders([DotCoder()]))
        for index in 0..<50 {
            let url = URL(string: "test:\(index)")!
            _ = try await manager.image(for: url)
            try await manager.removeAll(of: url)
            #expect(await cache.contains(manager.key(for: url)) == [])
            await manager.flush()
            #expect(await cache.contains(manager.key(for: url)) == [], "image \(index)")
        }
    }

    @Test("A removal while an image is loaded keeps it out of the caches", .capability("CRM-01"))
    func removalDuringLoad() async throws {
        let folder = try TemporaryDirectory()
        let cache = ImageCache(
            memory: MemoryCache(), disk: DiskCache(.init(directory: folder.path, minimumFreeSpace: 0)))
        let loader = GatedLoader()
        let manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()]))
        let task = manager.task(for: url)
        await loader.arrival(of: 1)
        try await manager.removeAll(of: url)
        loader.answer(0, with: .success(.dot()))
        #expect(try await task.image.size.width == 8)
        await manager.flush()
        #expect(await cache.contains(manager.key(for: url)) == [])
    }

    @Test("A failure of one coder says nothing about another, or about the bytes", .capability("MGR-37", "CTX-06"))
    func failuresByCoder() async throws {
        let bench = ManagerBench { _ in .success(.dot()) }
        let (request, own) = (ImageRequest(url), bench.manager.copy(coders: MovieCoder()))
        #expect(await bench.failure(request, with: own)?.code == .unknownFormat)
        #expect(await bench.failure(request, with: own)?.code == .recentlyFailed)
        #expect(bench.manager.failureCount == 1)
        #expect(try await bench.manager.image(for: url).size.width == 8)
        await bench.manager.flush()
        #expect(await bench.failure(request, with: own)?.code == .unknownFormat, "of the bytes on disk")
        #expect(bench.cache.now.disk.count == 1 && bench.loader.calls.count == 2)
    }

    @Test("Descriptions of requests, results, and errors have no secrets")
    func descriptions() async throws {
        let url = try #require(URL(string: "test://me:secret1@host/a?signature=secret2"))
        var request = ImageRequest(url, headers: ["Authorization": "secret3"])
        let manager = ManagerBench().manager
        let result = try await manager.load(request)
        let data = try await manager.data(for: request)
        let response = try #require(result.response)
        let load = LoadRequest(url: url, headers: request.headers)
        request.url = try #require(URL(string: "else://me:secret1@host/a?signature=secret2"))
        let error = await #expect(throws: ImageError.self) { try await manager.image(for: request) }
        let long = try #require(
            URL(string: "https://me:secret1@host/a?token=secret2\(String(repeating: "x", count: 3_000))"))
        let values: [Any] = [
            request, result, data, response, load, LoadedData.dot(url.absoluteString), try #require(error), result.key,
            ImageRequest(long), ImageKey(source: long.absoluteString),
        ]
        for value in values {
            #expect(!String(describing: value).contains("secret"))
            #expect(!String(reflecting: value).contains("secret"))
        }
        #expect("\(result)" == "dot 8x8 from network: test://host/a?signature=…")
    }
}
