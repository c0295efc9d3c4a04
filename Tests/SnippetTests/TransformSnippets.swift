import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Snippets: transformers, colors, placeholders", .timeLimited)
struct TransformSnippets {
    let bench: SnippetBench

    init() throws { bench = try SnippetBench() }

    @Test("A request has a sequence of transformers", .capability("TRF-02", "TRF-03"))
    func request() async throws {
        let (manager, url) = (try bench.manager(), try bench.file())
        // snippet: transform-request
        var request = ImageRequest(url)
        request.transformer = .resize(width: 400, height: 300, mode: .aspectFill, position: .smart).rounded(radius: 12)
        let image = try await manager.image(for: request)
        // snippet.end
        #expect(image.size == PixelSize(width: 400, height: 300) && image.hasAlpha)
    }

    @Test("Transformers work without a manager")
    func transform() throws {
        let (photo, logo) = (try bench.picture(), try bench.picture(8, 8))
        // snippet: transform
        let card = try photo.transformed(
            .crop(aspectRatio: 16.0 / 9)
                .resize(width: 320)
                .contrast(1.1).saturation(1.2)
                .overlay(logo, anchor: .bottomRight, offsetX: -8, offsetY: -8, opacity: 0.6)
                .rounded(radius: 10, borderWidth: 2, borderColor: .white))
        let backdrop = try photo.transformed(.resize(width: 320).blur(radius: 24).brightness(0.7))
        // snippet.end
        #expect(card.size.width == 320 && backdrop.size.width == 320)
    }

    @Test("A custom transformer ends when its result is no longer needed")
    func custom() throws {
        // snippet: transform-custom
        struct Checkerboard: ImageTransformer {
            let side: Int
            var key: String { "checkerboard(\(side))" }  // every parameter

            func transform(_ image: Image) throws -> Image {
                try Image(size: image.size) { surface in
                    try surface.draw(image)
                    for y in stride(from: 0, to: image.size.height, by: side) {
                        try ProcessingContext.current.checkCancellation()
                        for x in stride(from: y / side % 2 * side, to: image.size.width, by: 2 * side) {
                            surface.replace(x: x, y: y, size: PixelSize(width: side, height: side))
                        }
                    }
                }
            }
        }
        // snippet.end
        let image = try bench.picture().transformed(Checkerboard(side: 4))
        #expect(image.color(x: 0, y: 0) == .clear && image.color(x: 4, y: 0)?.alpha == 1)
    }

    @Test("Colors of an image", .capability("TRF-12", "TRF-13"))
    func colors() throws {
        let image = try bench.picture()
        // snippet: colors
        let accent = try image.dominantColors(count: 3).first  // k-means in OKLab
        let average = try image.averageColor()
        let corner = image.color(x: 0, y: 0)
        print(accent?.hex ?? "none", average.hex, corner?.hex ?? "none")  // #rrggbb
        let tinted = try image.transformed(.tint(PixelColor(hex: "#3366cc"), mode: .color))
        // snippet.end
        #expect(accent != nil && tinted.size == image.size)
    }

    @Test("Placeholders are made, and drawn")
    func placeholders() throws {
        let image = try bench.picture()
        // snippet: placeholders
        let blurHash = try BlurHash(image)
        let thumbHash = try ThumbHash(image)
        print(blurHash.string, thumbHash.base64)  // 28 and up to 40 characters, to store with the URL

        let blurred = try BlurHash(blurHash.string).image(size: PixelSize(width: 32, height: 24))
        let proportional = try ThumbHash(base64: thumbHash.base64).image()  // has the proportions
        let preview = try image.encodedPreview(using: ImageCoders.default)  // a WebP of some hundred bytes
        // snippet.end
        #expect(blurred.size.width == 32 && proportional.size.width == 32 && preview.count < 600)
        #expect(try Image(data: preview).size.width == 24)
    }
}
