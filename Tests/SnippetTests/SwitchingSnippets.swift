import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@MainActor
@Suite("Snippets: coming from Kingfisher and Nuke", .timeLimited)
struct SwitchingSnippets {
    let bench: SnippetBench

    init() throws { bench = try SnippetBench() }

    @Test("A view shows a thumbnail with round corners, as Kingfisher's processors make")
    func kingfisherView() async throws {
        let (url, placeholder, picture) = (try bench.file(), try bench.picture(5, 5), Portrait())
        // snippet: kingfisher-view
        let request = ImageRequest(
            url, thumbnailSize: PixelSize(width: 400, height: 300), transformer: .rounded(radius: 20))
        picture.setImage(request, placeholder: placeholder, transition: .crossDissolve(1), indicator: .spinner)
        // snippet.end
        #expect(picture.pixels?.size.width == 5)
        _ = try await picture.imageBinding.load()?.result.get()
        #expect(picture.pixels?.size == PixelSize(width: 400, height: 300))
    }

    @Test("A cache has Kingfisher's times, and no limit on disk")
    func kingfisherDefaults() throws {
        let directory = bench.folder.path + "/kingfisher"
        // snippet: kingfisher-defaults
        let cache = try ImageCache(
            memory: .init(timeToLive: .minutes(5)),
            disk: .init(directory: directory, capacity: .unlimited, maximumAge: .days(7)))
        let manager = ImageManager(cache: cache)
        // snippet.end
        let disk = try #require(manager.cache.disk as? DiskCache)
        #expect(disk.configuration.capacity == .unlimited && disk.configuration.maximumAge == .days(7))
    }

    @Test("A request has Nuke's processors in a row")
    func nukeRequest() async throws {
        let (manager, url) = (try bench.manager(), try bench.file())
        // snippet: nuke-request
        var request = ImageRequest(url, priority: .high)
        request.transformer = .resize(width: 320, upscales: false).circle()
        let image = try await manager.image(for: request)
        // snippet.end
        #expect(image.size == PixelSize(width: 240, height: 240) && image.hasAlpha)
        // snippet: nuke-closure
        let corner = PixelRect(x: 0, y: 0, width: 16, height: 16)
        request.transformer = .closure(key: "corner-16") { image in try image.transformed(.crop(corner)) }
        // snippet.end
        #expect(try await manager.image(for: request).size == PixelSize(width: 16, height: 16))
    }

    @Test("A manager obeys HTTP, as Nuke's default pipeline does")
    func nukeURLCache() throws {
        let directory = bench.folder.path + "/nuke"
        // snippet: nuke-url-cache
        let manager = ImageManager(
            cache: try ImageCache(disk: .init(directory: directory, capacity: .megabytes(150))))
        manager.configuration.cachePolicy = .http
        // snippet.end
        let disk = try #require(manager.cache.disk as? DiskCache)
        #expect(disk.configuration.capacity == .megabytes(150))
    }
}
