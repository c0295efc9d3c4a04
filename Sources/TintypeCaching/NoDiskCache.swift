/// A disk cache that stores nothing: the disk of a ``MemoryImageCache``.
public struct NoDiskCache: DiskCaching {
    /// Creates a cache that stores nothing.
    public init() {}

    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? { nil }
    public func contains(_ key: ImageKey) async -> Bool { false }
    /// Does nothing. This isn't an error, because the program chose a cache in memory alone.
    /// - Parameters:
    ///   - entry: the encoded image with its properties.
    ///   - key: the key.
    ///   - isCurrent: the condition. Returns true to store.
    /// - Throws: Only other implementations do.
    public func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) {}
    @discardableResult public func remove(_ key: ImageKey) async throws(ImageError) -> Bool { false }
    @discardableResult public func removeAll(ofSource source: String) async throws(ImageError) -> Int { 0 }
    public func removeAll() async throws(ImageError) {}
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheUsage { CacheUsage() }
    public func usage() async -> CacheUsage { CacheUsage() }
    public var statistics: CacheStatistics { CacheStatistics() }
}
