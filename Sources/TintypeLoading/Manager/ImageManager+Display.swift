internal import FoundationEssentials

/// A load as it starts for a display.
package enum DisplayStart {
    /// The image is in memory.
    case image(ImageResult)
    /// The load runs. Memory may have an image that is being revalidated.
    case task(ImageTask, ImageKey, outdated: Image?)
    /// The image isn't in memory, and loads are suspended.
    case suspended(ImageKey)
}

extension ImageManager {
    /// Returns the image of a request from memory at once, or starts its load.
    package func displayLoad(_ request: ImageRequest, isSuspended: Bool) -> DisplayStart {
        // Browsers show what is there of a file that ends too early. The caches have whole images only.
        var wanted = request
        wanted.decode.allowsPartialImage = true
        let (request, environment) = prepared(wanted)
        let key = environment.key(for: request)
        if !request.cache.queriesData, let hit = environment.memoryHit(request, key: key) {
            return .image(Self.memoryResult(hit, request, key: key))
        }
        guard !isSuspended else { return .suspended(key) }
        let outdated = request.cachePolicy == .revalidate ? environment.memoryImage(request, key: key) : nil
        return .task(ImageTask(request, environment), key, outdated: outdated)
    }
}
