import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Images that a program stores", .timeLimited)
struct StoredImageTests {
    private let folder = try! TemporaryDirectory()

    /// The bytes on disk after an image was stored without any.
    private func stored(
        _ image: Image, coders: ImageCoders = .default, _ change: (inout ImageRequest) -> Void = { _ in }
    ) async throws -> Data {
        let manager = ImageManager(
            cache: try ImageCache(disk: .init(directory: folder.path + "/cache")), loader: TestLoader(), coders: coders)
        var request = ImageRequest(try #require(URL(string: "test:/stored")), cachePolicy: .cacheOnly)
        change(&request)
        try await manager.store(image, for: request)
        await manager.flush()
        return try await manager.data(for: request).data
    }

    @Test("An animation is stored as the bytes that it was decoded from, unless it was changed", .capability("CST-05"))
    func animations() async throws {
        let picture = try Gradients.image()
        let pictures = try [picture, picture.transformed(.flip(horizontally: true)), picture.transformed(.sepia())]
        let frames = pictures.map { ImageFrame($0, duration: .milliseconds(80)) }
        let data = try #require(Image(frames: frames)).encoded(as: .webp)
        let image = try Image(data: data)
        #expect(image.isAnimated)
        #expect(try image.encoded(as: .webp) != data, "colors are lost each time")
        #expect(try await stored(image) == data)
        #expect(try await stored(image) { $0.cache.encoding.quality = 0.3 } != data)
        #expect(try await stored(image, coders: ImageCoders([PNGCoder()])) != data)

        var (repeated, described) = (image, image)
        repeated.loopCount += 4
        described.metadata = ImageMetadata(xmp: Data("<x/>".utf8))
        let enlarged = try image.resized(to: PixelSize(width: 128, height: 96))
        for changed in [repeated, described, enlarged, try image.transformed(.blur(radius: 1)), image.firstFrame] {
            #expect(try await stored(changed) != data)
        }
    }
}
