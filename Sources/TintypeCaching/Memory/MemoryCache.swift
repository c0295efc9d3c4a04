internal import Logging

/// A cache of decoded images in memory with a capacity in bytes. By default, it evicts the images that save the least time per byte.
///
/// The cost of an image is the size of its pixels. Keys of more than 1,024 bytes count too. The default capacity is a fifth of the memory
/// of the machine or control group, at most 512 MB. A lookup still finds an evicted image that another part of the program holds, and
/// returns the same image (``Configuration/keepsWeakReferences``). The cache neither counts such an image nor keeps it alive.
///
/// ```swift
/// let cache = MemoryCache(.init(capacity: .megabytes(100), capacityAfterPurge: .megabytes(60)))
/// cache.store(image, forKey: key)
/// let cached = cache.image(forKey: key)
/// ```
///
/// The order of eviction adapts to the requests, see ``Policy/adaptive``. You can choose plain LRU instead.
///
/// A single lock guards everything. A hit holds it for some tens of nanoseconds.
///
/// - Complexity: a lookup is O(1) and allocates nothing. Storing and evicting are O(1) for each image, amortized; with
///   ``Configuration/sizeClasses``, storing is O(n). Removing a source is O(n), 4 µs with 10,000 images.
public final class MemoryCache: MemoryCaching {
    let state: Lock<MemoryStore>
    private let now: @Sendable () -> Duration
    private let subscription = MemoryPressure.Subscription()

    /// Creates a cache.
    /// - Parameter configuration: the limits and the policy.
    public convenience init(_ configuration: Configuration = Configuration()) {
        let start = ContinuousClock.now
        self.init(configuration, now: { ContinuousClock.now - start })
    }

    /// - Parameters:
    ///   - configuration: the limits of the cache.
    ///   - now: returns the time since a fixed moment, which never decreases; called only if entries have a time to live.
    init(_ configuration: Configuration, now: @escaping @Sendable () -> Duration) {
        state = Lock(MemoryStore(limits: configuration))
        self.now = now
    }

    /// The limits. Images that exceed new limits are evicted at once.
    public var configuration: Configuration {
        get { state.withLock { $0.limits } }
        set { state.change { $0.change(limits: newValue) } }
    }

    public func image(forKey key: ImageKey) -> Image? {
        let image = state.withLock { $0.hit(key, now: time) } ?? state.change { $0.image(forKey: key, now: time) }
        return image.map { Image(storage: $0) }
    }

    public func contains(_ key: ImageKey) -> Bool { state.withLock { $0.contains(key, now: time) } }

    public func store(_ image: Image, forKey key: ImageKey, while isCurrent: @Sendable () -> Bool) {
        state.change { store in
            // Within the lock, which a removal takes after it was counted.
            if isCurrent() { store.store(image, forKey: key, now: time) }
        }
    }

    /// Stores an image with a cost other than the size of its pixels.
    /// - Parameters:
    ///   - image: the image to store.
    ///   - key: the key to store under.
    ///   - cost: the bytes that the image counts for.
    public func store(_ image: Image, forKey key: ImageKey, cost: ByteCount) {
        state.change { $0.store(image, forKey: key, cost: cost.bytes, now: time) }
    }

    @discardableResult public func remove(_ key: ImageKey) -> Bool { state.change { $0.remove(key) } }

    @discardableResult public func removeAll(ofSource source: String) -> Int {
        state.change { $0.removeAll(ofSource: source) }
    }

    @discardableResult public func removeAll() -> Bool { state.change { $0.removeAll() } }

    /// Removes the images whose time to live has passed. Lookups never return them, even before that, and they are also removed gradually
    /// as other images are stored.
    @discardableResult public func removeExpired() -> CacheUsage { state.change { $0.removeExpired(now: time) } }

    public func trim(to bytes: ByteCount) { state.change { $0.trim(to: bytes.bytes) } }

    /// Observes a source of memory pressure; `nil` ends the observation. A warning trims the cache to half of its capacity, critical memory
    /// pressure to a tenth.
    /// - Parameter pressure: the source of memory pressure; `nil` for none.
    public func observe(_ pressure: MemoryPressure?) {
        // A weak reference to the cache would make each use of it count references the slow way, a sixth of a hit.
        subscription.replace(with: pressure) { [state] level in state.change { $0.trim(under: level) } }
        if let absence = MemoryPressure.takeAbsence() {
            Logger(label: "tintype.memory-pressure").notice("\(absence)")
        }
    }

    /// The hits, misses, stores, and contents of the cache.
    public var statistics: CacheStatistics { state.withLock { $0.statistics } }

    private func time() -> Int64 { now().inNanoseconds }
}

extension Lock<MemoryStore> {
    /// Changes the state, and then releases the images that are no longer in it: freeing an image takes too long under the lock.
    fileprivate func change<Result: Sendable>(_ body: (inout MemoryStore) -> Result) -> Result {
        var released: [Image.Storage?] = []
        defer { withExtendedLifetime(released) {} }
        return withLock { store in
            let result = body(&store)
            swap(&released, &store.released)
            return result
        }
    }
}
