import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Thumbnails for a server", .timeLimited)
struct EncodedThumbnailTests {
    private let folder = try! TemporaryDirectory()

    private func manager(_ loader: any ImageLoading) throws -> ImageManager {
        ImageManager(cache: try ImageCache(disk: .init(directory: folder.path + "/cache")), loader: loader)
    }

    private func request(_ url: URL) -> ImageRequest {
        var request = ImageRequest(url, thumbnailSize: PixelSize(width: 32, height: 32))
        request.cache.waitsForStore = true
        return request
    }

    @Test(
        "A thumbnail in each format comes back from disk byte for byte",
        arguments: [ImageFormat.jpeg, .png, .webp, .gif])
    func formats(format: ImageFormat) async throws {
        let url = try #require(URL(string: "test:/photo"))
        let loader = TestLoader([url: .data(try Gradients.data(.jpeg))])
        let made = try await manager(loader).encoded(for: request(url), as: format)
        let stored = try await manager(loader).encoded(for: request(url), as: format)
        #expect(made.info.format == format && made.mimeType == format.mimeType && made.info.size.width == 32)
        #expect(stored.source == .disk && stored.data == made.data && stored.info == made.info)
        #expect(try Image(data: made.data).size == made.info.size && loader.requestCount() == 1)
    }

    @Test(
        "A thumbnail that is made of a larger one has the size of one that is made of the original",
        .capability("CQU-10"))
    func sizeOfThumbnailOfThumbnail() async throws {
        let url = try #require(URL(string: "test:/tall"))
        let loader = TestLoader([url: .data(try Gradients.image(width: 325, height: 1_000).encoded(as: .png))])
        var request = ImageRequest(url, thumbnailSize: PixelSize(width: 100, height: 100))
        request.cache.storesVariant = true
        request.cache.waitsForStore = true
        let first = try manager(loader)
        // Half a column more than the proportions have.
        #expect(try await first.image(for: request).size == PixelSize(width: 33, height: 100))
        try await first.removeCachedImage(for: ImageRequest(url), from: .disk)
        request.thumbnailSize = PixelSize(width: 50, height: 50)
        let small = try await manager(loader).image(for: request)
        #expect(small.size == PixelSize(width: 16, height: 50) && small.sourceSize?.height == 1_000)
        #expect(loader.requestCount() == 1)
    }

    @Test("The thumbnail of a file is made again when the file changes")
    func changedFile() async throws {
        let url = try folder.write(try Gradients.data(.png), to: "a.png")
        let manager = try manager(FileLoader())
        let request = request(url)
        // Memory doesn't know that a file has changed.
        _ = try await manager.image(for: request)
        let first = try await manager.encoded(for: request, as: .png)
        #expect(try await manager.encoded(for: request, as: .png).source == .disk)
        let pixels = try MutablePixelBuffer(size: PixelSize(width: 9, height: 7), cleared: true).freeze()
        let other = Image(pixels: pixels)
        _ = try folder.write(try other.encoded(as: .png), to: "a.png")
        let second = try await manager.encoded(for: request, as: .png)
        #expect(second.info.size == PixelSize(width: 9, height: 7) && second.data != first.data)
    }

    @Test("What its server forbids to store is sent, and not stored")
    func noStore() async throws {
        let url = try #require(URL(string: "test:/private"))
        var answer = LoadedData(data: try Gradients.data(.png), url: url, statusCode: 200)
        answer.headers = ["Cache-Control": "no-store"]
        let sent = answer
        struct Loader: ImageLoading {
            let answer: LoadedData
            func canLoad(_ url: URL) -> Bool { true }
            func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData { answer }
        }
        let manager = try manager(Loader(answer: sent))
        var request = request(url)
        request.cachePolicy = .http
        for _ in 0..<2 {
            #expect(try await manager.encoded(for: request, as: .webp).source == .network)
        }
        await manager.flush()
        #expect(await manager.cache.usage(of: .disk).entries == 0)
    }
}
