#if HTTP
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

/// Servers and files that do everything wrong. Each ends in one typed error that names what it concerns; nothing of it is
/// cached, and the load beside it goes on.
@Suite("Bad input, end to end", .timeLimited)
struct BadInputTests {
    /// One way of going wrong.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var path = "/bad"
        var response: @Sendable () throws -> OriginResponse
        var code: ImageError.Code
        var stage = ImageError.Stage.load
        /// What the reason has to say.
        var word = ""
        var status: Int?
        var testDescription: String { name }
    }

    static let cases: [Case] =
        [
            Case(name: "404", response: { .status(404) }, code: .badStatus, word: "404", status: 404),
            Case(name: "500", response: { .status(500) }, code: .badStatus, word: "500", status: 500),
            Case(
                name: "an error page in place of an image",
                response: { OriginResponse(Data("<!DOCTYPE html><p>Sorry".utf8), type: "image/jpeg") },
                code: .unknownFormat, stage: .decode, word: "HTML"),
            Case(name: "reset in the middle", response: { try photo(.jpeg).reset(after: 100) }, code: .connectionLost),
            Case(name: "closed in the middle", response: { try photo(.jpeg).close(after: 100) }, code: .incompleteBody),
            Case(name: "silence in the middle", response: { try photo(.jpeg).silence(after: 100) }, code: .timedOut),
            Case(name: "silence from the beginning", response: { try photo(.jpeg).silence(after: 0) }, code: .timedOut),
            Case(name: "a redirect in a circle", response: { .redirect(to: "/bad") }, code: .badRedirect),
            Case(
                name: "a body over the limit, announced", response: { OriginResponse(Data(count: 2_000_000)) },
                code: .bodyTooLarge),
            Case(
                name: "a body over the limit, not announced",
                response: { OriginResponse(Data(count: 2_000_000)).chunked() },
                code: .bodyTooLarge),
            Case(
                name: "a length that promises too much",
                response: { try photo(.png).announcing(contentLength: 900_000).close(after: 1_000_000) },
                code: .incompleteBody),
            Case(
                name: "a length that promises too little",
                response: { try photo(.png).announcing(contentLength: 60) }, code: .truncatedImage, stage: .decode),
            Case(name: "an empty body", response: { OriginResponse(type: "image/png") }, code: .emptyBody),
            Case(
                name: "a text", response: { OriginResponse(Data("hello".utf8), type: "image/png") },
                code: .unknownFormat,
                stage: .decode),
            Case(
                name: "a PNG that claims 65,535 × 65,535 pixels",
                response: { OriginResponse(hugePNG, type: "image/png") }, code: .limitExceeded, stage: .decode,
                word: "65535x65535"),
        ]
        + [ImageFormat.jpeg, .png, .gif, .webp].map { format in
            Case(
                name: "a truncated \(format)",
                response: { OriginResponse(try Gradients.data(format).dropLast(try Gradients.data(format).count / 3)) },
                code: .truncatedImage, stage: .decode)
        }

    @Test(
        "One typed error, nothing cached, and the others go on", .capability("ERR-02", "ERR-06", "3.8"),
        arguments: cases)
    func bad(bad: Case) async throws {
        let good = try Gradients.data(.png)
        let response = try bad.response()
        let server = try await OriginServer.start([bad.path: response, "/good": OriginResponse(good)])
        let setup = try Setup()
        let url = server.url(bad.path)
        let task = setup.manager.task(for: url)
        #expect(try await setup.manager.load(server.url("/good")).data == good)
        // Nobody else is under way now: time may pass for the one that waits for more, if it does.
        let clock = setup.clock
        let time = Task {
            while !Task.isCancelled {
                try await clock.waitForSleepers(1)
                clock.advance(by: .seconds(16))
            }
        }
        if bad.code != .timedOut { time.cancel() }
        let result = await task.result
        time.cancel()
        guard case .failure(let error) = result else {
            Issue.record("it loaded")
            return
        }
        #expect(error.code == bad.code, "\(error)")
        #expect(error.stage == bad.stage)
        #expect(error.source == url.absoluteString)
        #expect(bad.word.isEmpty || error.reason.contains(bad.word), "\(error.reason)")
        #expect(error.statusCode == bad.status)
        #expect(!error.description.contains("\n"))
        await setup.manager.flush()
        let key = setup.manager.key(for: ImageRequest(url))
        #expect(await setup.cache.contains(key, in: .all) == [])
        #expect(await setup.cache.contains(setup.manager.key(for: ImageRequest(server.url("/good"))), in: .all) == .all)
        await server.stop()
    }

    @Test("A port that nobody listens on")
    func refused() async throws {
        // No other test's server can have this one.
        let url = try #require(URL(string: "http://127.0.0.1:1/a.png"))
        let error = try await Setup().manager.task(for: url).result.failure
        #expect(error?.code == .connectionFailed)
        #expect(error?.source == url.absoluteString)
    }

    @Test("A cache directory that is a file: images load all the same, and who asks is told")
    func cacheIsAFile() async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(Data("in the way".utf8), to: "cache")
        let server = try await OriginServer.start(["/good": OriginResponse(try Gradients.data(.png))])
        let disk = DiskCache(DiskCache.Configuration(directory: file.path))
        let setup = try Setup(cache: ImageCache(memory: MemoryCache(), disk: disk))
        var request = ImageRequest(server.url("/good"))
        request.cache.waitsForStore = true
        let result = try await setup.manager.load(request)
        #expect(result.image.size == PixelSize(width: 64, height: 48))
        #expect(result.storeError?.code == .cacheUnavailable)
        #expect(result.storeError?.source?.contains(file.path) == true)
        #expect(try Data(contentsOf: file) == Data("in the way".utf8))
        #expect(try await setup.manager.load(request).source == .memory)
        await server.stop()
    }

    @Test("A missing file names its path", arguments: ["/no/such/file.png", "/"])
    func files(path: String) async throws {
        let error = try await Setup().manager.task(for: URL(fileURLWithPath: path)).result.failure
        #expect(error?.code == .fileUnreadable)
        #expect(error?.source?.contains(path) == true)
    }

    // MARK: Parts

    /// A manager with caches and a clock of its own.
    private struct Setup {
        let folder = try! TemporaryDirectory()
        let cache: ImageCache
        let manager: ImageManager
        /// Nothing times out unless this is moved.
        let clock = ManualClock()

        init(cache: ImageCache? = nil) throws {
            let disk = DiskCache(DiskCache.Configuration(directory: folder.path + "/cache"))
            self.cache = cache ?? ImageCache(memory: MemoryCache(), disk: disk)
            var configuration = ImageDownloader.Configuration()
            configuration.maximumBytes = .megabytes(1)
            manager = ImageManager(
                cache: self.cache, loader: ImageLoaders([FileLoader(), ImageDownloader(configuration, clock: clock)]))
        }
    }

    static func photo(_ format: ImageFormat) throws -> OriginResponse {
        OriginResponse(try Gradients.data(format), type: format.mimeType)
    }

    /// A PNG whose header claims more than 17 GB of pixels.
    static let hugePNG: Data = {
        var png = try! Gradients.image().encoded(as: .png)
        png.replaceSubrange(16..<24, with: [0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF])
        // The checksum of the changed header (PNG, third edition, annex D).
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in png[12..<29] {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        withUnsafeBytes(of: (~crc).bigEndian) { png.replaceSubrange(29..<33, with: $0) }
        return png
    }()
}
#endif
