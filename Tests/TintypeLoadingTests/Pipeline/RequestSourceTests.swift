import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Sources of requests", .timeLimited)
struct RequestSourceTests {
    private let bench = ManagerBench()

    @Test(
        "A string is a URL, with characters that URLs lack encoded; other strings are an error", .capability("MGR-03"))
    func strings() async throws {
        #expect(
            try ImageRequest(string: "https://example.org/a b.png").url.absoluteString
                == "https://example.org/a%20b.png")
        #expect(try await bench.manager.image(for: ImageRequest(string: "test:a")).size.width == 8)
        for text in ["", "photo.jpg", "/tmp/photo.jpg", "://", "http"] {
            let error = #expect(throws: ImageError.self) { try ImageRequest(string: text) }
            #expect(error?.code == .invalidURL && error?.source == text)
        }
    }

    @Test("A path is a file, whatever characters it has", .capability("MGR-03"))
    func paths() async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(Data("DOT 5".utf8), to: "ü 100%?#.dot")
        bench.manager.loaders.add(FileLoader())
        let result = try await bench.manager.load(ImageRequest(path: file.path(percentEncoded: false)))
        #expect(result.image.size.width == 5 && result.url == file)
        #expect(ImageRequest(path: "a.png").url.absoluteString.hasPrefix("file:///"))
        let error = await bench.failure(ImageRequest(path: folder.path + "/none"))
        #expect(error?.code == .fileUnreadable)
    }

    @Test(
        "Bytes go the way of all images: memory, thumbnails, transformers; the disk has no copy", .capability("MGR-03"))
    func bytes() async throws {
        var request = ImageRequest(data: Data("DOT 9".utf8), identifier: "avatar 7")
        let first = try await bench.manager.load(request)
        #expect(first.image.size.width == 9 && first.key.source == "avatar 7")
        #expect(try await bench.manager.load(request).source == .memory)
        #expect(bench.manager.memoryImage(for: request)?.size.width == 9)
        request.thumbnailSize = PixelSize(width: 3, height: 3)
        request.transformer = ClosureTransformer(key: "same") { $0 }
        let made = try await bench.manager.image(for: request)
        #expect(made.size.width == 3 && made.isTransformed)
        await bench.manager.flush()
        #expect(bench.cache.now.disk.isEmpty && bench.loader.calls.isEmpty)
        #expect(try await bench.manager.data(for: request).data == Data("DOT 9".utf8))

        // Bytes that are no image are an error each time, as they are at hand.
        let broken = ImageRequest(data: Data("?".utf8), identifier: "broken")
        for _ in 1...2 { #expect(await bench.failure(broken)?.code == .unknownFormat) }
        #expect(await bench.failure(ImageRequest(data: Data(), identifier: "none"))?.code == .emptyBody)
        #expect(await bench.failure(ImageRequest(data: Data("DOT 9".utf8), identifier: ""))?.code == .invalidRequest)
    }

    @Test(
        "What a program stores for a file or a data: URL is in memory alone, because no load looks on disk",
        .capability("CST-01"))
    func storedForLocal() async throws {
        let folder = try TemporaryDirectory()
        let cache = DictionaryCache()
        let manager = ImageManager(
            cache: cache, loader: ImageLoaders([FileLoader(), DataURLLoader()]), coders: DotCoder())
        let image = try solidImage(8, 8).with { $0.format = .dot }
        for request in [ImageRequest(path: folder.path + "/a.dot"), try ImageRequest(string: "data:,DOT 8")] {
            try await manager.store(image, data: Data("DOT 8".utf8), for: request)
            #expect(await manager.cachedLayers(for: request) == .memory)
        }
        await manager.flush()
        #expect(cache.now.disk.isEmpty)
    }

    @Test("A closure is called once for all who wait, and its bytes are stored on disk", .capability("MGR-03"))
    func closure() async throws {
        let calls = Lock(0)
        let gate = AsyncGate()
        let request = ImageRequest(identifier: "photo.dot", mimeType: "image/x-dot") {
            calls.withLock { $0 += 1 }
            await gate.wait()
            return Data("DOT 6".utf8)
        }
        var small = request
        small.thumbnailSize = PixelSize(width: 2, height: 2)
        let tasks = [request, request, small].map { bench.manager.task(for: $0) }
        while bench.manager.waiting.fetches < 2 { await Task.yield() }
        gate.open()
        #expect(try await tasks[0].image.size.width == 6)
        #expect(try await tasks[1].image.size.width == 6)
        #expect(try await tasks[2].image.size.width == 2)
        await bench.manager.flush()
        #expect(calls.withLock { $0 } == 1)
        let entry = bench.cache.now.disk[ImageKey(source: "photo.dot")]
        #expect(entry?.data == Data("DOT 6".utf8) && entry?.mimeType == "image/x-dot")
        try await bench.cache.removeAll(from: .memory)
        #expect(try await bench.manager.load(request).source == .disk)
    }

    @Test("A closure's errors keep their cause; its cancellation is one", .capability("MGR-03"))
    func closureErrors() async throws {
        struct Trouble: Error {}
        let failing = ImageRequest(identifier: "a") { throw Trouble() }
        let error = await bench.failure(failing)
        #expect(error?.code == .connectionFailed && error?.underlying is Trouble && error?.source == "source:a")
        let typed = ImageRequest(identifier: "b") {
            throw ImageError(.badStatus, stage: .load, reason: "404", statusCode: 404)
        }
        #expect(await bench.failure(typed)?.code == .badStatus)
        #expect(await bench.failure(typed)?.code == .recentlyFailed)
        // Something else that the closure waited for was canceled, and not the load.
        let cancelled = ImageRequest(identifier: "c") { throw CancellationError() }
        let other = await bench.failure(cancelled)
        #expect(other?.code == .connectionFailed && other?.underlying is CancellationError)
    }

    @Test("Different identifiers are different images, and messages leave out their secrets", .capability("MGR-03"))
    func identifiers() async throws {
        var urls: Set<String> = []
        let identifiers = ["a b", "a%20b", "a+b", "ä", "//x", "/x", "?", "#", "\0", "https://me:pw@x.org/a?token=1"]
        for identifier in identifiers { urls.insert(BytesLoader.url(for: identifier).absoluteString) }
        #expect(urls.count == identifiers.count)
        #expect(urls.allSatisfy { $0.hasPrefix("source:") })
        let text = "\(ImageRequest(data: Data(), identifier: "https://me:pw@x.org/a?token=1"))"
        #expect(text == "source:https://x.org/a?token=…")
    }

    @Test(
        "A request's method and body reach the loader; others share neither download nor image",
        .capability("MGR-03", "AFD-02"))
    func message() async throws {
        let manager = bench.manager
        let url = URL(string: "test:render")!
        func post(_ body: String) -> ImageRequest {
            var request = ImageRequest(url)
            request.method = "POST"
            request.body = Data(body.utf8)
            return request
        }
        for request in [ImageRequest(url), post("a"), post("b"), post("a"), ImageRequest(url)] {
            _ = try await manager.image(for: request)
        }
        let sent = bench.loader.calls.map {
            "\($0.request.method) \(String(decoding: $0.request.body ?? Data(), as: UTF8.self))"
        }
        #expect(sent == ["GET ", "POST a", "POST b"])
        #expect(Set([ImageRequest(url), post("a"), post("b")].map { manager.key(for: $0).source }).count == 3)
        #expect(manager.key(for: post("a")).source.hasSuffix(" test:render"))
        await manager.flush()
        try await bench.cache.removeAll(from: .memory)
        #expect(try await manager.load(post("b")).source == .disk)
        var plain = ImageRequest(url)
        plain.method = "GET"
        #expect(manager.key(for: plain) == manager.key(for: url))
        for method in ["", "GE T", "GET\r\nX: y"] {
            plain.method = method
            plain.cache.query = []
            #expect(await bench.failure(plain)?.code == .invalidRequest)
        }
    }

    @Test("A failed POST says nothing about the GET", .capability("MGR-03", "MGR-37"))
    func failures() async throws {
        let loader = GatedLoader { _ in .failure(ImageError(.badStatus, stage: .load, reason: "no", statusCode: 403)) }
        let manager = ImageManager(
            cache: DictionaryCache(), loader: loader, coders: ImageCoders([DotCoder()]), configuration: .still)
        var request = ImageRequest(URL(string: "test:a")!)
        request.cache.key = "same"
        request.method = "POST"
        #expect(await manager.task(for: request).result.failure?.code == .badStatus)
        #expect(await manager.task(for: request).result.failure?.code == .recentlyFailed)
        request.method = "GET"
        #expect(await manager.task(for: request).result.failure?.code == .badStatus)
    }
}
