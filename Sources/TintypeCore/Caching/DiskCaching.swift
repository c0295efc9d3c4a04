public import FoundationEssentials

/// Keeps encoded images on disk, or anywhere that outlives the process.
///
/// An entry is seen whole or not at all, by this process and any other. The methods do their work on threads of their
/// own: none blocks the caller's executor.
public protocol DiskCaching: Sendable {
    /// The entry under a key, which counts as used; `nil` if there is none, or the one there was damaged (and is
    /// dropped).
    func entry(forKey key: ImageKey) async -> DiskCacheEntry?
    /// The same, read before what is less urgent. The priority may change while the read waits.
    func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry?
    /// The path of the file of an entry, which may only be read; `nil` if there is none. Does not count as use.
    func path(forKey key: ImageKey) async -> String?
    /// Whether there is an entry; does not count as use.
    func contains(_ key: ImageKey) async -> Bool
    /// Keeps an entry in place of the one under the key. When it returns, the entry survives the end of the process.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``; what was there before is
    ///   then still there, or gone, but never half new.
    func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError)
    /// Removes an entry; true if there was one.
    @discardableResult func remove(_ key: ImageKey) async throws(ImageError) -> Bool
    /// The variants of a source that there are, the original among them.
    func variants(ofSource source: String) async -> [ImageVariant]
    /// Removes every variant of a source; tells how many there were.
    @discardableResult func removeAll(source: String) async throws(ImageError) -> Int
    /// Removes everything.
    func removeAll() async throws(ImageError)
    /// Removes what is older than the configured age.
    @discardableResult func removeExpired() async throws(ImageError) -> CacheSweep
    /// How much there is; O(1), without a look at the directory.
    func usage() async -> CacheUsage
    /// What the cache has done since it was opened.
    var statistics: CacheStatistics { get }
    /// Waits until all that was asked for before is on disk.
    func flush() async
}

extension DiskCaching {
    /// Nothing to wait for: for caches that keep nothing back.
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

/// Bytes with what is known of them.
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

/// What a disk cache holds.
public struct CacheUsage: Sendable, Hashable, Codable {
    public var entries: Int
    public var bytes: Int
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}

/// What a sweep removed.
public struct CacheSweep: Sendable, Hashable, Codable {
    public var files: Int
    public var bytes: Int
    public init(files: Int = 0, bytes: Int = 0) {
        self.files = files
        self.bytes = bytes
    }
}
