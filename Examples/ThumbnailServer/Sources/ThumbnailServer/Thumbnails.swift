import Foundation
import Tintype

// snippet: server-thumbnails
/// Makes thumbnails of pictures on other servers.
struct Thumbnails: Sendable {
    private let manager: ImageManager

    init(loader: ImageDownloader, directory: String) throws {
        let cache = try ImageCache(disk: .init(directory: directory, capacity: .gigabytes(5)))
        manager = ImageManager(cache: cache, loader: loader)
    }

    func webp(of url: String, width: Int) async throws(ImageError) -> Data {
        var request = try ImageRequest(string: url)
        request.thumbnailSize = PixelSize(width: width, height: width)
        request.cachePolicy = .http
        request.cache.store = .disk  // Later answers need the WebP, not its pixels.
        return try await manager.encoded(for: request, as: .webp, options: EncodeOptions(quality: 0.8)).data
    }
}
// snippet.end
