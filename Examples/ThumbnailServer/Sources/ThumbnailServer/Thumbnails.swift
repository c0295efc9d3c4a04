import Foundation
import Tintype

// snippet: server-thumbnails
/// Makes thumbnails of pictures on other servers.
struct Thumbnails: Sendable {
    private let manager: ImageManager

    init(loader: ImageDownloader, directory: String) throws {
        let cache = try ImageCache(
            memory: .init(capacity: .megabytes(200)),
            disk: .init(directory: directory, capacity: .gigabytes(5)))
        manager = ImageManager(cache: cache, loader: loader)
    }

    func webp(of url: URL, width: Int) async throws(ImageError) -> Data {
        let box = PixelSize(width: width, height: width)
        let image = try await manager.image(for: ImageRequest(url, thumbnailSize: box, cachePolicy: .http))
        return try await WorkQueue.processing.perform { (_) throws(ImageError) in
            try image.encoded(as: .webp, options: EncodeOptions(quality: 0.8))
        }
    }
}
// snippet.end
