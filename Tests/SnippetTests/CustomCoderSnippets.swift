import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

// snippet: custom-coder
extension ImageFormat {
    nonisolated static let bars = ImageFormat(rawValue: "bars")
}

/// Reads a format of gray bars: the bytes "bars", a width, a height, and one byte for each row.
struct BarsCoder: ImageCoder {
    var decodableFormats: Set<ImageFormat> { [.bars] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { data.starts(with: Data("bars".utf8)) }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        guard data.count >= 6 else {
            throw ImageError(.truncatedImage, stage: .decode, reason: "the header ends early")
        }
        let bytes = [UInt8](data.prefix(6))
        return ImageInfo(
            format: .bars, size: PixelSize(width: Int(bytes[4]), height: Int(bytes[5])), hasAlpha: false)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let info = try info(of: data, context: context)
        let output = options.outputSize(for: info.displaySize)
        try context.limits.check(size: info.size, output: output)  // before memory is allocated
        let rows = [UInt8](data.dropFirst(6))
        guard rows.count >= info.size.height else {
            throw ImageError(.truncatedImage, stage: .decode, reason: "the last rows are missing")
        }
        var sink = try RowSink(stored: info.size, output: output, context: context)
        for gray in rows.prefix(info.size.height) {
            let row = sink.rowToFill()  // premultiplied RGBA
            for x in 0..<info.size.width {
                row.storeBytes(of: SIMD4(gray, gray, gray, 255), toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
            try sink.commitRow()  // resamples the row for a thumbnail
        }
        return Image(pixels: try sink.finish())
    }
}
// snippet.end

@Suite("Snippets: adding a format, a loader and a transformer", .timeLimited)
struct ExtendingSnippets {
    @Test("A custom coder reads its own format", .capability("COD-01", "PLG-03"))
    func coder() throws {
        var coders = ImageCoders.default
        coders.add(BarsCoder())
        let context = ProcessingContext()
        let bytes = Data("bars\u{2}\u{1}\u{9}".utf8)
        let image = try coders.decode(bytes, options: DecodeOptions(), context: context)
        #expect(image.size == PixelSize(width: 2, height: 1))
        #expect(image.pixels[1, 0] == SIMD4(9, 9, 9, 255))
        for count in 4..<bytes.count {
            #expect(throws: ImageError.self) {
                try coders.decode(bytes.prefix(count), options: DecodeOptions(), context: context)
            }
        }
    }

    @Test("A manager uses a custom coder")
    func manager() async throws {
        let bench = try SnippetBench()
        let (cache, loader) = (try bench.cache(), FixedLoader(data: Data("bars\u{2}\u{1}\u{9}".utf8)))
        // snippet: use-coder
        let manager = ImageManager(cache: cache, loader: loader)
        manager.coders.add(BarsCoder())  // for the loads that start afterwards
        // snippet.end
        let image = try await manager.image(for: try #require(URL(string: "https://example.org/a.bars")))
        #expect(image.size == PixelSize(width: 2, height: 1))
    }

    @Test("A custom transformer changes the decoded image")
    func transformer() async throws {
        // snippet: transformer
        struct Dimmed: ImageTransformer {
            let factor: Float
            var key: String { "dimmed=\(factor)" }

            func transform(_ image: Image) throws -> Image {
                try Image(size: image.size, isOpaque: true) { surface in
                    try surface.draw(image)
                    surface.fill(PixelColor(red: 0, green: 0, blue: 0, alpha: 1 - factor))
                }
            }
        }
        // snippet.end
        let white = try Image(size: PixelSize(width: 4, height: 4)) { $0.fill(.white) }
        let gray = try Dimmed(factor: 0.5).transform(white).pixels[1, 1].x
        #expect(gray == 127 || gray == 128)
    }
}
