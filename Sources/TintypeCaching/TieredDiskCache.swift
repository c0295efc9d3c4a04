/// A combination of several disk caches in order, such as the program's own cache in front of a cache that several machines share
/// (``RemoteImageCache``).
///
/// ```swift
/// let disk = TieredDiskCache([RemoteImageCache(store), own], store: .concurrent, promotesHits: true)
/// let manager = ImageManager(cache: ImageCache(disk: disk))
/// ```
///
/// The cache that was added last has the highest priority. Without any cache, nothing is found and nothing is stored.
///
/// An image that can't be decoded is removed from all caches in the removal policy, even from those with an intact copy.
public final class TieredDiskCache: DiskCaching {
    private let policies: (query: Policy, store: Policy, remove: Policy, contains: Policy, removeAll: Policy)
    private let promotesHits: Bool
    private let list: Lock<[Tier]>
    /// The removals and stores through this class, which a promotion must not undo.
    private let removals = RemovalCounts()

    private struct Tier: Sendable {
        let cache: any DiskCaching
        /// The hits of other caches that are being stored in this one.
        let promotions = PendingStores()
        /// The most bytes of those, or a single hit.
        static let promotedBytes = ByteCount.megabytes(64)
    }

    /// Creates a combination of caches, with a policy for each kind of call.
    /// - Parameters:
    ///   - caches: the caches, with the highest priority last.
    ///   - query: the caches that lookups ask.
    ///   - store: the caches that get new images.
    ///   - remove: the caches that lose removed images.
    ///   - contains: the caches that are asked for an entry without reading it.
    ///   - removeAll: the caches that are cleared.
    ///   - promotesHits: true to also store a hit in the caches of higher priority, even in those that lookups don't ask. The lookup
    ///     doesn't wait for the store.
    public init(
        _ caches: [any DiskCaching], query: Policy = .serial, store: Policy = .highestOnly,
        remove: Policy = .concurrent, contains: Policy = .serial, removeAll: Policy = .concurrent,
        promotesHits: Bool = false
    ) {
        list = Lock(caches.map { Tier(cache: $0) })
        policies = (query, store, remove, contains, removeAll)
        self.promotesHits = promotesHits
    }

    /// The caches, oldest first.
    public var caches: [any DiskCaching] { tiers.map(\.cache) }

    private var tiers: [Tier] { list.withLock { $0 } }

    /// Adds a cache with a higher priority than all existing caches. Calls in progress continue without it.
    /// - Parameter cache: the cache.
    public func add(_ cache: any DiskCaching) { list.withLock { $0.append(Tier(cache: cache)) } }

    /// The caches that take part in a call, highest priority first.
    private func caches(for policy: Policy) -> [any DiskCaching] {
        let all = tiers
        return Self.places(for: policy, of: all.count).map { all[$0].cache }
    }

