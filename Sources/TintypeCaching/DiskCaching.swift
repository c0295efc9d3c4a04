public import FoundationEssentials

/// A cache of encoded images on disk, or in any other storage that outlives the process.
///
/// Readers see an entry completely or not at all, in this process and in any other. The methods work on threads of their own, so that they
/// don't block the caller's executor, and complete even in a canceled task. Only the read of an entry may end early, since a canceled load
/// doesn't use it.
///
/// They are called from any thread, several at once. They must not wait for the ``ImageManager`` that uses the cache: it may be waiting for
/// the call, a deadlock. While 64 MB of images wait for stores that hang, all loads that store wait, too.
///
/// A manager reads only a few entries at a time from a ``DiskCache``, alone or in a ``TieredDiskCache``. Other caches have to limit their
/// concurrent reads themselves.
public protocol DiskCaching: Sendable {
    /// Returns the entry under a key, and counts it as used; `nil` if there is none, if it was damaged (and is discarded), or if the
    /// calling task is canceled during a wait. More urgent entries are read first. The priority may change while the read waits: a
    /// ``WorkQueue`` follows it, and other caches check ``WorkPriority/value`` when they choose the next read.
    /// - Parameters:
    ///   - key: the key.
    ///   - priority: the priority among waiting reads.
    func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry?
    /// Returns the path of an entry's file, which may only be read; `nil` if there is none. Doesn't count as a use.
    /// - Parameter key: the key.
    func path(forKey key: ImageKey) async -> String?
    /// Returns true if there is an entry. Doesn't count as a use.
    /// - Parameter key: the key.
    func contains(_ key: ImageKey) async -> Bool
    /// Stores an entry and replaces the previous entry under the key. Once the call returns, the entry survives the end of the process.
    ///
    /// A cache that stores the properties of an entry separately, such as in columns of a database, must store all of them, and
    /// ``CacheValidators`` with `Codable`. Without its ``DiskCacheEntry/response``, an image that was loaded with the credentials of a user
    /// is available to everybody.
    /// - Parameters:
    ///   - entry: the encoded image and its properties.
    ///   - key: the key to store under.
    ///   - isCurrent: a condition, checked directly before the entry is stored. A removal must not happen between the check and the store.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``. The previous entry is then
    ///   either intact or gone, but never mixed with the new entry.
    func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError)
    /// Removes an entry.
    /// - Parameter key: the key.
    /// - Returns: false if there was none.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult func remove(_ key: ImageKey) async throws(ImageError) -> Bool
    /// Returns the variants of a source that a removal would remove, including the original. They may include entries that ``contains(_:)``
    /// denies, such as expired ones.
    ///
    /// ``ImageManager`` uses this to find the entries that were made from an image, and removes them with it. A cache that can't list its
    /// entries returns none; images of ``ImageManager/encoded(for:as:options:)`` then remain when their image is removed or replaced. A
    /// cache that outlives the process stores the variants with `Codable`.
    /// - Parameter source: the source, as in the key of its original.
    func variants(ofSource source: String) async -> [ImageVariant]
    /// Removes every variant of a source.
    /// - Parameter source: the source, as in the key of its original.
    /// - Returns: the number of entries that were removed.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult func removeAll(ofSource source: String) async throws(ImageError) -> Int
    /// Removes everything.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    func removeAll() async throws(ImageError)
    /// Removes entries that have expired, by their age or by ``DiskCacheEntry/expires``.
    /// - Returns: the entries that were removed.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult func removeExpired() async throws(ImageError) -> CacheUsage
    /// Returns the number of entries and their bytes.
    func usage() async -> CacheUsage
    /// Waits until all earlier stores and removals are on disk.
    func flush() async
}

extension DiskCaching {
    /// Stores an entry.
    /// - Parameters:
    ///   - entry: the encoded image with its properties.
    ///   - key: the key.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    public func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError) {
        try await store(entry, forKey: key) { true }
    }

    /// The default for caches that don't delay writes: returns at once.
    public func flush() async {}

    /// Returns the entry under a key, and counts it as used; `nil` if there is none.
    /// - Parameter key: the key.
    public func entry(forKey key: ImageKey) async -> DiskCacheEntry? {
        await entry(forKey: key, priority: WorkPriority())
    }

    /// The default for caches without files: returns `nil`.
    /// - Parameter key: the key.
    public func path(forKey key: ImageKey) async -> String? { nil }
}

/// An encoded image with its properties.
///
/// A custom cache stores the image and all its properties, with `Codable` or one by one. An entry without its ``response`` is available to
/// everybody.
public struct DiskCacheEntry: Sendable, Equatable, Codable {
    /// The encoded image.
    public var data: Data
    /// The creation date. For a loaded image, the end of its load or of its last revalidation.
    public var created: Date
    /// The time when the entry stops being valid, or `nil` if it doesn't expire at a fixed time.
    public var expires: Date?
    /// The time that the entry stays valid after the last store or read. Each read extends the validity, but never beyond ``expires``. At
    /// least zero; `nil` for no such limit.
    public var idleLifetime: Duration?
    /// The media type that the source stated, such as `image/jpeg`.
    public var mimeType: String?
    /// The values that let an HTTP server say whether the entry is still current.
    public var validators: CacheValidators?
    /// The program's own bytes, which are stored with the image.
    public var extendedData: Data?
    /// The properties of a thumbnail or transformed image that its bytes don't contain. ``ImageManager`` writes and reads them.
    public var imageProperties: Data?
    /// The response that delivered the image, in a private format; `nil` if the program stored the image.
    ///
    /// It determines which requests may use the image, and how long HTTP allows that. Any request may use an image without a response, and
    /// none may use an image whose response can't be read.
    public var response: Data? {
        get { answer?.encoded }
        set { answer = newValue.map { $0.withUnsafeBytes { StoredResponse(encoded: $0) } } }
    }
    package var answer: StoredResponse?

    // `response` is also the key in entries that were encoded before `answer` existed.
    private enum CodingKeys: String, CodingKey {
        case data, created, expires, idleLifetime, mimeType, validators, extendedData, imageProperties
        case answer = "response"
    }

    /// Creates an entry. Each parameter sets the property of the same name.
    public init(
        data: Data, created: Date, expires: Date? = nil, mimeType: String? = nil, validators: CacheValidators? = nil,
        extendedData: Data? = nil, idleLifetime: Duration? = nil, imageProperties: Data? = nil,
        response: Data? = nil
    ) {
        self.imageProperties = imageProperties
        self.data = data
        self.created = created
        self.expires = expires
        self.mimeType = mimeType
        self.validators = validators
        self.extendedData = extendedData
        self.idleLifetime = idleLifetime
        self.response = response
    }

    /// Lets the entry expire after a time, unless it does so earlier. It has the age of the entry that it was made of, and ends no later.
    package mutating func limit(to lifetime: Duration?, madeOf original: DiskCacheEntry? = nil) {
        let end = lifetime.map { created.addingTimeInterval(max(0, $0.inSeconds)) }
        expires = [expires, end, original?.expires].compactMap { $0 }.min()
        created = original?.created ?? created
    }
}

/// A number of entries, such as those in a cache or those removed, and the space that they take.
public struct CacheUsage: Sendable, Hashable, Codable {
    /// The number of entries.
    public var entries: Int
    /// The space that the entries take, in bytes.
    public var bytes: Int

    /// Creates a usage. Each parameter sets the property of the same name.
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }

    package static func += (sum: inout CacheUsage, other: CacheUsage) {
        sum.entries = sum.entries.addingInRange(other.entries)
        sum.bytes = sum.bytes.addingInRange(other.bytes)
    }
}
