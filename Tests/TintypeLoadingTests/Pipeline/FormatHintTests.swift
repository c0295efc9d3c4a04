import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Format hints", .timeLimited)
struct FormatHintTests {
    /// Reads anything that is called a camera file, and nothing else.
    private struct CameraCoder: ImageCoder {
        var decodableFormats: Set<ImageFormat> { [.raw] }

        func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
            ImageInfo(format: .raw, size: PixelSize(width: 2, height: 1), hasAlpha: false)
        }

        func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
            let pixels = try MutablePixelBuffer(size: PixelSize(width: 2, height: 1), cleared: true).freeze()
            return Image(pixels: pixels).with { $0.format = .raw }
        }
    }

    private func load(_ name: String, _ change: (inout ImageRequest) -> Void = { _ in }) async throws -> ImageFormat? {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: name)
        // The beginning of a TIFF, as most camera files have.
        try Data([0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 0, 0]).write(to: file)
        let manager = ImageManager(
            cache: DictionaryCache(), loader: FileLoader(), coders: ImageCoders([CameraCoder()]))
        var request = ImageRequest(file)
        change(&request)
        return try await manager.image(for: request).format
    }

    @Test(
        "A URL's ending tells a camera file from a TIFF", .capability("CTX-13", "COD-49"),
        arguments: ["a.nef", "b.DNG", "c.cr3", "shot #1.nef", "why?.dng", "50 %.cr3"])
    func ending(name: String) async throws {
        #expect(try await load(name) == .raw)
        #expect(try await load(name) { $0.isProgressive = true } == .raw)
        #expect(ImageFormat.hint(fileName: "/photos/" + name) == .raw)
    }

    @Test("Without such an ending the bytes tell, and a hint of the request goes first", .capability("CTX-13"))
    func others() async throws {
        await #expect(throws: ImageError.self) { try await load("a.tif") }
        await #expect(throws: ImageError.self) { try await load("a.nef") { $0.decode.formatHint = .png } }
        #expect(try await load("a.tif") { $0.decode.formatHint = .raw } == .raw)
    }

    @Test(
        "An ending becomes a hint where it tells more than the bytes; any other is left out", .capability("COD-14"),
        arguments: [
            ("photo.nef", ImageFormat.raw), ("photo.unknown", nil), ("photo", nil), ("photo.png", nil),
        ] as [(String, ImageFormat?)])
    func extensionHint(name: String, hint: ImageFormat?) async throws {
        let coder = MovieCoder()
        let manager = ImageManager(
            cache: DictionaryCache(),
            loader: GatedLoader { .success(LoadedData(data: MovieCoder.bytes(frames: 1), url: $0)) },
            coders: ImageCoders([coder]))
        var request = ImageRequest(try #require(URL(string: "test:/dir.cr2/\(name)?a=b.dng")))
        _ = try await manager.image(for: request)
        #expect(coder.decodes.last?.formatHint == hint)
        request.decode.formatHint = .tiff
        _ = try await manager.image(for: request)
        #expect(coder.decodes.last?.formatHint == .tiff, "the request's own goes first")
    }
}
