internal import FoundationEssentials

/// A load as it starts for a display.
package enum DisplayStart {
    /// The image is in memory.
    case image(ImageResult)
    /// The load runs. Memory may have an image that is being revalidated.
    case task(ImageTask, ImageKey, outdated: Image?)
    /// The image isn't in memory, and loads are suspended. Memory may have an image that has to be revalidated.
    case suspended(ImageKey, outdated: Image?)
}

extension ImageManager {
    /// Returns the image of a request from memory at once, or starts its load.
    package func displayLoad(_ request: ImageRequest, isSuspended: Bool) -> DisplayStart {
        let (request, environment) = preparedForDisplay(request)
        let key = environment.key(for: request)
        if !request.cache.queriesData, let hit = environment.memoryHit(request, key: key) {
            return .image(Self.memoryResult(hit, request, key: key))
        }
        let outdated = request.cachePolicy == .revalidate ? environment.memoryImage(request, key: key) : nil
        guard !isSuspended else { return .suspended(key, outdated: outdated) }
        return .task(ImageTask(request, environment), key, outdated: outdated)
    }

    /// Returns true if the source failed a short while ago, so that a load for a display would fail unless the disk has the image meanwhile.
    package func remembersFailure(of request: ImageRequest) -> Bool {
        let (request, environment) = preparedForDisplay(request)
        let key = environment.key(for: request)
        guard !request.retriesFailed, !environment.cache.memory.contains(key) else { return false }
        return environment.failure(
            ofSource: key.source, DownloadKey(request, environment).message,
            decoding: FailureMemory.Decoding(request, by: environment.ownCoder)) != nil
    }

    private func preparedForDisplay(_ request: ImageRequest) -> (ImageRequest, LoadEnvironment) {
        // Browsers show what is there of a file that ends too early. The caches have whole images only.
        var request = request
        request.decode.allowsPartialImage = true
        return prepared(request)
    }
}
