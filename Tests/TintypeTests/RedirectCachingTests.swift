#if HTTP
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

/// Two images of equal validators, and a redirect that leads to one of them.
private final class LatestServer: Sendable {
    let images: [String: Data]
    let target = Watched("/1")
    let server: OriginServer

    init(validators: [String: String], control: String?) async throws {
        images = [
            "/1": try Gradients.image(width: 64).encoded(as: .png),
            "/2": try Gradients.image(width: 32).encoded(as: .png),
        ]
        let (images, target) = (images, target)
        server = try await OriginServer.start { request in
            guard let image = images[request.path] else { return .redirect(to: target.value) }
            var fields = validators
            fields["Cache-Control"] = control
            let isKnown =
                validators["ETag"].map { request.header("If-None-Match") == $0 }
                ?? (request.header("If-Modified-Since") == validators["Last-Modified"])
            return isKnown ? OriginResponse(status: 304, headers: fields) : OriginResponse(image, headers: fields)
        }
    }
}

@Suite("Cached images after redirects", .timeLimited)
struct RedirectCachingTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let validators: [[String: String]] = [
        ["Last-Modified": date], ["ETag": "\"same\""], ["ETag": "W/\"same\"", "Last-Modified": date],
    ]
    private let folder = try! TemporaryDirectory()

    private func manager(_ policy: CachePolicy) throws -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.cachePolicy = policy
        return ImageManager(
            cache: try ImageCache(disk: .init(directory: folder.path + "/cache")), loader: ImageDownloader(),
            configuration: configuration)
    }

    @Test(
        "A redirect that leads to another image is followed to it, although its validators are those of the cached one",
        .capability("3.10", "HTC-01"), arguments: [CachePolicy.http, .revalidate, .staleWhileRevalidate], validators)
    func changes(_ policy: CachePolicy, _ validators: [String: String]) async throws {
        for control in [nil, "max-age=1000, immutable, stale-while-revalidate=1000"] {
            let origin = try await LatestServer(validators: validators, control: control)
            var request = ImageRequest(origin.server.url("/latest"))
            request.cache.waitsForStore = true
            #expect(try await manager(policy).load(request).data == origin.images["/1"])
            // The target is asked whether its image is current, and the redirect isn't.
            let unchanged = try manager(policy)
            #expect(try await unchanged.load(request).data == origin.images["/1"])
            await unchanged.flush()
            #expect(origin.server.requests.map(\.path) == ["/latest", "/1", "/latest", "/1"])
            let conditions = origin.server.requests.map { request in
                request.headers.count { $0.name.lowercased().hasPrefix("if-") }
            }
            #expect(conditions == [0, 0, 0, validators.count])

            origin.target.update { $0 = "/2" }
            let changed = try manager(policy)
            let result = try await changed.load(request)
            await changed.flush()
            if policy == .staleWhileRevalidate {
                // The load before has begun the renewal, and the next one gets it.
                #expect(try await manager(policy).load(request).data == origin.images["/2"])
            } else {
                #expect(result.data == origin.images["/2"])
                #expect(try await manager(policy).load(request).data == origin.images["/2"])
            }
            let asked = origin.server.requests.filter { $0.path == "/2" }
            #expect(asked.first?.headers.contains { $0.name.lowercased().hasPrefix("if-") } == false)
        }
    }

    @Test("An image that varies on fields that no redirect takes to its origin is cached", .capability("HTC-04"))
    func varyingElsewhere() async throws {
        let image = try Gradients.data(.png)
        let other = try await OriginServer.start { _ in
            OriginResponse(image, headers: ["Vary": "Authorization, X-Key, Accept-Encoding"])
        }
        let target = other.url("/b").absoluteString
        let server = try await OriginServer.start { _ in .redirect(to: target) }
        var request = ImageRequest(server.url("/a"), headers: ["Authorization": "Bearer 1", "X-Key": "2"])
        request.cache.waitsForStore = true
        #expect(try await manager(.cacheFirst).load(request).source == .network)
        #expect(try await manager(.cacheFirst).load(request).source == .disk)
        request.headers["X-Key"] = "3"
        #expect(try await manager(.cacheFirst).load(request).source == .network)
    }

    @Test("A URL that becomes a redirect sends no validators on", .capability("3.10"))
    func becomesRedirect() async throws {
        let isMoved = Watched(false)
        let first = try Gradients.image(width: 64).encoded(as: .png)
        let second = try Gradients.image(width: 32).encoded(as: .png)
        let server = try await OriginServer.start { request in
            if isMoved.value, request.path == "/a" { return .redirect(to: "/b") }
            if request.header("If-None-Match") == "\"same\"" { return .status(304) }
            return OriginResponse(request.path == "/a" ? first : second, headers: ["ETag": "\"same\""])
        }
        var request = ImageRequest(server.url("/a"))
        request.cache.waitsForStore = true
        #expect(try await manager(.revalidate).load(request).data == first)
        #expect(try await manager(.revalidate).load(request).data == first)
        isMoved.update { $0 = true }
        #expect(try await manager(.revalidate).load(request).data == second)
        #expect(server.requests.map { $0.header("If-None-Match") } == [nil, "\"same\"", "\"same\"", nil])
    }
}
#endif
