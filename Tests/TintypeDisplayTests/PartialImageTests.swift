import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeDisplay
@testable import TintypeImages
@testable import TintypeLoading

/// Reads files that end too early, if a part of an image is allowed.
private struct CutCoder: ImageCoder {
    var decodableFormats: Set<ImageFormat> { [] }
    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }
    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        ImageInfo(format: .gif, size: PixelSize(width: 4, height: 4), hasAlpha: false, isComplete: false)
    }
    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        guard options.allowsPartialImage else {
            throw ImageError(.truncatedImage, stage: .decode, reason: "the file ends too early")
        }
        return Image.square(4).with { $0.isPartial = true }
    }
}

@MainActor
@Suite("Displaying files that end too early", .timeLimited)
struct PartialImageTests {
    private let url = URL(string: "test:cut")!

    @Test("A display shows what is there, and a load without a display fails; nothing is cached", .capability("3.8"))
    func partialImage() async throws {
        let loader = GatedLoader()
        let manager = ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([CutCoder()]))
        let display = RecordingDisplay(manager)
        for round in 1...2 {
            let load = display.setImage(url)
            await loader.arrival(of: round)
            loader.answer(round - 1, with: .success(.dot(size: 8)))
            #expect(try await load.result.get().image.isPartial)
            #expect(display.shown[.image]?.image.isPartial == true)
        }
        let task = manager.task(for: ImageRequest(url))
        await loader.arrival(of: 3)
        loader.answer(2, with: .success(.dot(size: 8)))
        let error = await #expect(throws: ImageError.self) { try await task.image }
        #expect(error?.code == .truncatedImage)
    }

    @Test("Whole images are the same for a display and for a load: one entry in memory")
    func sharedEntry() async throws {
        let loader = GatedLoader()
        let manager = ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([DotCoder()]))
        let display = RecordingDisplay(manager)
        let load = display.setImage(url)
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot(size: 8)))
        #expect(try await load.result.get().image.isIdentical(to: #require(display.shown[.image]?.image)))
        #expect(try await manager.cachedImage(for: url) != nil)
        _ = try await manager.image(for: url)
        #expect(loader.calls.count == 1)
    }

    @Test("A part of an image takes the place of no whole image in the caches", .capability("3.8"))
    func keepsWhole() async throws {
        let (loader, cache) = (GatedLoader(), DictionaryCache())
        let manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([CutCoder(), DotCoder()]))
        loader.answer(0, with: .success(.dot(size: 8)))
        loader.answer(1, with: .success(LoadedData(data: Data("cut".utf8), url: url)))
        _ = try await manager.image(for: url)
        await manager.flush()
        let display = RecordingDisplay(manager)
        let load = display.setImage(ImageRequest(url, cachePolicy: .reload))
        #expect(try await load.result.get().image.isPartial)
        await manager.flush()
        #expect(manager.memoryImage(for: url)?.size.width == 8 && cache.now.disk.count == 1)
    }

    @Test("A part of an image stays one when a transformer keeps nothing else")
    func transformed() throws {
        struct Plain: ImageTransformer {
            let key = "plain"
            var preservesMetadata: Bool { false }
            func transform(_ image: Image) throws -> Image { Image(pixels: image.pixels) }
        }
        #expect(try Image.square(4).with { $0.isPartial = true }.transformed(Plain()).isPartial)
        #expect(try !Image.square(4).transformed(Plain()).isPartial)
    }
}
