import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Snippets: loading images", .timeLimited)
struct LoadingSnippets {
    let bench: SnippetBench

    init() throws { bench = try SnippetBench() }

    @Test("A result tells its source, and how long loading took", .capability("DLR-34"))
    func result() async throws {
        let (manager, url) = (try bench.manager(), try bench.file())
        // snippet: result
        let result = try await manager.load(url)
        show(result.image)
        print(result.source)  // .memory, .disk, or .network for everything that a loader supplied
        print(result.metrics.load.total)  // the time in the loader's queue and the transfer
        // snippet.end
        #expect(result.source == .network)
        #expect(result.data != nil)
        #expect(result.metrics.total > .zero)
        #expect(result.metrics.load.total > .zero)
    }

    @Test("Images are prefetched, and counted", .capability("PRE-01", "PRE-05"))
    func prefetching() async throws {
        let (manager, urls) = (try bench.manager(), [try bench.file()])
        do {
            // snippet: prefetch
            let prefetcher = ImagePrefetcher(manager: manager)
            let prefetch = prefetcher.prefetch(urls)
            for await progress in prefetch.progress {
                print("\(progress.finished)/\(progress.total), \(progress.failed) failed")
            }
            for failure in prefetch.failures { print(failure.url, failure.error) }
            // snippet.end
            // snippet: prefetch-outcomes
            for await (url, outcome) in prefetch.outcomes { print(url, outcome) }
            // snippet.end
            #expect(prefetch.currentProgress.loaded == 1)
        }
        do {
            // snippet: prefetch-start
            let prefetcher = ImagePrefetcher(manager: manager)
            prefetcher.prefetch(urls)
            // snippet.end
            #expect(await prefetcher.prefetch(urls).wait().skipped == 1)
        }
        // snippet: prefetch-disk
        var configuration = ImagePrefetcher.Configuration()
        configuration.storesOnDiskOnly = true
        configuration.maximumConcurrentLoads = 2
        let prefetcher = ImagePrefetcher(manager: manager, configuration: configuration)
        // snippet.end
        #expect(await prefetcher.prefetch(urls).wait().skipped == 1, "a local file needs no copy")
    }

    @Test("A request can bring its bytes in many ways", .capability("MGR-03"))
    func sources() async throws {
        let manager = try bench.manager()
        let path = try bench.file().path
        let data = try bench.picture().encoded(as: .png)
        // snippet: request-sources
        let web = try ImageRequest(string: "https://example.org/photo.jpg")
        let file = ImageRequest(path: path)
        let bytes = ImageRequest(data: data, identifier: "avatar of user 7")
        let closure = ImageRequest(identifier: "page 3 of the report") {
            try await renderPage(3)
        }
        // snippet.end
        for request in [file, bytes, closure] { #expect(try await manager.image(for: request).size.width > 0) }
        #expect(web.url.host() == "example.org")

        @Sendable func renderPage(_ number: Int) async throws -> Data { data }
    }

    @Test("A copy of a manager has its own cache for originals and its own serializer", .capability("CTX-21", "CTX-27"))
    func parts() async throws {
        let (manager, url) = (try bench.manager(), try bench.file())
        let archive = try bench.cache("archive")
        // snippet: manager-copy
        var configuration = manager.configuration
        configuration.originalCache = archive
        configuration.cacheSerializer = { image, data, url in try image.encoded(as: .webp) }
        let archiving = manager.copy(configuration: configuration)
        // snippet.end
        var request = ImageRequest(url)
        request.cache.waitsForStore = true
        let result = try await archiving.copy(
            loader: FixedLoader(data: try bench.picture().encoded(as: .png))
        ).load(request)
        #expect(result.storeError == nil)
        let entry = await archive.disk?.entry(forKey: result.key)
        #expect(entry?.mimeType == "image/webp")
    }

    @Test("The newest images come first")
    func newestFirst() throws {
        let manager = try bench.manager()
        // snippet: newest-first
        manager.configuration.processing = WorkQueue(label: "images", width: 2, newestFirst: true)
        manager.configuration.budget = DecodeBudget(limit: .megabytes(256), newestFirst: true)
        // snippet.end
        #expect(manager.configuration.budget.limit == .megabytes(256))
    }

    @Test("A manager is made of a cache, loaders and hooks")
    func ownManager() async throws {
        struct CircleCrop: ImageTransformer {
            let key = "circle"
            func transform(_ image: Image) throws -> Image { try image.resized(to: PixelSize(width: 1, height: 1)) }
        }
        let path = bench.folder.path + "/own"
        #if HTTP
        // snippet: own-manager
        let cache = try ImageCache(
            memory: .init(capacity: .megabytes(100), capacityAfterPurge: .megabytes(60)),
            disk: .init(directory: path, capacity: .gigabytes(2), maximumAge: .days(7)))
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 4))
        let manager = ImageManager(
            cache: cache, loader: ImageLoaders([DataURLLoader(), FileLoader(), downloader]))
        manager.configuration.cacheKey = { url in String(url.absoluteString.prefix { $0 != "?" }) }
        manager.configuration.shouldDownload = { url in url.host() == "images.example.org" }
        manager.configuration.transformer = { url in url.path.hasPrefix("/avatars/") ? CircleCrop() : nil }
        // snippet.end
        var request = ImageRequest(try #require(URL(string: "https://example.org/avatars/a.png?token=1")))
        #expect(manager.key(for: request).source == "https://example.org/avatars/a.png")
        #expect(manager.key(for: request).variant.description == "transform=circle")
        request.transformer = ImageTransformers([])
        #expect(manager.key(for: request).variant.isOriginal)
        await #expect(throws: ImageError.self) { try await manager.image(for: request) }
        #endif
    }

