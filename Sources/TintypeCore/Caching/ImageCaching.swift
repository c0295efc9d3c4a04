/// Keeps images in memory and on disk: what a manager asks before it loads anything.
public protocol ImageCaching: Sendable {
    /// The decoded image under a key, at once.
    func memoryImage(forKey key: ImageKey) -> Image?
    /// Keeps a decoded image.
    func storeInMemory(_ image: Image, forKey key: ImageKey)
    /// The encoded image under a key, with what is known of it; `nil` if there is none that is valid and whole.
    func entry(forKey key: ImageKey) async -> DiskCacheEntry?
    /// The same, read before what is less urgent. The priority may change while the read waits.
    func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry?
    /// The variants of a source that are on disk, the original among them.
    func variants(ofSource source: String) async -> [ImageVariant]
    /// Keeps an encoded image.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``
    func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError)
    /// Which of the layers have something under the key.
    func contains(_ key: ImageKey, in layers: CacheLayers) async -> CacheLayers
    /// Forgets what is under a key.
    func remove(_ key: ImageKey, from layers: CacheLayers) async throws(ImageError)
    /// Forgets every variant of a source.
    func removeAll(source: String, from layers: CacheLayers) async throws(ImageError)
    /// Forgets everything.
    func clear(_ layers: CacheLayers) async throws(ImageError)
    /// Gives back the space of entries that have ended by their age or their own dates. Those are not found before that either.
    @discardableResult func removeExpired() async throws(ImageError) -> CacheSweep
    /// Waits until what was stored is on disk.
    func flush() async
    /// Whether there is a disk layer, so that it is worth encoding an image for it.
    var hasDisk: Bool { get }
    /// Whether there is a decoded image under a key; at once, and not counted as a lookup.
    func containsInMemory(_ key: ImageKey) -> Bool
    /// Removes an entry that turned out to be damaged from disk. Unlike ``remove(_:from:)`` this doesn't keep loads that are under way from
    /// storing a better one.
    func discard(_ key: ImageKey) async
    /// The recent removals, for caches that keep loads which began before a removal from storing what was removed; `nil` for others.
    var removals: RemovalLog? { get }
}

extension ImageCaching {
    /// For caches that know no priorities.
    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        await entry(forKey: key)
    }

    public var hasDisk: Bool { true }

    public func containsInMemory(_ key: ImageKey) -> Bool { memoryImage(forKey: key) != nil }

    public func discard(_ key: ImageKey) async { try? await remove(key, from: .disk) }

    public var removals: RemovalLog? { nil }

    /// For caches that keep no list.
    public func variants(ofSource source: String) async -> [ImageVariant] { [] }

    /// For caches where nothing ends.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheSweep { CacheSweep() }
}
