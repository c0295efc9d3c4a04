/// A cache in memory and on disk. A manager looks there before it loads an image.
public protocol ImageCaching: Sendable {
    /// Returns the decoded image under a key, without waiting.
    /// - Parameter key: the key.
    func memoryImage(forKey key: ImageKey) -> Image?
    /// Stores a decoded image in memory while a condition holds. A removal can't come between the condition and the store.
    /// - Parameters:
    ///   - image: the decoded image.
    ///   - key: the key.
    ///   - isCurrent: the condition. Returns true to store.
    func storeInMemory(_ image: Image, forKey key: ImageKey, while isCurrent: @Sendable () -> Bool)
    /// Returns the encoded image under a key, with its properties; `nil` if there is none that is valid and complete. Reads it before less
    /// urgent entries. The priority may change while the read waits.
    /// - Parameters:
    ///   - key: the key.
    ///   - priority: the priority among waiting reads.
    func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry?
    /// Returns the variants of a source that are on disk, the original among them.
    /// - Parameter source: the source: the key of its original.
    func variants(ofSource source: String) async -> [ImageVariant]
    /// Stores an encoded image if a condition holds when its turn has come. A removal can't come between the condition and the store.
    /// - Parameters:
    ///   - entry: the encoded image with its properties.
    ///   - key: the key.
    ///   - isCurrent: the condition. Returns true to store.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``
    func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError)
    /// Returns the given layers that have an entry under the key.
    /// - Parameters:
    ///   - key: the key.
    ///   - layers: the layers, in memory or on disk.
    func contains(_ key: ImageKey, in layers: CacheLayers) async -> CacheLayers
    /// Removes the entries under a key.
    /// - Parameters:
    ///   - key: the key.
    ///   - layers: the layers to remove them from.
    /// - Returns: false if there was nothing to remove.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult func remove(_ key: ImageKey, from layers: CacheLayers) async throws(ImageError)
        -> Bool
    /// Removes every variant of a source.
    /// - Parameters:
    ///   - source: the source: the key of its original.
    ///   - layers: the layers to remove them from.
    /// - Returns: false if there was none.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult
    func removeAll(ofSource source: String, from layers: CacheLayers) async throws(ImageError) -> Bool
    /// Removes everything.
    /// - Parameter layers: the layers to clear.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    func removeAll(from layers: CacheLayers) async throws(ImageError)
    /// Frees the space of expired entries. Expired entries are never returned, even before that.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult func removeExpired() async throws(ImageError) -> CacheUsage
    /// Returns the number of images or files in some layers, and the bytes that they take.
    /// - Parameter layers: the layers, in memory or on disk.
    func usage(of layers: CacheLayers) async -> CacheUsage
    /// Waits until all earlier stores are on disk.
    func flush() async
    /// True if there is a disk layer, so that encoding an image for it is worthwhile.
    var hasDisk: Bool { get }
    /// True if there is a decoded image under a key. Returns at once, and does not count as a lookup.
    /// - Parameter key: the key.
    func containsInMemory(_ key: ImageKey) -> Bool
    /// Removes a damaged entry from disk. Unlike ``remove(_:from:)``, this doesn't keep loads in progress from storing a better
    /// image.
    /// - Parameter key: the key.
    func discard(_ key: ImageKey) async
    /// Returns the number of removals so far of a source and of everything. Each removal raises it before it removes anything, and at its
    /// end.
    /// - Parameter source: the source: the key of its original.
    func removalCount(ofSource source: String) -> RemovalCount
}

// Defaults for caches with fewer features.

extension ImageCaching {
    public var hasDisk: Bool { true }

    public func containsInMemory(_ key: ImageKey) -> Bool { memoryImage(forKey: key) != nil }

    public func discard(_ key: ImageKey) async { _ = try? await remove(key, from: .disk) }

    /// The default for caches that don't count their removals: always the same number.
    /// - Parameter source: the source: the key of its original.
    public func removalCount(ofSource source: String) -> RemovalCount { RemovalCount() }

    /// The default for caches without a list of their entries: returns no variants.
    /// - Parameter source: the source: the key of its original.
    public func variants(ofSource source: String) async -> [ImageVariant] { [] }

    /// The default for caches without expiration: does nothing.
    /// - Throws: Only other implementations do: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheUsage { CacheUsage() }

    /// The default for caches that don't count their entries: returns zeros.
    /// - Parameter layers: the layers, in memory or on disk.
    public func usage(of layers: CacheLayers) async -> CacheUsage { CacheUsage() }
}

// Default arguments, which also work with `any ImageCaching`.
extension ImageCaching {
    /// Stores a decoded image in memory.
    /// - Parameters:
    ///   - image: the image.
    ///   - key: the key.
    public func storeInMemory(_ image: Image, forKey key: ImageKey) { storeInMemory(image, forKey: key) { true } }

    /// Returns the encoded image under a key, with its properties; `nil` if there is none that is valid and complete.
    /// - Parameter key: the key.
    public func entry(forKey key: ImageKey) async -> DiskCacheEntry? {
        await entry(forKey: key, priority: WorkPriority())
    }

    /// Stores an encoded image.
    /// - Parameters:
    ///   - entry: the encoded image with its properties.
    ///   - key: the key.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``
    public func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError) {
        try await store(entry, forKey: key) { true }
    }

    /// Returns the layers that have an entry under the key.
    /// - Parameter key: the key.
    public func contains(_ key: ImageKey) async -> CacheLayers { await contains(key, in: .all) }

    /// Removes the entries under a key from memory and disk.
    /// - Parameter key: the key.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult public func remove(_ key: ImageKey) async throws(ImageError) -> Bool {
        try await remove(key, from: .all)
    }

    /// Removes every variant of a source from memory and disk.
    /// - Parameter source: the source: the key of its original.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    @discardableResult public func removeAll(ofSource source: String) async throws(ImageError) -> Bool {
        try await removeAll(ofSource: source, from: .all)
    }

    /// Returns the number of images and files in memory and on disk, and the bytes that they take.
    public func usage() async -> CacheUsage { await usage(of: .all) }

    /// Removes everything from memory and disk.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``.
    public func removeAll() async throws(ImageError) { try await removeAll(from: .all) }
}
