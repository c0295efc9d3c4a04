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
    /// The answers before that one.
    private let nextAnswers = Lock<[LoadedData]>([])
    private let bench: ManagerBench

    init() {
        var configuration = ImageManager.Configuration.still
        configuration.cachePolicy = .http
        configuration.date = { [now] in now.withLock { $0 } }
        bench = ManagerBench(configuration: configuration) { [answer, nextAnswers] _ in
            let next = nextAnswers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return .success(next ?? answer.withLock { $0 })
        }
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

    @Test("Uses of a stale image start no work while its revalidation is under way", .capability("HTC-02"))
    func renewedOnce() async throws {
        let bench = ManagerBench(answer: nil)
        let request = ImageRequest(url, cachePolicy: .staleWhileRevalidate)
        let first = bench.manager.task(for: request)
        await bench.loader.arrival(of: 1)
        bench.loader.answer(0, with: .success(.dot()))
        _ = try await first.image
        _ = try await bench.manager.image(for: request)
        await bench.loader.arrival(of: 2)
        for _ in 0..<100 { _ = try await bench.manager.image(for: request) }
        #expect(bench.manager.waiting.images == 1)
        bench.loader.answer(1, with: .success(.dot(size: 5)))
        await bench.manager.flush()
        // The next one asks again.
        #expect(try await bench.manager.image(for: request).size.width == 5)
        await bench.loader.arrival(of: 3)
        bench.loader.answer(2, with: .success(.dot(size: 5)))
        await bench.manager.flush()
    }

    @Test(
        "The program's own bytes stay with an image that is confirmed, or sent again unchanged", .capability("CST-09"))
    func extendedData() async throws {
        let (validators, key) = (CacheValidators(entityTag: "\"1\""), ImageKey(source: "test:a"))
        send("max-age=1", validators)
        _ = try await load()
        let disk = try #require(bench.manager.cache.disk)
        var entry = try #require(await disk.entry(forKey: key))
        entry.extendedData = Data([7])
        try await disk.store(entry, forKey: key)
        confirm("max-age=1", validators)
        _ = try await load()
        #expect(await disk.entry(forKey: key)?.extendedData == Data([7]))
        send("max-age=1", validators)
        _ = try await load()
        #expect(await disk.entry(forKey: key)?.extendedData == Data([7]))
        send("max-age=1", size: 9, validators)
        _ = try await load()
        #expect(await disk.entry(forKey: key)?.extendedData == nil)
    }

    @Test("A validator that the source doesn't repeat is kept", .capability("HTC-01"))
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

    @Test(
        "A confirmation of another version renews nothing, and the source is asked again, for all of it (RFC 9111, section 4.3.4)",
        .capability("HTC-01", "3.3"))
    func otherVersion() async throws {
        let first = CacheValidators(entityTag: "\"1\"")
        send("max-age=1", first)
        _ = try await load()
        confirm("max-age=1000", CacheValidators(entityTag: "\"2\""))
        // It says so again: what is cached is all that there is.
        guard case .stale(.failed) = try await load().freshness else { throw Failure.wrong }
        #expect(asked == [nil, first, nil])
        var other = LoadedData.dot(size: 5, validators: CacheValidators(entityTag: "\"2\""))
        other.statusCode = 200
        other.headers["cache-control"] = "max-age=1000"
        let confirmation = answer.withLock { $0 }
        nextAnswers.withLock { [other] in $0 = [confirmation, other] }
        #expect(try await load().image.size.width == 5)
        #expect(asked == [nil, first, nil, first, nil])
        #expect(try await load().image.size.width == 5)
        #expect(asked.count == 5)
    }

    @Test("A request with only-if-cached asks no source (RFC 9111, section 5.2.1.7)", .capability("HTC-01"))
    func onlyIfCached() async throws {
        var only = ImageRequest(url, headers: ["cache-control": "Only-If-Cached"])
        #expect(await bench.failure(only)?.code == .notCached)
        send("max-age=8", CacheValidators(entityTag: "\"1\""))
        _ = try await load()
        #expect(try await bench.manager.load(only).image.size.width == 8)
        now.withLock { $0 += 20 }
        #expect(await bench.failure(only)?.code == .notCached)
        only = ImageRequest(url, headers: ["Cache-Control": "only-if-cached, max-stale"])
        #expect(try await bench.manager.load(only).image.size.width == 8)
        for policy in [CachePolicy.reload, .revalidate] {
            only.cachePolicy = policy
            _ = try? await bench.manager.load(only)
        }
        #expect(asked == [nil])
    }

    @Test(
        "The same entity tag, weak or strong, renews the image", arguments: ["W/\"1\"", "\"1\""],
        ["W/\"1\"", "\"1\""])
    func sameVersion(old: String, new: String) async throws {
        send("max-age=1", CacheValidators(entityTag: old))
        _ = try await load()
        confirm("max-age=1000", CacheValidators(entityTag: new))
        _ = try await load()
        guard case .cached = try await load().freshness else { throw Failure.wrong }
        #expect(asked.count == 2)
    }

    @Test("An image that is renewed in the background is stored only if its source allows it", .capability("HTC-02"))
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

    @Test(
        "A load that starts while the image of an earlier one is being stored asks the source, unless the policy lets it use the cache",
        .capability("HTC-03"), arguments: [(CachePolicy.http, 4), (.revalidate, 4), (.cacheFirst, 3)])
    func beingStored(policy: CachePolicy, width: Int) async throws {
        let disk = GatedDisk()
        let manager = ImageManager(
            cache: ImageCache(disk: disk), loader: bench.loader, coders: ImageCoders([DotCoder()]),
            configuration: bench.manager.configuration)
        let request = ImageRequest(url, cachePolicy: policy)
        send("no-cache", size: 3, CacheValidators(entityTag: "\"1\""))
        #expect(try await manager.image(for: request).size.width == 3)
        manager.cache.memory.removeAll()
        send("no-cache", size: 4, CacheValidators(entityTag: "\"2\""))
        #expect(try await manager.image(for: request).size.width == width)
        #expect(try await manager.data(for: request).data == Data("DOT \(width)".utf8))
        disk.gate.open()
        await manager.flush()
    }

    private enum Failure: Error { case wrong }
}
