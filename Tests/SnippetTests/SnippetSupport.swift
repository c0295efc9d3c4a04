import Tintype
import TintypeTesting

/// Stands for the part of a program that shows or sends an image.
func show(_ value: some Any) {}

/// Answers every load with the bytes that it was made with, or fails if it has none.
struct FixedLoader: ImageLoading {
    var data: Data?

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        guard let data else { throw ImageError(.connectionFailed, stage: .load, reason: "this loader has nothing") }
        return LoadedData(data: data, url: request.url)
    }
}

/// The pictures and caches that snippets work with.
struct SnippetBench {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    func cache(_ name: String = "cache") throws -> ImageCache {
        try ImageCache(disk: .init(directory: folder.path + "/" + name, minimumFreeSpace: 0))
    }

    func manager(_ data: Data? = nil) throws -> ImageManager {
        ImageManager(
            cache: try cache(), loader: ImageLoaders([FixedLoader(data: data), DataURLLoader(), FileLoader()]))
    }

    func picture(_ width: Int = 80, _ height: Int = 60) throws -> Image {
        try Image(size: PixelSize(width: width, height: height), isOpaque: true) {
            surface in
            surface.fill(PixelColor(red: 0.8, green: 0.4, blue: 0.1), x: width / 2)
        }
    }

    func file(_ width: Int = 800, _ height: Int = 600) throws -> URL {
        try folder.write(try picture(width, height).encoded(as: .png), to: "photo.png")
    }
}
