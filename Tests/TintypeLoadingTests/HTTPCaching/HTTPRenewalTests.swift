import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

/// The answers with which a source renews what is cached.
@Suite("HTTP caching: renewals", .timeLimited)
struct HTTPRenewalTests {
    private let now = Lock(Date(timeIntervalSince1970: 1_000_000_000))
    private let answer = Lock<LoadedData>(.dot(size: 8))
    private let bench: ManagerBench

    init() {
        var configuration = ImageManager.Configuration.still
        configuration.cachePolicy = .http
        configuration.date = { [now] in now.withLock { $0 } }
        bench = ManagerBench(configuration: configuration) { [answer] _ in .success(answer.withLock { $0 }) }
    }

    private func send(_ control: String, size: Int = 8, _ validators: CacheValidators) {
        var loaded = LoadedData.dot(size: size, validators: validators)
        loaded.statusCode = 200
        loaded.headers["cache-control"] = control
        answer.withLock { $0 = loaded }
    }

    private func confirm(_ control: String, _ validators: CacheValidators?) {
        var loaded = LoadedData.notModified(url: url, validators: validators, statusCode: 304)
        loaded.headers["cache-control"] = control
        answer.withLock { $0 = loaded }
    }

    private func load() async throws -> ImageResult {
        now.withLock { $0 += 5 }
        var request = ImageRequest(url)
        request.cache.waitsForStore = true
        return try await bench.manager.load(request)
    }

    private var asked: [CacheValidators?] { bench.loader.calls.map(\.request.validators) }

    @Test("a validator that the source doesn't repeat is kept", .capability("HTC-01"))
    func kept() async throws {
        let both = CacheValidators(entityTag: "\"1\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
        send("max-age=1", both)
        _ = try await load()
        for part in [
            CacheValidators(entityTag: both.entityTag), CacheValidators(lastModified: both.lastModified), nil,
        ] {
            confirm("max-age=1", part)
            guard case .notModified = try await load().freshness else { throw Failure.wrong }
        }
        _ = try await load()
        #expect(asked == [nil, both, both, both, both])
    }

    @Test("a confirmation of another version renews nothing (RFC 9111, section 4.3.4)", .capability("HTC-01", "3.3"))
    func otherVersion() async throws {
        let first = CacheValidators(entityTag: "\"1\"")
        send("max-age=1", first)
        _ = try await load()
        confirm("max-age=1000", CacheValidators(entityTag: "\"2\""))
        #expect(try await load().image.size.width == 8)
        send("max-age=1000", size: 5, CacheValidators(entityTag: "\"2\""))
        #expect(try await load().image.size.width == 5)
        #expect(asked == [nil, first, first])
    }

    @Test(
        "the same entity tag, weak or strong, renews the image", arguments: ["W/\"1\"", "\"1\""],
        ["W/\"1\"", "\"1\""])
    func sameVersion(old: String, new: String) async throws {
        send("max-age=1", CacheValidators(entityTag: old))
        _ = try await load()
        confirm("max-age=1000", CacheValidators(entityTag: new))
        _ = try await load()
        guard case .cached = try await load().freshness else { throw Failure.wrong }
        #expect(asked.count == 2)
    }

    @Test("an image that is renewed in the background is stored only if its source allows it", .capability("HTC-02"))
    func background() async throws {
        send("max-age=1, stale-while-revalidate=100", CacheValidators(entityTag: "\"1\""))
        _ = try await load()
        send("no-store", size: 5, CacheValidators(entityTag: "\"2\""))
        #expect(try await load().image.size.width == 8)
        await bench.loader.arrival(of: 2)
        while bench.manager.hasActiveLoads { await Task.yield() }
        await bench.manager.flush()
        var cached = ImageRequest(url)
        cached.cachePolicy = .cacheOnly
        #expect(await bench.failure(cached)?.code == .notCached)
        #expect(try await bench.manager.data(for: ImageRequest(url)).data == Data("DOT 5".utf8))
    }

    private enum Failure: Error { case wrong }
}
