/// The cache for code that cannot wait asynchronously, such as a callback from C.
///
/// Nothing is ever done on the thread of an actor, so the main thread may wait too, for as long as the disk takes.
extension LayeredImageCache {
    /// ``image(forKey:in:options:)``, waited for on the calling thread. An image in memory is returned at once.
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

    /// ``entry(forKey:)``, the encoded image on disk, waited for on the calling thread.
    @available(*, noasync, message: "this blocks a thread; await entry(forKey:)")
    public func entryBlocking(forKey key: ImageKey) -> DiskCacheEntry? {
        guard hasDisk else { return nil }
        return blocking { [self] in await entry(forKey: key) }
    }
}