    /// The places of those caches among all, which are in the order of priority, the lowest first.
    private static func places(for policy: Policy, of count: Int) -> [Int] {
        switch policy {
        case .highestOnly: count == 0 ? [] : [count - 1]
        case .lowestOnly: count == 0 ? [] : [0]
        case .serial, .concurrent: (0..<count).reversed()
        }
    }

    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        await entry(forKey: key) { await $0.entry(forKey: key, priority: priority) }
    }

    /// Returns the entry under a key.
    /// - Parameter read: Reads it from a cache.
    func entry(
        forKey key: ImageKey, _ read: @escaping @Sendable (any DiskCaching) async -> DiskCacheEntry?
    ) async -> DiskCacheEntry? {
        let count = removals.count(ofSource: key.source)
        let hit = await firstHit(policies.query, read)
        if let hit, promotesHits {
            for tier in hit.higher { promote(hit.value, forKey: key, to: tier, since: count.disk) }
        }
        return hit?.value
    }

    /// Starts to store a hit in a cache that lacks it. No lookup waits for that: a slow cache would hold up the hits of others.
    private func promote(
        _ entry: DiskCacheEntry, forKey key: ImageKey, to tier: Tier, since count: RemovalCount.Layer
    ) {
        let bytes = entry.data.count
        let limit = max(Tier.promotedBytes, ByteCount(bytes))
        let (number, isOverLimit) = tier.promotions.begin(bytes: bytes, limit: limit)
        // If there are too many, or the store fails, later lookups still find the entry in its cache.
        guard !isOverLimit else { return tier.promotions.end(number, bytes: bytes) }
        Task.immediateDetached { [removals] in
            if await !tier.cache.contains(key) {
                try? await tier.cache.store(entry, forKey: key) {
                    removals.count(ofSource: key.source).disk.permitsStore(since: count)
                }
            }
            tier.promotions.end(number, bytes: bytes)
        }
    }

    public func path(forKey key: ImageKey) async -> String? {
        await uncanceledHit(policies.query) { await $0.path(forKey: key) }
    }

    public func contains(_ key: ImageKey) async -> Bool {
        await uncanceledHit(policies.contains) { await $0.contains(key) ? true : nil } != nil
    }

    public func variants(ofSource source: String) async -> [ImageVariant] {
        var found: Set<ImageVariant> = []
        for cache in caches(for: policies.query) { await found.formUnion(cache.variants(ofSource: source)) }
        return Array(found)
    }

    public func usage() async -> CacheUsage {
        var usage = CacheUsage()
        for cache in caches { usage += await cache.usage() }
        return usage
    }

    /// Returns the first hit, even if the calling task is canceled.
    private func uncanceledHit<Value: Sendable>(
        _ policy: Policy, _ find: @escaping @Sendable (any DiskCaching) async -> Value?
    ) async -> Value? {
        await Task.immediate { await firstHit(policy, find)?.value }.value
    }

    /// Returns the first hit, and the caches of higher priority than the cache that has it.
    private func firstHit<Value: Sendable>(
        _ policy: Policy, _ find: @escaping @Sendable (any DiskCaching) async -> Value?
    ) async -> (value: Value, higher: ArraySlice<Tier>)? {
        let all = tiers
        let searches = Self.places(for: policy, of: all.count).map { place in
            { @Sendable () async -> (value: Value, higher: ArraySlice<Tier>)? in
                await find(all[place].cache).map { ($0, all[(place + 1)...]) }
            }
        }
        if policy == .concurrent { return await firstResult(of: searches) }
        for search in searches where !Task.isCancelled { if let hit = await search() { return hit } }
        return nil
    }

    public func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) {
        try await removals.during(source: key.source, .disk) { () throws(ImageError) in
            _ = try await change(policies.store) { try await $0.store(entry, forKey: key, while: isCurrent) }
        }
    }

    @discardableResult public func remove(_ key: ImageKey) async throws(ImageError) -> Bool {
        try await removals.during(source: key.source, .disk) { () throws(ImageError) in
            try await change(policies.remove) { try await $0.remove(key) }.contains(true)
        }
    }

    @discardableResult public func removeAll(ofSource source: String) async throws(ImageError) -> Int {
        try await removals.during(source: source, .disk) { () throws(ImageError) in
            try await change(policies.remove) { try await $0.removeAll(ofSource: source) }
                .reduce(0) { $0.addingInRange($1) }
        }
    }

    public func removeAll() async throws(ImageError) {
        try await removals.during(source: nil, .disk) { () throws(ImageError) in
            _ = try await change(policies.removeAll) { try await $0.removeAll() }
        }
    }

    @discardableResult public func removeExpired() async throws(ImageError) -> CacheUsage {
        try await change(.serial) { try await $0.removeExpired() }.reduce(into: CacheUsage()) { $0 += $1 }
    }

    public func flush() async {
        for tier in tiers {
            await tier.promotions.wait()
            await tier.cache.flush()
        }
    }

    /// Changes the caches of a policy. If some fail, throws the error of the cache with the highest priority, after all have finished.
    private func change<Value: Sendable>(
        _ policy: Policy, _ body: @escaping @Sendable (any DiskCaching) async throws -> Value
    ) async throws(ImageError) -> [Value] {
        var changes: [Task<Value, any Error>] = []
        for cache in caches(for: policy) {
            // Started before this returns, so that a removal after the call comes after it.
            let change = Task.immediate { try await body(cache) }
            if policy != .concurrent { _ = await change.result }
            changes.append(change)
        }
        var results: [Result<Value, any Error>] = []
        for change in changes { results.append(await change.result) }
        do { return try results.map { try $0.get() } } catch {
            throw error as? ImageError ?? ImageError(.cacheWriteFailed, stage: .cache, reason: "\(error)")
        }
    }
}
