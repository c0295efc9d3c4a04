/// Methods for code that cannot `await`, such as a callback from C.
///
/// The caches never work on an actor's thread, so even the main thread may wait, for as long as the disk takes.
extension LayeredImageCache {
    /// Calls ``image(forKey:in:options:)`` and blocks the calling thread until the result is available. Returns an image in
    /// memory at once.
    /// - Parameters:
    ///   - key: the key of the encoded image.
    ///   - layers: the layers to look in.
    ///   - options: the options to decode with.
    /// - Returns: the image, and the layer that contained it; `nil` if neither does.
    @available(*, noasync, message: "this blocks a thread; await image(forKey:in:options:)")
    public func imageBlocking(
        forKey key: ImageKey, in layers: CacheLayers = .all, options: DecodeOptions = DecodeOptions()
    ) -> CachedImage? {
        if layers.contains(.memory), let image = memoryImage(forKey: key, options: options) {
            return CachedImage(image: image, source: .memory)
        }
        guard layers.contains(.disk), hasDisk else { return nil }
        return blocking { [self] in await image(forKey: key, in: layers, options: options) }
    }

    /// Calls ``entry(forKey:)`` for the encoded image on disk and blocks the calling thread until the result is available.
    @available(*, noasync, message: "this blocks a thread; await entry(forKey:)")
    public func entryBlocking(forKey key: ImageKey) -> DiskCacheEntry? {
        guard hasDisk else { return nil }
        return blocking { [self] in await entry(forKey: key) }
    }
}
