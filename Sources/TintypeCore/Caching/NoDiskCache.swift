/// A disk cache that keeps nothing: the disk of an ``ImageCache`` in memory alone.
public struct NoDiskCache: DiskCaching {
    public init() {}

    public func entry(forKey key: ImageKey) async -> DiskCacheEntry? { nil }
    public func contains(_ key: ImageKey) async -> Bool { false }
    /// Does nothing; that is no error, since nothing was to be kept on disk.
    public func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError) {}
    @discardableResult public func remove(_ key: ImageKey) async throws(ImageError) -> Bool { false }
    @discardableResult public func removeAll(source: String) async throws(ImageError) -> Int { 0 }
    public func removeAll() async throws(ImageError) {}
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheSweep { CacheSweep() }
    public func usage() async -> CacheUsage { CacheUsage() }
    public var statistics: CacheStatistics { CacheStatistics() }
}