    @Test("A manager has the cache and the loaders that it is made of")
    func managerParts() async throws {
        let directory = bench.folder.path + "/parts"
        #if HTTP
        // snippet: manager-parts
        let cache = try ImageCache(
            memory: .init(capacity: .megabytes(100)), disk: .init(directory: directory, capacity: .gigabytes(2)))
        let manager = ImageManager(cache: cache)  // loads http:, https:, file:, and data: URLs
        let web = ImageManager(cache: cache, loader: ImageDownloader())  // loads http: and https: URLs alone
        // snippet.end
        let file = try bench.file()
        #expect(try await manager.image(for: ImageRequest(file, cachePolicy: .reload)).size.width == 800)
        let other = try bench.folder.write(Data(contentsOf: file), to: "other.png")
        let error = await #expect(throws: ImageError.self) { try await web.image(for: other) }
        #expect(error?.code == .invalidURL, "a downloader alone reads no files")
        #endif
    }

    #if HTTP
    @Test("Header fields go to the hosts that they are for")
    func headers() throws {
        let (token, manager) = ("secret", try bench.manager())
        // snippet: header-fields
        let downloader = ImageDownloader(
            .init(headerProvider: { url, headers in
                var headers = headers
                if url.host() == "images.example.org" { headers["Authorization"] = "Bearer \(token)" }
                return headers
            }))
        manager.loaders.add(downloader)  // It is asked first. `file:` and `data:` URLs still load.
        // snippet.end
        #expect(manager.loaders.loaders.count == 4)
        let filter = try #require(downloader.configuration.headerProvider)
        let images = try #require(URL(string: "https://images.example.org/a"))
        #expect(filter(images, [:])["authorization"] == "Bearer secret")
        #expect(filter(try #require(URL(string: "https://example.org/a")), ["A": "b"]) == ["A": "b"])
    }
    #endif

    @Test("Every observer sees the events of a task until its end")
    func events() async throws {
        let (manager, request) = (try bench.manager(), ImageRequest(try bench.file()))
        var shown: Image?
        // snippet: events
        let task = manager.task(for: request)  // The load begins at once.
        for await event in task.events {
            switch event {
            case .progress(let progress): show(progress.fraction ?? 0)
            case .preview(let image): show(image)
            case .finished(let result):
                show(try result.get().image)
                // snippet.hide
                shown = try result.get().image
            // snippet.show
            }
        }
        // snippet.end
        #expect(shown?.size == PixelSize(width: 800, height: 600))
        task.priority = .low
        task.cancel()
        #expect(try await task.image.size == shown?.size)
    }

    @Test("Many images are loaded, a few at a time")
    func many() async throws {
        let (manager, urls) = (try bench.manager(), Array(repeating: try bench.file(), count: 20))
        let loaded = Watched(0)
        @Sendable func show(_ image: Image) { loaded.update { $0 += 1 } }
        // snippet: many-images
        await withTaskGroup(of: Void.self) { group in
            for (index, url) in urls.enumerated() {
                if index >= 8 { await group.next() }  // At most eight at a time.
                group.addTask {
                    do { show(try await manager.image(for: url)) } catch { print(error) }
                }
            }
        }
        // snippet.end
        #expect(loaded.value == 20)
    }

    @Test("Errors are caught by their code")
    func errors() async throws {
        let (manager, url) = (try bench.manager(), bench.folder.url(of: "missing.png"))
        var caught: ImageError?
        // snippet: errors
        do throws(ImageError) {
            show(try await manager.image(for: url))
        } catch ImageError.Code.cancelled {
            // The user has moved on.
            // snippet.hide
            Issue.record("nothing was cancelled")
            // snippet.show
        } catch {
            show(error.description)
            // snippet.hide
            caught = error
            // snippet.show
        }
        // snippet.end
        #expect(caught?.code == .fileUnreadable)
    }

    @Test("The HTTP status of an error can be read")
    func status() async throws {
        let (manager, url) = (try bench.manager(), try #require(URL(string: "https://example.org/a.png")))
        // snippet: bad-status
        do throws(ImageError) {
            show(try await manager.image(for: url))
        } catch {
            if error.code == .badStatus { print(error.statusCode ?? 0) }
            // snippet.hide
            #expect(error.code == .connectionFailed)
            // snippet.show
        }
        // snippet.end
    }

    @Test("A budget limits the memory of all decodes")
    func budget() throws {
        // snippet: budget
        var configuration = ImageManager.Configuration()
        configuration.budget = DecodeBudget(limit: .megabytes(50))  // of one manager
        // snippet.end
        #expect(configuration.budget.limit == .megabytes(50))
    }
}
