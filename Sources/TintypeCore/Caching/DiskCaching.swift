public import FoundationEssentials

/// A cache of encoded images on disk, or anywhere that outlives the process.
///
/// An entry is seen whole or not at all, by this process and any other. The methods do their work on threads of their
/// own: none blocks the caller's executor.
public protocol DiskCaching: Sendable {
    /// Returns the entry under a key, which counts as used; `nil` if there is none, or if it was damaged (and is discarded).
    func entry(forKey key: ImageKey) async -> DiskCacheEntry?
    /// Returns the entry under a key, reading it before less urgent ones. The priority may change while the read waits.
    func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry?
    /// Returns the path of the file of an entry, which may only be read; `nil` if there is none. Does not count as use.
    func path(forKey key: ImageKey) async -> String?
    /// Whether there is an entry; does not count as use.
    func contains(_ key: ImageKey) async -> Bool
    /// Stores an entry in place of the one under the key. When the call returns, the entry survives the end of the process.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``; what was there before is
    ///   then still there, or gone, but never half new.
    func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError)
    /// Removes an entry.
    /// - Returns: false if there was none.
    @discardableResult func remove(_ key: ImageKey) async throws(ImageError) -> Bool
    /// Returns the variants of a source, the original among them.
    func variants(ofSource source: String) async -> [ImageVariant]
    /// Removes every variant of a source.
    /// - Returns: the number of entries that were removed.
    @discardableResult func removeAll(ofSource source: String) async throws(ImageError) -> Int
    /// Removes everything.
    func removeAll() async throws(ImageError)
    /// Removes what is older than the configured age.
    @discardableResult func removeExpired() async throws(ImageError) -> CacheSweep
    /// Returns the number of entries and their bytes; O(1), without a look at the directory.
    func usage() async -> CacheUsage
    /// The cache's statistics since it was opened.
    var statistics: CacheStatistics { get }
    /// Waits until everything that was asked for before is on disk.
    func flush() async
}

extension DiskCaching {
    /// For caches that keep nothing back.
    public func flush() async {}

    /// For caches that know no priorities.
    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        await entry(forKey: key)
    }

    /// For caches without files.
    public func path(forKey key: ImageKey) async -> String? { nil }

    /// For caches that keep no list.
    public func variants(ofSource source: String) async -> [ImageVariant] { [] }
}

/// An encoded image with what is known of it.
public struct DiskCacheEntry: Sendable, Equatable {
    /// The encoded image.
    public var data: Data
    /// When the entry was stored.
    public var created: Date
    /// When the entry stops being valid, if it has an end of its own.
    public var expires: Date?
    /// How long the entry stays valid after it was stored or read last: each read extends it. ``expires``, if there is
    /// one, ends it all the same. From zero on; `nil` for no such end.
    public var idleLifetime: Duration?
    public var mimeType: String?
    public var validators: CacheValidators?
    /// A program's own bytes, kept with the image.
    public var extendedData: Data?
    /// The properties of a thumbnail or transformed image that its bytes don't tell. Written and read by ``ImageManager``.
    public var imageProperties: Data?

    public init(
        data: Data, created: Date, expires: Date? = nil, mimeType: String? = nil, validators: CacheValidators? = nil,
        extendedData: Data? = nil, idleLifetime: Duration? = nil, imageProperties: Data? = nil
    ) {
        self.imageProperties = imageProperties
        self.data = data
        self.created = created
        self.expires = expires
        self.mimeType = mimeType
        self.validators = validators
        self.extendedData = extendedData
        self.idleLifetime = idleLifetime
    }
}

/// The contents of a disk cache.
public struct CacheUsage: Sendable, Hashable, Codable {
    public var entries: Int
    public var bytes: Int
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}

/// The entries that a sweep removed.
public struct CacheSweep: Sendable, Hashable, Codable {
    public var files: Int
    public var bytes: Int
    public init(files: Int = 0, bytes: Int = 0) {
        self.files = files
        self.bytes = bytes
    }
}
