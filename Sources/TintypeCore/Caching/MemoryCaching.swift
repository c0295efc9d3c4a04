/// Keeps decoded images in memory. Every call returns at once; none suspends.
public protocol MemoryCaching: Sendable {
    /// The image under a key, which counts as used.
    func image(forKey key: ImageKey) -> Image?
    /// Whether there is an image under a key; does not count as use.
    func contains(_ key: ImageKey) -> Bool
    /// Keeps an image in place of the one that was under the key.
    func store(_ image: Image, forKey key: ImageKey)
    /// Forgets an image; true if there was one.
    @discardableResult func remove(_ key: ImageKey) -> Bool
    /// Forgets every variant of a source; tells how many there were.
    @discardableResult func removeAll(source: String) -> Int
    /// Forgets everything.
    func removeAll()
    /// Forgets the least valuable images until what is left takes at most `bytes`.
    func trim(to bytes: ByteCount)
    var statistics: CacheStatistics { get }
}

/// What a cache holds and has done since it was made.
public struct CacheStatistics: Sendable, Hashable, Codable {
    /// Images, or files, that are held.
    public var entries = 0
    /// What they take.
    public var bytes = 0
    public var hits = 0
    public var misses = 0
    public var stores = 0
    /// Entries that had to go to keep to the limits.
    public var evictions = 0
    /// Entries that were found damaged and dropped.
    public var corruptions = 0

    public init() {}

    /// Hits among all lookups, from 0 to 1; 0 before the first.
    public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }
}
