/// Several caches as one; the one that was added last has the highest priority. A program's own in front of one that a
/// group of programs shares, say.
///
/// ```swift
/// let caches = ImageCaches([shared, own], query: .serial, store: .highestOnly, copiesUp: true)
/// let manager = ImageManager(cache: caches)
/// ```
///
/// With one cache every policy comes to the same. Without any, nothing is found and nothing is kept.
public final class ImageCaches: ImageCaching {
    /// Which of the caches take part in a call.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        /// The one with the highest priority alone.
        case highestOnly
        /// The one with the lowest priority alone.
        case lowestOnly
        /// One after another, from the highest priority to the lowest. A query ends with the first hit; changes go to
        /// all, even where one fails.
        case serial
        /// All at once. A query ends with the first hit, and the others are cancelled; a miss waits for all.
        case concurrent
    }

    public let query: Policy
    public let store: Policy
    public let remove: Policy
    public let contains: Policy
    public let clear: Policy
    /// Whether a hit is kept in the caches of higher priority that were asked and did not have it.
    public let copiesUp: Bool

    private let list: Lock<[any ImageCaching]>

    /// - Parameter caches: the last one has the highest priority.
    public init(
        _ caches: [any ImageCaching], query: Policy = .serial, store: Policy = .highestOnly,
        remove: Policy = .concurrent, contains: Policy = .serial, clear: Policy = .concurrent, copiesUp: Bool = false
    ) {
        list = Lock(caches)
        self.query = query
        self.store = store
        self.remove = remove
        self.contains = contains
        self.clear = clear
        self.copiesUp = copiesUp
    }

    /// The caches in the order in which they were added. They can change at any time; calls under way go on with those
    /// of before.
    public var caches: [any ImageCaching] {
        get { list.withLock { $0 } }
        set { list.withLock { $0 = newValue } }
    }

    /// Adds a cache with a higher priority than those that are there already.
    public func add(_ cache: any ImageCaching) { list.withLock { $0.append(cache) } }

    /// The caches that take part, highest priority first.
    private func caches(for policy: Policy) -> ArraySlice<any ImageCaching> {
        let caches = Array(caches.reversed())
        return switch policy {
        case .highestOnly: caches.prefix(1)
        case .lowestOnly: caches.suffix(1)
        case .serial, .concurrent: caches[...]
        }
    }

    // MARK: Finding

    /// The decoded image under a key. As this takes no time, caches are asked one after another with any policy.
    public func memoryImage(forKey key: ImageKey) -> Image? {
        let caches = caches(for: query)
        for (index, cache) in zip(caches.indices, caches) {
            guard let image = cache.memoryImage(forKey: key) else { continue }
            if copiesUp { for higher in caches[..<index] { higher.storeInMemory(image, forKey: key) } }
            return image
        }
        return nil
    }

    public func entry(forKey key: ImageKey) async -> DiskCacheEntry? {
        await entry(forKey: key, priority: WorkPriority())
    }

    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        let caches = caches(for: query)
        let (entry, missing) =
            query == .concurrent && caches.count > 1
            ? await Self.firstEntry(forKey: key, priority, in: caches)
            : await Self.nextEntry(forKey: key, priority, in: caches)
        if copiesUp, let entry {
            // What cannot be copied is found where it is the next time too.
            for cache in missing { try? await cache.store(entry, forKey: key) }
        }
        return entry
    }

    private typealias Found = (entry: DiskCacheEntry?, missing: ArraySlice<any ImageCaching>)

    private static func nextEntry(
        forKey key: ImageKey, _ priority: WorkPriority, in caches: ArraySlice<any ImageCaching>
    ) async -> Found {
        for (index, cache) in zip(caches.indices, caches) {
            if Task.isCancelled { break }
            if let entry = await cache.entry(forKey: key, priority: priority) { return (entry, caches[..<index]) }
        }
        return (nil, [])
    }

    private static func firstEntry(
        forKey key: ImageKey, _ priority: WorkPriority, in caches: ArraySlice<any ImageCaching>
    ) async -> Found {
        await withTaskGroup(of: (Int, DiskCacheEntry?).self) { group in
            for (index, cache) in zip(caches.indices, caches) {
                group.addTask { (index, await cache.entry(forKey: key, priority: priority)) }
            }
            var missing: [Int] = []
            for await (index, entry) in group {
                guard let entry else {
                    missing.append(index)
                    continue
                }
                group.cancelAll()
                return (entry, ArraySlice(missing.filter { $0 < index }.sorted().map { caches[$0] }))
            }
            return (nil, [])
        }
    }

    /// The variants of a source in all caches that a query asks.
    public func variants(ofSource source: String) async -> [ImageVariant] {
        var found: [ImageVariant] = []
        for cache in caches(for: query) {
            for variant in await cache.variants(ofSource: source) where !found.contains(variant) {
                found.append(variant)
            }
        }
        return found
    }

    /// The layers that have something in any of the caches that are asked.
    public func contains(_ key: ImageKey, in layers: CacheLayers = .all) async -> CacheLayers {
        let caches = caches(for: contains)
        guard contains == .concurrent, caches.count > 1 else {
            for cache in caches {
                let found = await cache.contains(key, in: layers)
                if found != .none { return found }
            }
            return .none
        }
        return await withTaskGroup(of: CacheLayers.self) { group in
            for cache in caches { group.addTask { await cache.contains(key, in: layers) } }
            for await found in group where found != .none {
                group.cancelAll()
                return found
            }
            return .none
        }
    }

    // MARK: Keeping

    public func storeInMemory(_ image: Image, forKey key: ImageKey) {
        for cache in caches(for: store) { cache.storeInMemory(image, forKey: key) }
    }

    public func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws(ImageError) {
        try await perform(store) { cache throws(ImageError) in try await cache.store(entry, forKey: key) }
    }

    // MARK: Forgetting

    public func remove(_ key: ImageKey, from layers: CacheLayers = .all) async throws(ImageError) {
        try await perform(remove) { cache throws(ImageError) in try await cache.remove(key, from: layers) }
    }

    /// Forgets every variant of a source, in the caches that ``remove`` says.
    public func removeAll(source: String, from layers: CacheLayers = .all) async throws(ImageError) {
        try await perform(remove) { cache throws(ImageError) in try await cache.removeAll(source: source, from: layers)
        }
    }

    public func clear(_ layers: CacheLayers = .all) async throws(ImageError) {
        try await perform(clear) { cache throws(ImageError) in try await cache.clear(layers) }
    }

    /// Sweeps all caches, whatever the policies; throws the error of the highest of those that failed, once all are done.
    @discardableResult public func removeExpired() async throws(ImageError) -> CacheSweep {
        var sweep = CacheSweep()
        var failure: ImageError?
        for cache in caches.reversed() {
            do throws(ImageError) {
                let part = try await cache.removeExpired()
                sweep.files += part.files
                sweep.bytes += part.bytes
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return sweep
    }

    /// Waits for all caches, whatever the policies.
    public func flush() async {
        for cache in caches { await cache.flush() }
    }

    /// Runs `body` for the caches of a policy; throws the error of the highest of those that failed, once all are done.
    private func perform(
        _ policy: Policy, _ body: @escaping @Sendable (any ImageCaching) async throws(ImageError) -> Void
    ) async throws(ImageError) {
        let caches = caches(for: policy)
        var failures: [Int: ImageError] = [:]
        if policy == .concurrent, caches.count > 1 {
            failures = await withTaskGroup(of: (Int, ImageError?).self) { group in
                for (index, cache) in zip(caches.indices, caches) {
                    group.addTask { (index, await Self.failure(of: body, cache)) }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        } else {
            for (index, cache) in zip(caches.indices, caches) { failures[index] = await Self.failure(of: body, cache) }
        }
        if let highest = failures.min(by: { $0.key < $1.key }) { throw highest.value }
    }

    private static func failure(
        of body: (any ImageCaching) async throws(ImageError) -> Void, _ cache: any ImageCaching
    ) async -> ImageError? {
        do throws(ImageError) {
            try await body(cache)
            return nil
        } catch {
            return error
        }
    }
}
