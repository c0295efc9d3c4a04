import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

/// A loader with cookies and with fields that only it knows.
private final class SigningLoader: ImageLoading {
    let inner: GatedLoader
    let cookies = Lock<String?>(nil)
    let sent = Lock<[String: String]>([:])
    /// The cookies that the next answer sets.
    let newCookies = Lock<String?>(nil)

    init(vary: String?) {
        inner = GatedLoader { _ in
            var loaded = LoadedData.dot()
            loaded.statusCode = 200
            loaded.headers["Vary"] = vary
            return .success(loaded)
        }
    }

    func canLoad(_ url: URL) -> Bool { inner.canLoad(url) }
    func cookies(for url: URL) -> String? { cookies.withLock { $0 } }
    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        let cookies = cookies.withLock { $0 }
        var loaded = try await inner.load(request)
        loaded.sentFields = sent.withLock { $0 }
        loaded.sentFields["cookie"] = cookies ?? ""
        if let new = newCookies.withLock({ $0 }) { self.cookies.withLock { $0 = new } }
        return loaded
    }
}

@Suite("Responses for some requests only", .timeLimited)
struct SelectionTests {
    private func manager(_ loader: any ImageLoading, _ cache: DictionaryCache = DictionaryCache()) -> ImageManager {
        ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()]))
    }

    @Test("An image that varies on cookies is for requests with the same cookies", .capability("HTC-04"))
    func cookies() async throws {
        let loader = SigningLoader(vary: "Cookie")
        let manager = manager(loader)
        for (cookies, calls) in [(nil, 1), (nil, 1), ("id=1", 2), ("id=1", 2), ("id=2", 3), (nil, 4)] {
            loader.cookies.withLock { $0 = cookies }
            _ = try await manager.image(for: url)
            _ = try await manager.load(url)
            await manager.flush()
            #expect(loader.inner.calls.count == calls, "\(cookies ?? "none")")
        }
    }

    @Test("The answer to a request without cookies isn't for one with those that it sets", .capability("HTC-04"))
    func setCookies() async throws {
        let loader = SigningLoader(vary: "Cookie")
        let manager = manager(loader)
        loader.newCookies.withLock { $0 = "id=1" }
        for calls in [1, 2, 2] {
            _ = try await manager.image(for: url)
            await manager.flush()
            #expect(loader.inner.calls.count == calls)
        }
    }

    @Test("A request's own cookies are credentials, whatever the loader adds", .capability("HTC-04"))
    func ownCookies() async throws {
        let loader = SigningLoader(vary: nil)
        let manager = manager(loader)
        for (own, calls) in [("user=anna", 1), ("user=anna", 1), ("user=bert", 2)] {
            loader.newCookies.withLock { $0 = "id=\(calls)" }
            _ = try await manager.load(ImageRequest(url, headers: ["Cookie": own]))
            await manager.flush()
            #expect(loader.inner.calls.count == calls)
        }
    }

    @Test("Cookies don't matter to an image that doesn't vary on them", .capability("HTC-04"))
    func otherCookies() async throws {
        let loader = SigningLoader(vary: nil)
        let manager = manager(loader)
        for cookies in [nil, "id=1", "id=2"] {
            loader.cookies.withLock { $0 = cookies }
            _ = try await manager.load(url)
        }
        #expect(loader.inner.calls.count == 1)
    }

    @Test(
        "An image that varies on everything, or on a field that only the loader knows, is for no other request",
        .capability("HTC-04"),
        arguments: [CachePolicy.cacheFirst, .http, .staleWhileRevalidate, .revalidate, .cacheOnly])
    func unknown(policy: CachePolicy) async throws {
        for (vary, sent) in [("*", [:]), ("X-Late", ["x-late": "2"]), ("accept, x-own", ["x-own": ""])] {
            let (loader, cache) = (SigningLoader(vary: vary), DictionaryCache())
            loader.sent.withLock { $0 = sent }
            let manager = manager(loader, cache)
            var request = ImageRequest(url, headers: ["X-Own": "1"])
            request.cache.waitsForStore = true
            _ = try await manager.load(request)
            #expect(cache.now.memory.isEmpty && cache.now.disk.isEmpty, "\(vary)")
            request.cachePolicy = policy
            if policy == .cacheOnly {
                await #expect(throws: ImageError.self) { try await manager.load(request) }
            } else {
                #expect(try await manager.load(request).source == .network)
            }
        }
    }

    @Test("What a loader has signed in for is a private response", .capability("HTC-04"))
    func privateResponse() async throws {
        for (sent, isPrivate) in [(["authorization": "x"], true), (["x-late": "2"], false), (["cookie": ""], false)] {
            let (loader, cache) = (SigningLoader(vary: nil), DictionaryCache())
            loader.sent.withLock { $0 = sent }
            var request = ImageRequest(url)
            request.cache.waitsForStore = true
            _ = try await manager(loader, cache).load(request)
            let control = CacheControl(
                cache.now.disk[ImageKey(source: "test:a")]?.answer?.headers["cache-control"])
            #expect(control.isPrivate == isPrivate)
        }
    }

    @Test("An image that the program stores for a user is found with that user's credentials", .capability("HTC-04"))
    func storedForUser() async throws {
        let (loader, cache) = (GatedLoader { _ in .success(.dot(size: 9)) }, DictionaryCache())
        let manager = manager(loader, cache)
        let own = ImageRequest(url, headers: ["Authorization": "anna"])
        try await manager.store(solidImage(5, 5), data: Data("DOT 5".utf8), for: own)
        await manager.flush()
        for _ in 0..<2 {
            #expect(try await manager.load(own).image.size.width == 5)
            cache.change { $0.memory = [:] }
        }
        #expect(try await manager.load(url).image.size.width == 9)
    }

    @Test(
        "An entry made anew from its properties is for the same users, and with a damaged response for none",
        .capability("HTC-04"))
    func madeAnew() async throws {
        let (loader, cache) = (GatedLoader { _ in .success(.dot(size: 9)) }, DictionaryCache())
        let manager = manager(loader, cache)
        let requests = [["Authorization": "anna"], ["Authorization": "bert"], [:]].map { fields in
            var request = ImageRequest(url, headers: fields)
            request.cache.waitsForStore = true
            return request
        }
        _ = try await manager.load(requests[0])
        let cases: [(Int, Bool, ImageOrigin)] = [
            (0, false, .disk), (1, false, .network), (1, true, .network), (2, false, .network),
        ]
        for (user, isDamaged, source) in cases {
            await manager.flush()
            cache.change { state in
                state.memory = [:]
                state.disk = state.disk.mapValues { old in
                    DiskCacheEntry(
                        data: old.data, created: old.created, expires: old.expires, mimeType: old.mimeType,
                        validators: old.validators, extendedData: old.extendedData, idleLifetime: old.idleLifetime,
                        imageProperties: old.imageProperties,
                        response: isDamaged ? old.response?.dropLast() : old.response)
                }
            }
            #expect(try await manager.load(requests[user]).source == source, "\(user), \(isDamaged)")
        }
    }

    @Test("A part is never stored as the image", .capability("HTC-01"), arguments: [CachePolicy.cacheFirst, .http])
    func part(policy: CachePolicy) async throws {
        let loader = GatedLoader { _ in
            var loaded = LoadedData.dot(size: 4)
            loaded.statusCode = 206
            return .success(loaded)
        }
        let manager = manager(loader)
        var request = ImageRequest(url, cachePolicy: policy, headers: ["Range": "bytes=0-4"])
        request.cache.waitsForStore = true
        _ = try await manager.data(for: request)
        request.headers = [:]
        #expect(try await manager.data(for: request).source == .network)
    }

    @Test(
        "A request that changes the source removes its images, whatever the answer (RFC 9111, section 4.4)",
        .capability("HTC-01"),
        arguments: [nil, .emptyBody, .badRedirect, .badStatus, .connectionLost, .connectionFailed]
            as [ImageError.Code?])
    func changes(code: ImageError.Code?) async throws {
        let bench = HTTPCachingBench()
        bench.send("max-age=100")
        _ = try await bench.load()
        if let code { bench.answer.withLock { $0 = .failure(ImageError(code, stage: .load, reason: "no")) } }
        var change = bench.request()
        change.method = "PUT"
        change.cachePolicy = .http
        _ = try? await bench.bench.manager.load(change)
        bench.send("max-age=100")
        // Without a connection, nothing was changed.
        #expect(try await bench.load().freshness.name == (code == .connectionFailed ? "cached" : "fresh"))
    }

    @Test(
        "A redirected image that is confirmed without directives keeps those that it had (RFC 9111, section 3.2)",
        .capability("HTC-01"))
    func redirectedConfirmation() async throws {
        let bench = HTTPCachingBench()
        for answer in [("must-revalidate", false), (nil, true), (nil, true)] as [(String?, Bool)] {
            var loaded = answer.1 ? LoadedData.notModified(url: url, statusCode: 304) : .dot()
            loaded.validators = CacheValidators(entityTag: "\"1\"")
            loaded.statusCode = answer.1 ? 304 : 200
            loaded.headers["cache-control"] = answer.0
            loaded.isRedirected = true
            bench.answer.withLock { [loaded] in $0 = .success(loaded) }
            _ = try await bench.load()
        }
        bench.fail(status: 503)
        await #expect(throws: ImageError.self) { try await bench.load() }
    }

    @Test(
        "A confirmation of other bytes is none (RFC 9111, section 4.3.4)", .capability("HTC-01"),
        arguments: [
            (["\"1\"", nil], ["\"1\"", nil], false), (["\"1\"", nil], ["W/\"1\"", nil], false),
            (["W/\"1\"", nil], ["W/\"2\"", nil], true), (["\"1\"", nil], ["W/\"2\"", nil], true),
            (["\"1\"", "a"], [nil, "b"], false), ([nil, "a"], [nil, "b"], true), ([nil, "a"], [nil, nil], false),
            ([nil, "a"], ["\"1\"", "b"], false),
        ] as [([String?], [String?], Bool)])
    func contradiction(old: [String?], new: [String?], isOther: Bool) {
        let validators = [old, new].map { CacheValidators(entityTag: $0[0], lastModified: $0[1]) }
        #expect(validators[0].isContradicted(by: validators[1]) == isOther)
    }
}
