import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Lifetimes of failures", .timeLimited)
struct FailureLifetimeTests {
    private static func status(_ code: Int) -> ImageError {
        ImageError(.badStatus, stage: .load, reason: "HTTP \(code)", statusCode: code)
    }

    @Test(
        "Missing images and those that can't be decoded are remembered for minutes, other permanent failures for 30 seconds, and temporary ones not at all",
        .capability("MGR-37", "3.4"),
        arguments: [
            (status(404), Duration.minutes(5)), (status(410), .minutes(5)), (status(403), .seconds(30)),
            (status(503), .zero),
            (ImageError(.connectionFailed, stage: .load, reason: ""), .zero),
            (ImageError(.timedOut, stage: .load, reason: ""), .zero),
            (ImageError(.emptyBody, stage: .load, reason: ""), .seconds(30)),
        ])
    func defaults(error: ImageError, lifetime: Duration) async {
        let clock = Lock(ContinuousClock.now)
        var configuration = ImageManager.Configuration()
        configuration.now = { clock.withLock { $0 } }
        let bench = ManagerBench(configuration: configuration) { _ in .failure(error) }
        let request = ImageRequest(URL(string: "test:a")!)
        #expect(await bench.failure(request)?.code == error.code)
        #expect(bench.manager.failureCount == (lifetime == .zero ? 0 : 1))
        clock.withLock { $0 += lifetime - .milliseconds(1) }
        #expect(await bench.failure(request)?.code == (lifetime == .zero ? error.code : .recentlyFailed))
        clock.withLock { $0 += .milliseconds(1) }
        #expect(await bench.failure(request)?.code == error.code)
    }

    @Test("An image that the program stores isn't known as failed any longer", .capability("MGR-37", "3.4"))
    func storedAfterFailure() async throws {
        let bench = ManagerBench { _ in .failure(Self.status(404)) }
        let url = URL(string: "test:a")!
        let small = ImageRequest(url, thumbnailSize: PixelSize(width: 3, height: 3))
        #expect(await bench.failure(small)?.code == .badStatus)
        #expect(bench.manager.remembersFailure(of: small))
        try await bench.manager.store(solidImage(8, 8), data: Data("DOT 8".utf8), for: url)
        #expect(!bench.manager.remembersFailure(of: small))
        #expect(try await bench.manager.image(for: small).size.width == 3)
    }

    @Test("New loaders and coders are asked for what failed before", .capability("MGR-37"))
    func newParts() async throws {
        let bench = ManagerBench { _ in .failure(Self.status(403)) }
        let request = ImageRequest(URL(string: "test:a")!)
        #expect(await bench.failure(request)?.statusCode == 403)
        #expect(await bench.failure(request)?.code == .recentlyFailed)
        bench.manager.loaders = ImageLoaders([GatedLoader { .success(LoadedData(data: Data("NEW".utf8), url: $0)) }])
        #expect(await bench.failure(request)?.code == .unknownFormat)
        #expect(await bench.failure(request)?.code == .recentlyFailed)
        bench.manager.coders.add(DotCoder())
        #expect(await bench.failure(request)?.code == .unknownFormat)
    }

    @Test("What is over is forgotten with the next failure, and no body of a request is kept")
    func forgotten() {
        var memory = FailureMemory()
        let now = ContinuousClock.now
        func key(_ body: String) -> FailureMemory.Key {
            var message = DownloadKey.Message()
            message.body = Data(body.utf8)
            return FailureMemory.Key(source: "a", message: message)
        }
        #expect(key("a") == key("a") && key("a") != key("b"))
        memory.insert(key("a"), Self.status(403), for: .seconds(5), limit: 10, at: now)
        memory.insert(key("b"), Self.status(403), for: .seconds(9), limit: 10, at: now)
        memory.insert(key("c"), Self.status(403), for: .seconds(5), limit: 10, at: now + .seconds(5))
        #expect(memory.count == 2)
        for body in ["b", "c"] { #expect(memory.failure(of: key(body), at: now + .seconds(5)) != nil) }
    }

    @Test("Data that can't be decoded has a lifetime of its own", .capability("MGR-37", "3.4"))
    func undecodable() async {
        let clock = Lock(ContinuousClock.now)
        var configuration = ImageManager.Configuration()
        configuration.now = { clock.withLock { $0 } }
        let bench = ManagerBench(configuration: configuration) { url in
            .success(LoadedData(data: Data("<html>".utf8), url: url))
        }
        let request = ImageRequest(URL(string: "test:a")!)
        #expect(await bench.failure(request)?.code == .unknownFormat)
        clock.withLock { $0 += .minutes(5) - .milliseconds(1) }
        #expect(await bench.failure(request)?.code == .recentlyFailed)
        clock.withLock { $0 += .milliseconds(1) }
        #expect(await bench.failure(request)?.code == .unknownFormat)
    }

    @Test("A failure is remembered without the head of its response", .capability("MGR-37"))
    func rememberedHead() async throws {
        let url = URL(string: "test:a")!
        let head = ResponseHead(url: url, statusCode: 404, headers: ["X-Long": String(repeating: "x", count: 70_000)])
        let bench = ManagerBench { _ in
            var error = ImageError(.badStatus, stage: .load, reason: "404", statusCode: 404)
            error.response = head
            return .failure(error)
        }
        #expect(await bench.failure(ImageRequest(url))?.response != nil)
        let again = await bench.failure(ImageRequest(url))
        let remembered = try #require(again?.underlying as? ImageError)
        #expect(again?.code == .recentlyFailed && remembered.statusCode == 404 && remembered.response == nil)
    }

    @Test("The program decides which failures are remembered, and for how long", .capability("MGR-38"))
    func hook() async {
        let asked = Lock<[String]>([])
        var configuration = ImageManager.Configuration()
        configuration.failureLifetime = { error, url in
            asked.withLock { $0.append("\(url.absoluteString) \(error.statusCode ?? 0)") }
            switch url.absoluteString {
            case "test:never": return .zero
            case "test:always": return .seconds(Int.max)
            default: return nil
            }
        }
        let bench = ManagerBench(configuration: configuration) { _ in .failure(Self.status(404)) }
        for name in ["test:never", "test:always", "test:default"] {
            #expect(await bench.failure(ImageRequest(URL(string: name)!))?.code == .badStatus)
        }
        #expect(asked.withLock { $0 } == ["test:never 404", "test:always 404", "test:default 404"])
        #expect(bench.manager.failureCount == 2)
        #expect(await bench.failure(ImageRequest(URL(string: "test:never")!))?.code == .badStatus)
        #expect(await bench.failure(ImageRequest(URL(string: "test:always")!))?.code == .recentlyFailed)
        bench.manager.configuration.failureLifetime = { _, _ in .zero }
        #expect(await bench.failure(ImageRequest(URL(string: "test:new")!))?.code == .badStatus)
        #expect(bench.manager.failureCount == 2, "without a lifetime, nothing more is remembered")
    }
}
