/// What the manager asks of its caches: decoded images in memory, encoded ones on disk.
public protocol ImageCaching: Sendable {
    /// The decoded image under a key; at once, without suspension.
    func memoryImage(forKey key: ImageKey) -> Image?
    /// Keeps a decoded image.
    func storeInMemory(_ image: Image, forKey key: ImageKey)
    /// The encoded image under a key.
    func entry(forKey key: ImageKey) async -> DiskCacheEntry?
    /// Keeps an encoded image.
    func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError)
    /// Which of the layers have an entry under a key.
    func contains(_ key: ImageKey, in layers: CacheLayers) async -> CacheLayers
    func remove(_ key: ImageKey, from layers: CacheLayers) async throws(ImageError)
    /// Removes every variant of a source.
    func removeAll(source: String, from layers: CacheLayers) async throws(ImageError)
    func clear(_ layers: CacheLayers) async throws(ImageError)
    /// Waits until all that was stored would survive the end of the process.
    func flush() async
}
