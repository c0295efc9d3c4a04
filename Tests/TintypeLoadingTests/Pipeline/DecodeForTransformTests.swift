import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// Suggests a size, and keeps the sizes of the images that it gets.
private final class Witness: ImageTransformer {
    private let sizes = Lock<[PixelSize]>([])
    let key = "witness"
    let suggestedDecodeSize: PixelSize? = PixelSize(width: 40, height: 1)
    var seen: [PixelSize] { sizes.withLock { $0 } }

    func transform(_ image: Image) throws -> Image {
        sizes.withLock { $0.append(image.size) }
        return try image.resized(to: PixelSize(width: 20, height: 20))
    }
}

@Suite("Decoding for a transformer", .timeLimited)
struct DecodeForTransformTests {
    private let url = URL(string: "test:a")!
    private let cache = DictionaryCache()
    private let coder = MovieCoder()

    private func manager(frames: Int, side: Int = 100) -> ImageManager {
        let data = MovieCoder.bytes(frames: frames, side: side)
        return ImageManager(
            cache: cache, loader: GatedLoader { .success(LoadedData(data: data, url: $0)) },
            coders: ImageCoders([coder]))
    }

    @Test(
        "A load decodes at the size that its transformer suggests, and caches nothing else as the original",
        .capability("TRF-05"))
    func shrinks() async throws {
        let witness = Witness()
        let manager = manager(frames: 1)
        var request = ImageRequest(url)
        request.transformer = witness.then(.flip(horizontally: true))
        let image = try await manager.image(for: request)
        #expect(witness.seen == [PixelSize(width: 40, height: 40)])
        #expect(image.properties.decodeOptions == DecodeOptions())
        await manager.flush()
        #expect(cache.now.memory.keys.map(\.variant.description) == ["transform=witness|flip(horizontally)"])
        #expect(cache.now.disk.keys.map(\.variant) == [.original])
        #expect(try await manager.image(for: url).size == PixelSize(width: 100, height: 100))
        #expect(coder.decodes.map(\.coversThumbnailSize) == [true, false])
    }

    @Test("A size of the request, a smaller source, and a later transformer change nothing")
    func keeps() async throws {
        let witness = Witness()
        var request = ImageRequest(url)
        request.thumbnailSize = PixelSize(width: 10, height: 10)
        request.transformer = witness
        _ = try await manager(frames: 1).image(for: request)
        #expect(witness.seen == [PixelSize(width: 10, height: 10)])
        let later = Witness()
        request = ImageRequest(url)
        request.transformer = ImageTransformers.flip(vertically: true).then(later)
        _ = try await manager(frames: 1).image(for: request)
        #expect(later.seen == [PixelSize(width: 100, height: 100)])
        let small = Witness()
        request.transformer = small
        request.cache.key = "small"
        _ = try await manager(frames: 1, side: 30).image(for: request)
        #expect(small.seen == [PixelSize(width: 30, height: 30)])
    }

    @Test("An animation that isn't transformed keeps its size; the frames of another one are decoded smaller")
    func animations() async throws {
        let witness = Witness()
        let manager = manager(frames: 2)
        var request = ImageRequest(url)
        request.transformer = witness
        let whole = try await manager.image(for: request)
        #expect(whole.size == PixelSize(width: 100, height: 100) && witness.seen.isEmpty)
        request.transformsAnimatedImages = true
        let small = try await manager.image(for: request)
        #expect(small.size == PixelSize(width: 20, height: 20) && small.frames.count == 2)
        #expect(witness.seen == Array(repeating: PixelSize(width: 40, height: 40), count: 3))
    }

    @Test("A resize suggests twice its size, and follows the proportions of the source")
    func proportions() throws {
        let resize: any ImageTransformer = .resize(width: 400, height: 300, mode: .aspectFill).rounded(radius: 3)
        #expect(resize.suggestedDecodeSize == PixelSize(width: 800, height: 600))
        let width: any ImageTransformer = .resize(width: 400)
        #expect(width.suggestedDecodeSize == PixelSize(width: 800, height: 1))
        for none in [
            ImageTransformers.resize(width: 4, inLinearLight: true), .resize(width: .max), .sepia().resize(width: 3),
        ] {
            #expect(none.suggestedDecodeSize == nil)
        }
        let sizes = [(4_000, 3_001), (999, 777), (3, 2_000), (801, 600), (5_000, 7)].map {
            PixelSize(width: $0.0, height: $0.1)
        }
        for size in sizes {
            var options = DecodeOptions(thumbnailSize: PixelSize(width: 80, height: 1))
            options.coversThumbnailSize = true
            let decoded = options.outputSize(for: size)
            #expect(
                decoded.width <= size.width && decoded.height <= size.height && decoded.width >= min(80, size.width))
            let source = try Image(size: decoded) { _ in }.with { $0.sourceSize = size }
            let result = try source.transformed(.resize(width: 40))
            #expect(result.size.height == max(1, (80 * size.height + size.width) / (2 * size.width)), "\(size)")
        }
    }
}
