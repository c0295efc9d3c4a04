/// A cache of decoded images in memory. Every call returns at once; none suspends.
public protocol MemoryCaching: Sendable {
    /// Returns the image under a key, which counts as used.
    func image(forKey key: ImageKey) -> Image?
    /// Whether there is an image under a key; does not count as use.
    func contains(_ key: ImageKey) -> Bool
    /// Stores an image in place of the one under the key.
    func store(_ image: Image, forKey key: ImageKey)
    /// Removes an image.
    /// - Returns: false if there was none.
    @discardableResult func remove(_ key: ImageKey) -> Bool
    /// Removes every variant of a source.
    /// - Returns: the number of images that were removed.
    @discardableResult func removeAll(ofSource source: String) -> Int
    /// Removes everything.
    /// - Returns: false if there was nothing.
    @discardableResult func removeAll() -> Bool
    /// Removes the images whose time is over, which are not found before that either.
    @discardableResult func removeExpired() -> CacheSweep
    /// Purges the least valuable images until the rest takes at most `bytes`.
    func trim(to bytes: ByteCount)
    var statistics: CacheStatistics { get }
}

extension MemoryCaching {

    /// For caches where nothing expires.
    @discardableResult public func removeExpired() -> CacheSweep { CacheSweep() }
}

/// The contents of a cache, and what it has done since it was made.
public struct CacheStatistics: Sendable, Hashable, Codable {
    /// The number of images, or files.
    public var entries = 0
    /// The bytes that they take.
    public var bytes = 0
    public var hits = 0
    public var misses = 0
    public var stores = 0
    /// Entries that had to go to keep to the limits.
    public var evictions = 0
    /// Entries that were found damaged and discarded.
    public var corruptions = 0

    public init() {}

    /// Hits among all lookups, from 0 to 1; 0 before the first.
    public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }
}
