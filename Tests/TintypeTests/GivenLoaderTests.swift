import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Loaders that a program gives", .timeLimited)
struct GivenLoaderTests {
    #if HTTP
    @Test("A guarded loader guards everything: files and data are not loaded unless the program asks for them")
    func guarded() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.png"
        let data = try Gradients.image(width: 64).encoded(as: .png)
        try data.write(to: URL(filePath: path))
        let sources = [
            URL(filePath: path), try ImageRequest(string: "data:;base64,\(data.base64EncodedString())").url,
        ]
        let guarded = ImageDownloader(.untrustedURLs)
        let manager = ImageManager(cache: ImageCache(), loader: guarded)
        for url in sources {
            let error = await #expect(throws: ImageError.self) { try await manager.load(url) }
            #expect(error?.code == .invalidURL)
            let bytes = await #expect(throws: ImageError.self) { try await manager.data(for: ImageRequest(url)) }
            #expect(bytes?.code == .invalidURL)
        }
        let open = ImageManager(
            cache: ImageCache(), loader: ImageLoaders([DataURLLoader(), FileLoader(), guarded]))
        for url in sources { #expect(try await open.load(url).data == data) }
        // Without a loader of the program's, all of them load.
        let plain = ImageManager(cache: ImageCache())
        for url in sources { #expect(try await plain.load(url).data == data) }
    }
    #endif

    #if SVG
    @Test(
        "SVG in data: URLs has its colors, encoded or not",
        arguments: [
            #"data:image/svg+xml;utf8,<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="%23c81e3c"/></svg>"#,
            "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='8' height='8'%3E%3Crect width='100%' height='8' "
                + "fill='%23c81e3c'/%3E%3C/svg%3E",
        ])
    func drawing(_ text: String) async throws {
        let image = try await ImageManager(cache: ImageCache()).image(for: ImageRequest(string: text))
        #expect(image.size == PixelSize(width: 8, height: 8))
        #expect(image.pixels[4, 4] == [0xC8, 0x1E, 0x3C, 0xFF])
    }
    #endif
}
