import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

/// What programs write, from loading to prefetching, with the public interface alone.
@Suite("The public interface, as programs use it", .timeLimited)
struct WholeSurfaceTests {
    let bench: SnippetBench

    init() throws { bench = try SnippetBench() }

    @Test("A request takes options, a size, a transformer, a priority, and the layers to store in")
    func load() async throws {
        let (manager, url) = (try bench.manager(), try bench.file())
        let first = try await manager.image(for: url)
        #expect(first.size == PixelSize(width: 800, height: 600))
        let result = try await manager.load(url)
        #expect(result.source == .memory)
        var request = ImageRequest(url)
        request.retriesFailed = true
        request.cachePolicy = .revalidate
        request.thumbnailSize = PixelSize(width: 400, height: 300)
        request.transformer = .resize(width: 400, height: 300, mode: .aspectFill).rounded(radius: 12)
        request.priority = .high
        request.cache.store = .memory
        let image = try await manager.image(for: request)
        #expect(image.size == PixelSize(width: 400, height: 300) && image.hasAlpha)
        request.cache.store = []
        request.cache.store = .disk
        request.cache.store = .all
        #expect(request.retriesFailed && request.cachePolicy == .revalidate)
    }

    @Test("A task has events, a priority, and an image, and can be cancelled")
    func follow() async throws {
        let (manager, url) = (try bench.manager(), try bench.file())
        let task = manager.task(for: ImageRequest(url))
        var end: Result<ImageResult, ImageError>?
        for await event in task.events {
            switch event {
            case .progress(let progress): show(progress.fraction ?? 0)
            case .preview(let image): show(image)
            case .finished(let result): end = result
            }
        }
        #expect(try end?.get().image.size.width == 800)
        task.priority = .low
        #expect(try await task.image.size.height == 600)
        task.cancel()
    }

    #if HTTP
    @Test("A cache, a downloader, and a manager are configured, and local files still load")
    func configure() async throws {
        let cache = try ImageCache(
            memory: .init(capacity: .megabytes(100), capacityAfterPurge: .megabytes(60)),
            disk: .init(
                directory: bench.folder.path + "/own", capacity: .gigabytes(2), maximumAge: .days(7), expiry: .byAccess)
        )
        let downloader = ImageDownloader(
            .init(
                maximumConcurrentDownloads: 6, newestFirst: true, timeout: .seconds(15),
                headers: ["Accept": "image/*"]))
        let manager = ImageManager(
            cache: cache, loader: ImageLoaders([DataURLLoader(), FileLoader(), downloader]))
        manager.configuration.cacheKey = { url in url.absoluteString.components(separatedBy: "?")[0] }
        let allowed: Set<String?> = ["example.org"]
        manager.configuration.shouldDownload = { url in allowed.contains(url.host) || url.isFileURL }
        #expect(try await manager.image(for: bench.file()).size.width == 800)
        await #expect(throws: ImageError.self) {
            try await manager.image(for: #require(URL(string: "https://example.net/a.png")))
        }
        let second = DiskCache(.init(directory: bench.folder.path + "/second", minimumFreeSpace: 0))
        let both = TieredDiskCache(
            [DiskCache(.init(directory: bench.folder.path + "/first")), second], query: .highestOnly)
        let stacked = ImageManager(
            cache: ImageCache(disk: both), loader: ImageLoaders([downloader, FileLoader(), DataURLLoader()]))
        #expect(try await stacked.image(for: bench.file()).size.width == 800)
    }
    #endif

    @Test("A cache is used by hand")
    func cacheByHand() async throws {
        let (cache, key): (ImageCache, ImageKey) = (try bench.cache(), "picture")
        let image = try bench.picture()
        let data = try image.encoded(as: .png)
        cache.memory.store(image, forKey: key)
        try await cache.disk?.store(DiskCacheEntry(data: data, created: .now), forKey: key)
        #expect(cache.memory.image(forKey: key)?.size == image.size)
        #expect(await cache.disk?.entry(forKey: key)?.data == data)
        try await cache.remove(key, from: .disk)
        try await cache.removeAll(from: .all)
        let swept = try await cache.removeExpired()
        show(swept)
        let usage = await cache.usage()
        #expect(usage.entries == 0)
        #expect(cache.memory.image(forKey: key) == nil)
    }

