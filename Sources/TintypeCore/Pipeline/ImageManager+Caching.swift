public import FoundationEssentials
internal import Logging

/// The caches by requests, as loads use them.
extension ImageManager {
    /// Keeps an image where a load of the request would, and looks for it: in the layers of its `storeTo`.
    /// - Parameter data: the encoded bytes for the disk; without them the image is encoded as the request's `encode` says.
    ///   Of a thumbnail or a transformed image the disk is asked by requests with ``ImageRequest/storesVariant`` alone.
    /// - Throws: ``ImageError/Code/encodeFailed``, ``ImageError/Code/formatNotEncodable``,
    ///   ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``. The image is in memory even then.
    public func store(_ image: Image, data: Data? = nil, for request: ImageRequest) async throws(ImageError) {
        let request = prepared(request)
        let key = key(forPrepared: request)
        if request.storeTo.contains(.memory) { cache.storeInMemory(image, forKey: key) }
        guard request.storeTo.contains(.disk) else { return }
        let entry: DiskCacheEntry
        if let data {
            entry = DiskCacheEntry(
                data: data, created: configuration.date(), mimeType: ImageFormat(sniffing: data)?.mimeType)
        } else {
            entry = try await encodedEntry(image, request, priority: WorkPriority(request.priority))
        }
        try await cache.store(entry, forKey: key)
    }

    /// Which caches have the image of a request; not of the original that it could be made of.
    public func cachedLayers(for request: ImageRequest) async -> CacheLayers {
        await cache.contains(key(for: request), in: .all)
    }

    /// Forgets the image of a request, and nothing else that was made of its source; ``removeAll(of:)`` does that.
    /// - Returns: whether there was one.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``
    @discardableResult public func removeCachedImage(
        for request: ImageRequest, from layers: CacheLayers = .all
    ) async throws(ImageError) -> Bool {
        let key = key(for: request)
        return try await cache.remove(key, from: layers)
    }

    // MARK: The end of a program

    /// Gives back the space of entries on disk that have ended. Limits hold and such entries are not found without this, so it is
    /// no more than tidiness: for a program whose window was hidden, or a server once a day.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheSweep {
        try await cache.removeExpired()
    }

    /// Leaves everything in order for the end of the program, on `SIGTERM` say: ends all loads, waits until what came is on
    /// disk, gives back the space of what has ended, and writes what reading left to write.
    ///
    /// Does all of it even if the calling task is cancelled, as tasks are at the end. A load that begins later goes on as
    /// ever. A sweep that fails is logged, and nothing else: the next one makes up for it.
    /// - Parameter removingExpired: false leaves entries that have ended to the next sweep.
    public func shutdown(removingExpired: Bool = true) async {
        await Task { [self] in
            cancelAll()
            await stores.wait()
            if removingExpired {
                do throws(ImageError) {
                    try await cache.removeExpired()
                } catch {
                    logger.warning("the cache was not swept: \(error)")
                }
            }
            await cache.flush()
        }.value
    }
}
