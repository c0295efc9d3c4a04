import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Snippets: README and getting started", .timeLimited)
struct StartingSnippets {
    /// Compiled, not run: it asks a server of the web.
    func readme() async throws {
        // snippet: readme
        var request = ImageRequest(URL(string: "https://example.org/photo.jpg")!)
        request.thumbnailSize = PixelSize(width: 400, height: 300)  // in pixels
        let image = try await ImageManager.shared.image(for: request)

        image.pixels.withUnsafeBytes { rgba in
            // Premultiplied RGBA, 8 bits per component. Rows are image.pixels.bytesPerRow apart.
            // snippet.hide
            show(rgba.count)
            // snippet.show
        }
        let webp = try image.encoded(as: .webp, options: EncodeOptions(quality: 0.8))
        // snippet.end
        show(webp)
    }

    /// Compiled, not run: it asks a server of the web.
    func overview(url: URL) async throws {
        // snippet: overview
        let image = try await ImageManager.shared.image(for: url)
        // snippet.end
        show(image)
    }

    @Test("A thumbnail is decoded at its size")
    func firstImage() async throws {
        let bench = try SnippetBench()
        let (manager, url) = (try bench.manager(), try bench.file())
        // snippet: first-image
        var request = ImageRequest(url)
        request.thumbnailSize = PixelSize(width: 400, height: 300)
        let image = try await manager.image(for: request)
        image.pixels.withUnsafeBytes { rgba in
            // Premultiplied RGBA, 8 bits per component. Rows are image.pixels.bytesPerRow apart.
            // snippet.hide
            #expect(rgba.count == image.pixels.bytesPerRow * 300)
            // snippet.show
        }
        // snippet.end
        #expect(image.size == PixelSize(width: 400, height: 300))
    }
}
