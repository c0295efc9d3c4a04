/// A combination of several caches, such as a program's own cache in front of one that several programs share. The cache that
/// was added last has the highest priority.
///
/// ```swift
/// let caches = ImageCaches([shared, own], query: .serial, store: .highestOnly, promotesHits: true)
/// let manager = ImageManager(cache: caches)
/// ```
///
/// With a single cache, all policies have the same effect. Without any cache, nothing is found and nothing is stored.
public final class ImageCaches: ImageCaching {
    /// A choice of the caches that take part in a call.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        /// Only the cache with the highest priority.
        case highestOnly
        /// Only the cache with the lowest priority.
        case lowestOnly
        /// One cache after another, from the highest priority to the lowest. A query ends with the first hit. Changes go to all
        /// caches, even if one of them fails.
        case serial
        /// All caches at once. A query ends with the first hit, and the others are canceled. A miss waits for all.
        case concurrent
    }

    public let query: Policy
    public let store: Policy
    public let remove: Policy
    public let contains: Policy
    public let removeAll: Policy
    /// True if a hit is also stored in the caches of higher priority that were asked and did not have it.
    public let promotesHits: Bool

    private let list: Lock<[any ImageCaching]>
    private let removals = RemovalCounts()

    /// Creates a combination of caches.
    /// - Parameters:
    ///   - caches: the caches; the last one has the highest priority.
    ///   - query: the caches that lookups ask.
    ///   - store: the caches that images are stored in.
    ///   - remove: the caches that images are removed from.
    ///   - contains: the caches that ``contains(_:in:)`` asks.
    ///   - removeAll: the caches that ``removeAll(from:)`` empties.
    ///   - promotesHits: true to store hits in the caches of higher priority too.
    public init(
        _ caches: [any ImageCaching], query: Policy = .serial, store: Policy = .highestOnly,
        remove: Policy = .concurrent, contains: Policy = .serial, removeAll: Policy = .concurrent,
        promotesHits: Bool = false
    ) {
        list = Lock(caches)
        self.query = query
        self.store = store
        self.remove = remove
        self.contains = contains
        self.removeAll = removeAll
        self.promotesHits = promotesHits
    }

    /// The caches in the order in which they were added. They can change at any time; calls in progress continue with the
    /// previous caches.
    public var caches: [any ImageCaching] {
        get { list.withLock { $0 } }
        set { list.withLock { $0 = newValue } }
    }

    /// Adds a cache with a higher priority than all present ones.
    public func add(_ cache: any ImageCaching) { list.withLock { $0.append(cache) } }

    /// The caches that take part in a call, highest priority first.
    private func caches(for policy: Policy) -> ArraySlice<any ImageCaching> {
        let caches = Array(caches.reversed())
        return switch policy {
        case .highestOnly: caches.prefix(1)
        case .lowestOnly: caches.suffix(1)
        case .serial, .concurrent: caches[...]
        }
    }

    // MARK: Finding

    /// Returns the decoded image under a key. Lookups in memory take no time, so caches are asked one after another with any
    /// policy.
    public func memoryImage(forKey key: ImageKey) -> Image? {
        let caches = caches(for: query)
        let count = promotesHits ? removals.count(ofSource: key.source) : RemovalCount()
        for (index, cache) in zip(caches.indices, caches) {
            guard let image = cache.memoryImage(forKey: key) else { continue }
            if promotesHits {
                for higher in caches[..<index] {
                    higher.storeInMemory(image, forKey: key) {
                        removals.count(ofSource: key.source).permitsStoreInMemory(since: count)
                    }
                }
            }
            return image
        }
        return nil
    }

    public func entry(forKey key: ImageKey) async -> DiskCacheEntry? {
        await entry(forKey: key, priority: WorkPriority())
    }

    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        let count = removals.count(ofSource: key.source)
        let (entry, missing) = await firstHit { await $0.entry(forKey: key, priority: priority) }
        if promotesHits, let entry {
            // If this fails, later lookups still find the entry in its cache.
            for cache in missing {
                try? await cache.store(entry, forKey: key) { [removals] in
                    removals.count(ofSource: key.source).permitsStoreOnDisk(since: count)
                }
            }
        }
        return entry
    }

    /// Returns the first hit of the caches that a query asks, and the caches of higher priority that were asked and missed.
    private func firstHit<Value: Sendable>(
        _ find: @escaping @Sendable (any ImageCaching) async -> Value?
    ) async -> (value: Value?, missing: [any ImageCaching]) {
        let caches = Array(caches(for: query))
        guard query == .concurrent, caches.count > 1 else {
            for (index, cache) in caches.enumerated() {
                if Task.isCancelled { break }
                if let value = await find(cache) { return (value, Array(caches[..<index])) }
            }
            return (nil, [])
        }
        let searches = caches.map { cache in { @Sendable () async -> Value? in await find(cache) } }
        guard let (index, value, misses) = await firstResult(of: searches) else { return (nil, []) }
        return (value, misses.filter { $0 < index }.sorted().map { caches[$0] })
    }

    /// Returns the variants of a source in all caches that a query asks.
    public func variants(ofSource source: String) async -> [ImageVariant] {
        var found: [ImageVariant] = []
        for cache in caches(for: query) {
            for variant in await cache.variants(ofSource: source) where !found.contains(variant) {
                found.append(variant)
            }
        }
        return found
    }

    /// Returns the layers that contain the key in any of the caches that are asked.
    public func contains(_ key: ImageKey, in layers: CacheLayers) async -> CacheLayers {
        let caches = caches(for: contains)
        guard contains == .concurrent, caches.count > 1 else {
            for cache in caches {
                let found = await cache.contains(key, in: layers)
                if !found.isEmpty { return found }
            }
            return []
        }
        let searches = caches.map { cache in
            { @Sendable () async -> CacheLayers? in
                let found = await cache.contains(key, in: layers)
                return found.isEmpty ? nil : found
            }
        }
        return await firstResult(of: searches)?.value ?? []
    }

    // MARK: Storing

    public func storeInMemory(_ image: Image, forKey key: ImageKey) {
        for cache in caches(for: store) { cache.storeInMemory(image, forKey: key) }
    }

    public func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError) {
        try await perform(store) { cache throws(ImageError) in
            try await cache.store(entry, forKey: key)
            return false
        }
    }

    public func storeInMemory(_ image: Image, forKey key: ImageKey, while isCurrent: @Sendable () -> Bool) {
        for cache in caches(for: store) { cache.storeInMemory(image, forKey: key, while: isCurrent) }
    }

    public func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) {
        try await perform(store) { cache throws(ImageError) in
            try await cache.store(entry, forKey: key, while: isCurrent)
            return false
        }
    }

    // MARK: Removing

    @discardableResult
    public func remove(_ key: ImageKey, from layers: CacheLayers) async throws(ImageError) -> Bool {
        removals.begin(source: key.source, layers)
        defer { removals.end(source: key.source, layers) }
        return try await perform(remove) { cache throws(ImageError) in try await cache.remove(key, from: layers) }
    }

    /// Removes every variant of a source from the caches that ``remove`` selects.
    @discardableResult
    public func removeAll(ofSource source: String, from layers: CacheLayers) async throws(ImageError) -> Bool {
        removals.begin(source: source, layers)
        defer { removals.end(source: source, layers) }
        return try await perform(remove) { cache throws(ImageError) in
            try await cache.removeAll(ofSource: source, from: layers)
        }
    }

    public func removeAll(from layers: CacheLayers) async throws(ImageError) {
        removals.begin(source: nil, layers)
        defer { removals.end(source: nil, layers) }
        try await perform(removeAll) { cache throws(ImageError) in
            try await cache.removeAll(from: layers)
            return false
        }
    }

    /// Discards a damaged entry from all caches that a removal concerns.
    public func discard(_ key: ImageKey) async {
        for cache in caches(for: remove) { await cache.discard(key) }
    }

    /// Returns the number of removals through this class, not of those from one of its caches.
    public func removalCount(ofSource source: String) -> RemovalCount { removals.count(ofSource: source) }

    /// Sweeps all caches, whatever the policies. If some fail, throws the error of the one with the highest priority, after all
    /// have finished.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheUsage {
        var sweep = CacheUsage()
        var failure: ImageError?
        for cache in caches.reversed() {
            do throws(ImageError) {
                sweep += try await cache.removeExpired()
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return sweep
    }

    /// Returns the sum over all caches, whatever the policies.
    public func usage(of layers: CacheLayers) async -> CacheUsage {
        var usage = CacheUsage()
        for cache in caches { usage += await cache.usage(of: layers) }
        return usage
    }

    /// Waits for all caches, whatever the policies.
    public func flush() async {
        for cache in caches { await cache.flush() }
    }

    /// Runs `body` for the caches of a policy. If some fail, throws the error of the one with the highest priority, after all
    /// have finished.
    /// - Returns: true if `body` returned true for any of them.
    @discardableResult
    private func perform(
        _ policy: Policy, _ body: @escaping @Sendable (any ImageCaching) async throws(ImageError) -> Bool
    ) async throws(ImageError) -> Bool {
        let caches = Array(caches(for: policy))
        var results: [Result<Bool, ImageError>?] = Array(repeating: nil, count: caches.count)
        if policy == .concurrent, caches.count > 1 {
            await withTaskGroup(of: (Int, Result<Bool, ImageError>).self) { group in
                for (index, cache) in caches.enumerated() {
                    group.addTask { (index, await Self.result(of: body, cache)) }
                }
                for await (index, result) in group { results[index] = result }
            }
        } else {
            for (index, cache) in caches.enumerated() { results[index] = await Self.result(of: body, cache) }
        }
        var isTrue = false
        for result in results { if try result?.get() ?? false { isTrue = true } }
        return isTrue
    }

    private static func result(
        of body: (any ImageCaching) async throws(ImageError) -> Bool, _ cache: any ImageCaching
    ) async -> Result<Bool, ImageError> {
        do throws(ImageError) {
            return .success(try await body(cache))
        } catch {
            return .failure(error)
        }
    }
}
