import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A loader that adds the credentials of the present user to its requests.
private final class LoaderWithUser: ImageLoading {
    let inner: GatedLoader
    let user = Lock("anna")

    init(_ answer: (@Sendable (URL) -> Result<LoadedData, ImageError>)? = nil) { inner = GatedLoader(answer) }

    var addsRequestHeaders: Bool { user.withLock { !$0.isEmpty } }

    func canLoad(_ url: URL) -> Bool { inner.canLoad(url) }
    func cookies(for url: URL) -> String? { "id=1" }
    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData { try await inner.load(request) }
    func requestHeaders(_ headers: [String: String], for url: URL) -> [String: String] {
        let user = user.withLock { $0 }
        guard !user.isEmpty else { return headers }
        return headers.merging(["Authorization": user, "Accept-Language": "de"]) { own, _ in own }
    }
}

/// A loader that knows the authorization of URLs with a user, and finds images at those alone.
private struct LoaderOfUsers: ImageLoading {
    func canLoad(_ url: URL) -> Bool { true }
    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        guard request.url.hasCredentials else { throw ImageError(.badStatus, stage: .load, reason: "no") }
        return .dot(request.url.absoluteString)
    }
    func requestHeaders(_ headers: [String: String], for url: URL) -> [String: String] {
        url.hasCredentials ? headers.merging(["Authorization": url.user() ?? ""]) { own, _ in own } : headers
    }
}

@Suite("Header fields that a loader adds", .timeLimited)
struct LoaderHeaderTests {
    private let url = URL(string: "test:a")!

    private func manager(_ loader: any ImageLoading) -> ImageManager {
        ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([DotCoder()]))
    }

    @Test(
        "An image that was loaded with a loader's credentials is found with the same ones only", .capability("HTC-04"))
    func users() async throws {
        let loader = LoaderWithUser { _ in .success(.dot()) }
        let manager = manager(loader)
        for (user, calls) in [("anna", 1), ("anna", 1), ("bert", 2), ("bert", 2), ("anna", 3)] {
            loader.user.withLock { $0 = user }
            _ = try await manager.image(for: url)
            _ = try await manager.load(url)
            await manager.flush()
            #expect(loader.inner.calls.count == calls, "\(user)")
        }
    }

    @Test(
        "An image that was loaded without credentials isn't found with those that a loader adds now",
        .capability("HTC-04"))
    func fromNobodyToSomebody() async throws {
        let loader = LoaderWithUser { .success(LoadedData(data: Data("DOT 8".utf8), url: $0, statusCode: 200)) }
        let manager = manager(loader)
        for (user, calls) in [("", 1), ("", 1), ("anna", 2), ("anna", 2), ("", 3)] {
            loader.user.withLock { $0 = user }
            _ = try await manager.image(for: url)
            _ = try await manager.load(url)
            await manager.flush()
            #expect(loader.inner.calls.count == calls, "\(user)")
        }
    }

    @Test("What was asked for one user isn't stored when another has signed in meanwhile", .capability("HTC-04"))
    func change() async throws {
        for user in ["bert", ""] {
            let loader = LoaderWithUser()
            let manager = manager(loader)
            let first = manager.task(for: url)
            await loader.inner.arrival(of: 1)
            loader.user.withLock { $0 = user }
            loader.inner.answer(0, with: .success(.dot(size: 4)))
            #expect(try await first.image.size.width == 4)
            await manager.flush()
            let second = manager.task(for: url)
            await loader.inner.arrival(of: 2)
            loader.inner.answer(1, with: .success(.dot(size: 5)))
            #expect(try await second.image.size.width == 5)
        }
    }

    @Test("A load doesn't join a transfer that runs with other credentials", .capability("HTC-04"))
    func running() async throws {
        let loader = LoaderWithUser()
        let manager = manager(loader)
        let first = manager.task(for: url)
        await loader.inner.arrival(of: 1)
        loader.user.withLock { $0 = "bert" }
        let second = manager.task(for: url)
        await loader.inner.arrival(of: 2)
        loader.inner.answer(1, with: .success(.dot(size: 5)))
        loader.inner.answer(0, with: .success(.dot(size: 4)))
        #expect(try await second.image.size.width == 5)
        #expect(try await first.image.size.width == 4)
    }

    @Test("A response that varies on a field which the loader adds is found with the same value", .capability("HTC-04"))
    func vary() async throws {
        let loader = LoaderWithUser { _ in
            var loaded = LoadedData.dot()
            loaded.headers["Vary"] = "Accept-Language"
            return .success(loaded)
        }
        let manager = manager(loader)
        _ = try await manager.image(for: url)
        await manager.flush()
        #expect(try await manager.load(url).source != .network)
        let other = ImageRequest(url, headers: ["Accept-Language": "en"])
        #expect(try await manager.load(other).source == .network)
        #expect(loader.inner.calls.count == 2)
    }

    @Test("A list of loaders and alternative sources ask the loader that loads the URL", .capability("HTC-04"))
    func forwarding() {
        let loader = LoaderWithUser()
        let list = ImageLoaders([loader.withAlternatives { _ in [] }, FileLoader()])
        #expect(list.requestHeaders(["X": "1"], for: url)["Authorization"] == "anna")
        #expect(list.requestHeaders(["X": "1"], for: URL(filePath: "/a")) == ["X": "1"])
        #expect(list.cookies(for: url) == "id=1" && list.cookies(for: URL(filePath: "/a")) == nil)
        #expect(list.requestHeaders(["X": "1"], for: URL(string: "none:a")!) == ["X": "1"])
    }
    @Test("An image of a mirror that is asked with credentials isn't for everybody", .capability("HTC-04"))
    func signedMirror() async throws {
        let loader = LoaderOfUsers().withAlternatives { _ in [URL(string: "https://anna:1@mirror.example/a")!] }
        let loaded = try await loader.load(LoadRequest(url: URL(string: "https://example.org/a")!))
        #expect(loaded.sentFields == ["authorization": "anna"])
    }

    @Test("A URL with a user doesn't find the image that everybody gets under the same key", .capability("HTC-04"))
    func userOfURL() async throws {
        let manager = ImageManager(
            cache: DictionaryCache(), loader: LoaderOfUsers(), coders: ImageCoders([DotCoder()]))
        func request(_ url: String) -> ImageRequest {
            var request = ImageRequest(URL(string: url)!)
            request.cache.key = "a"
            return request
        }
        try await manager.store(solidImage(3, 3), for: request("https://example.org/a"))
        #expect(manager.memoryImage(for: request("https://example.org/a")) != nil)
        let environment = manager.environment
        let response = StoredResponse(
            statusCode: 200, headers: [:], request: SelectingFields([:]), requestTime: Date(), responseTime: Date())
        #expect(environment.accepts(response, for: request("https://example.org/a")))
        #expect(!environment.accepts(response, for: request("https://anna:1@example.org/a")))
    }
}
