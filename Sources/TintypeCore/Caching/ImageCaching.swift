public import FoundationEssentials

/// A cache in memory and on disk: the one that a manager looks in before it loads anything.
public protocol ImageCaching: Sendable {
    /// Returns the decoded image under a key, without waiting.
    func memoryImage(forKey key: ImageKey) -> Image?
    /// Stores a decoded image in memory.
    func storeInMemory(_ image: Image, forKey key: ImageKey)
    /// Returns the image under a key, decoded with the options if it comes from the disk; `nil` if there is none.
    func image(forKey key: ImageKey, in layers: CacheLayers, options: DecodeOptions) async
        -> CachedImage?
    /// Stores an image, its encoded bytes, or both.
    /// - Throws: ``ImageError/Code/encodeFailed``, ``ImageError/Code/formatNotEncodable``, or what the disk cache throws.
    func store(
        _ image: Image?, data: Data?, forKey key: ImageKey, in layers: CacheLayers,
        options: EncodeOptions
    ) async throws(ImageError)
    /// Returns the encoded image under a key, with what is known of it; `nil` if there is none that is valid and whole.
    func entry(forKey key: ImageKey) async -> DiskCacheEntry?
    /// Returns the encoded image under a key, reading it before less urgent ones. The priority may change while the read waits.
    func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry?
    /// Returns the variants of a source that are on disk, the original among them.
    func variants(ofSource source: String) async -> [ImageVariant]
    /// Stores an encoded image.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` or ``ImageError/Code/cacheWriteFailed``
    func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError)
    /// Returns those of the layers that have something under the key.
    func contains(_ key: ImageKey, in layers: CacheLayers) async -> CacheLayers
    /// Removes what is under a key.
    /// - Returns: false if there was nothing.
    @discardableResult func remove(_ key: ImageKey, from layers: CacheLayers) async throws(ImageError)
        -> Bool
    /// Removes every variant of a source.
    /// - Returns: false if there was none.
    @discardableResult
    func removeAll(ofSource source: String, from layers: CacheLayers) async throws(ImageError) -> Bool
    /// Removes everything.
    func removeAll(from layers: CacheLayers) async throws(ImageError)
    /// Gives back the space of entries that have expired. Those are not found before that either.
    @discardableResult func removeExpired() async throws(ImageError) -> CacheSweep
    /// Waits until everything that was stored before is on disk.
    func flush() async
    /// True if there is a disk layer, so that it is worth encoding an image for it.
    var hasDisk: Bool { get }
    /// True if there is a decoded image under a key; at once, and not counted as a lookup.
    func containsInMemory(_ key: ImageKey) -> Bool
    /// Removes an entry that turned out to be damaged from disk. Unlike ``remove(_:from:)`` this doesn't keep loads that are under way from
    /// storing a better one.
    func discard(_ key: ImageKey) async
    /// The recent removals, for caches that keep loads which began before a removal from storing what was removed; `nil` for others.
    var removals: RemovalLog? { get }
}

// For caches that do less.

extension ImageCaching {
    /// For caches that don't decode: the image in memory.
    public func image(forKey key: ImageKey, in layers: CacheLayers, options: DecodeOptions) async
        -> CachedImage?
    {
        guard layers.contains(.memory) else { return nil }
        return memoryImage(forKey: key.decoded(with: options)).map {
            CachedImage(image: $0, source: .memory)
        }
    }

    /// For caches that don't encode: the image in memory, and the bytes on disk.
    public func store(
        _ image: Image?, data: Data?, forKey key: ImageKey, in layers: CacheLayers,
        options: EncodeOptions
    ) async throws(ImageError) {
        if layers.contains(.memory), let image { storeInMemory(image, forKey: key) }
        guard layers.contains(.disk), let data else { return }
        let entry = DiskCacheEntry(
            data: data, created: Date(), mimeType: ImageFormat(sniffing: data)?.mimeType)
        try await store(entry, forKey: key)
    }
    /// For caches that know no priorities.
    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        await entry(forKey: key)
    }

    public var hasDisk: Bool { true }

    public func containsInMemory(_ key: ImageKey) -> Bool { memoryImage(forKey: key) != nil }

    public func discard(_ key: ImageKey) async { _ = try? await remove(key, from: .disk) }

    public var removals: RemovalLog? { nil }

    /// For caches that keep no list.
    public func variants(ofSource source: String) async -> [ImageVariant] { [] }

    /// For caches where nothing expires.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheSweep { CacheSweep() }
}

// Default arguments, also behind `any ImageCaching`.
extension ImageCaching {
    /// Returns the image under a key, decoded if it comes from the disk; `nil` if there is none.
    public func image(forKey key: ImageKey, options: DecodeOptions = DecodeOptions()) async
        -> CachedImage?
    {
        await image(forKey: key, in: .all, options: options)
    }

    /// Returns the image under a key in some of the layers, decoded if it comes from the disk; `nil` if there is none.
    public func image(forKey key: ImageKey, in layers: CacheLayers) async -> CachedImage? {
        await image(forKey: key, in: layers, options: DecodeOptions())
    }

    /// Stores an image, its encoded bytes, or both, in memory and on disk unless the layers say otherwise.
    public func store(
        _ image: Image?, data: Data? = nil, forKey key: ImageKey, in layers: CacheLayers = .all
    ) async throws(ImageError) {
        try await store(image, data: data, forKey: key, in: layers, options: EncodeOptions())
    }

    /// Stores an image in memory, and encoded with the options on disk.
    public func store(_ image: Image, forKey key: ImageKey, options: EncodeOptions)
        async throws(ImageError)
    {
        try await store(image, data: nil, forKey: key, in: .all, options: options)
    }

    /// Returns the layers that have something under the key.
    public func contains(_ key: ImageKey) async -> CacheLayers { await contains(key, in: .all) }

    /// Removes what is under a key, in memory and on disk.
    @discardableResult public func remove(_ key: ImageKey) async throws(ImageError) -> Bool {
        try await remove(key, from: .all)
    }

    /// Removes every variant of a source, in memory and on disk.
    @discardableResult public func removeAll(ofSource source: String) async throws(ImageError) -> Bool {
        try await removeAll(ofSource: source, from: .all)
    }

    /// Removes everything, in memory and on disk.
    public func removeAll() async throws(ImageError) { try await removeAll(from: .all) }
}
