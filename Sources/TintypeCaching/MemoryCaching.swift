/// A cache of decoded images in memory. Every call returns immediately, without suspending.
///
/// Its methods are called from any thread, including the main thread, and several at once.
public protocol MemoryCaching: Sendable {
    /// Returns the image under a key, and counts it as used.
    /// - Parameter key: the key.
    func image(forKey key: ImageKey) -> Image?
    /// Returns true if there is an image under a key. Doesn't count as a use.
    /// - Parameter key: the key.
    func contains(_ key: ImageKey) -> Bool
    /// Stores an image if a condition holds, and replaces the previous image under the key. A removal must not happen between the check of
    /// the condition and the store. The condition must not use the cache.
    /// - Parameters:
    ///   - image: the image.
    ///   - key: the key.
    ///   - isCurrent: the condition. Returns true to store.
    func store(_ image: Image, forKey key: ImageKey, while isCurrent: @Sendable () -> Bool)
    /// Removes an image.
    /// - Parameter key: the key.
    /// - Returns: false if there was none.
    @discardableResult func remove(_ key: ImageKey) -> Bool
    /// Removes every variant of a source.
    /// - Parameter source: the source: the key of its original.
    /// - Returns: the number of images that were removed.
    @discardableResult func removeAll(ofSource source: String) -> Int
    /// Removes everything.
    /// - Returns: false if there was nothing.
    @discardableResult func removeAll() -> Bool
    /// Removes the images whose time to live has passed. Lookups never return them, even before that.
    @discardableResult func removeExpired() -> CacheUsage
    /// Purges the least valuable images until the rest use at most `bytes`.
    /// - Parameter bytes: the capacity that remains.
    func trim(to bytes: ByteCount)
    /// The hits, misses, stores, and contents of the cache.
    var statistics: CacheStatistics { get }
}

extension MemoryCaching {
    /// Stores an image and replaces the previous image under the key.
    /// - Parameters:
    ///   - image: the image.
    ///   - key: the key.
    public func store(_ image: Image, forKey key: ImageKey) { store(image, forKey: key) { true } }

    /// The default for caches without expiration: does nothing.
    @discardableResult public func removeExpired() -> CacheUsage { CacheUsage() }
}

/// The contents of a cache, and counts of its events since it was created.
public struct CacheStatistics: Sendable, Hashable, Codable {
    /// The number of images or files.
    public var entries = 0
    /// The number of bytes that they use.
    public var bytes = 0
    /// The number of lookups that found an image.
    public var hits = 0
    /// The number of lookups that found nothing.
    public var misses = 0
    /// The number of stored images.
    public var stores = 0
    /// The number of entries that were evicted to keep to the limits.
    public var evictions = 0
    /// The number of entries that were damaged and discarded.
    public var corruptions = 0

    /// Creates statistics of an empty, unused cache.
    public init() {}

    /// The fraction of lookups that were hits, from 0 to 1; 0 before the first lookup.
    public var hitRatio: Double {
        let lookups = Double(hits) + Double(misses)
        return lookups == 0 ? 0 : Double(hits) / lookups
    }
}