    @Test("Images are decoded, looked into, encoded, and transformed without a manager")
    func local() throws {
        let bytes = try bench.picture(800, 600).encoded(as: .png)
        let image = try Image(data: bytes)
        let thumb = try Image(data: bytes, options: .init(thumbnailSize: .init(width: 200, height: 200)))
        #expect(thumb.size == PixelSize(width: 200, height: 150))
        let info = try ImageInfo(data: bytes)
        #expect(info.format == .png && info.size == image.size && info.frameCount == 1)
        let webp = try image.encoded(as: .webp, options: .init(quality: 0.8, maximumBytes: 50_000))
        #expect(webp.count <= 50_000)
        #expect(image.pixels.withUnsafeBytes { $0.count } >= 800 * 600 * 4)
        let rect = PixelRect(x: 10, y: 10, width: 100, height: 80)
        let out = try image.transformed(.crop(rect)).transformed(.rotate(degrees: 30)).transformed(.blur(radius: 8))
        #expect(out.size.width > 100 && out.isTransformed)
    }

    @Test("Pixels from elsewhere are turned upright by their orientation", .capability("COD-36"))
    func orientation() throws {
        let (red, blue) = (SIMD4<UInt8>(255, 0, 0, 255), SIMD4<UInt8>(0, 0, 255, 255))
        let buffer = try MutablePixelBuffer(size: PixelSize(width: 2, height: 1))
        buffer.row(0).storeBytes(of: red, as: SIMD4<UInt8>.self)
        buffer.row(0).storeBytes(of: blue, toByteOffset: 4, as: SIMD4<UInt8>.self)
        let stored = buffer.freeze()
        let (right, down) = (try stored.oriented(.right), try stored.oriented(.down))
        #expect(right.size == PixelSize(width: 1, height: 2) && right[0, 0] == red && right[0, 1] == blue)
        #expect(down.size == stored.size && down[0, 0] == blue && down[1, 0] == red)
    }

    private struct Sepia: ImageTransformer {
        let key = "sepia"
        func transform(_ image: Image) throws -> Image { image }
    }

    @Test("A program's own transformer is used like the others")
    func ownTransformer() async throws {
        var request = ImageRequest(try bench.file())
        request.transformer = Sepia()
        #expect(try await bench.manager().image(for: request).isTransformed)
    }

    @Test("An animation is played, faster, to and fro")
    func play() async throws {
        let frames = try (1...3).map { number in
            ImageFrame(pixels: try bench.picture(20, 20 * number).pixels, duration: .milliseconds(20))
        }
        #expect(Image(frames: frames) == nil, "the frames of an image have one size")
        let same = try (1...3).map { number in
            let picture = try bench.picture(20 * number).resized(to: frames[0].pixels.size)
            return ImageFrame(pixels: picture.pixels, duration: .milliseconds(20))
        }
        let gif = try #require(Image(frames: same)).encoded(as: .gif)
        let url = try bench.folder.write(gif, to: "a.gif")
        let animated = try #require(try await bench.manager().image(for: url).animation)
        let player = AnimatedImagePlayer(animated)
        player.rate = 1.5
        player.mode = .bounce
        player.loopCount = 1
        player.maximumBufferSize = .megabytes(8)
        player.play()
        var count = 0
        for await frame in player.frames {
            show(frame)
            count += 1
        }
        #expect(count >= 3)
    }

    @Test("A prefetch tells its progress")
    func prefetch() async throws {
        let urls = [try bench.file()]
        let prefetch = ImagePrefetcher(manager: try bench.manager()).prefetch(urls)
        var last = ""
        for await progress in prefetch.progress {
            last = "\(progress.finished)/\(progress.total), \(progress.skipped) skipped"
        }
        prefetch.cancel()
        #expect(last == "1/1, 0 skipped")
    }
}
