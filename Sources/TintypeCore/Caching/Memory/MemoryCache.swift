/// Decoded images in memory, bounded in bytes; what saves the least time for its bytes goes first.
///
/// An image counts the bytes of its pixels, and a key those that it has if they are more than 1,024. By default it takes at most a fifth of the memory that the machine or the
/// control group has, and at most 512 MB. An image that is still held elsewhere stays reachable after it had to go, and
/// is the same image then (``Configuration/keepsWeakReferences``); it neither counts nor is it kept alive.
///
/// ```swift
/// let cache = MemoryCache(.init(capacity: .megabytes(100), capacityAfterPurge: .megabytes(60)))
/// cache.store(image, forKey: key)
/// cache.image(forKey: key)
/// ```
///
/// Which images go is measured, see ``Policy/adaptive``; plain LRU can be chosen.
///
/// Threads that look up images at the same time do not wait for each other: each processor has a lock of its own, and a
/// hit only notes that the image was used.
///
/// - Complexity: a lookup is O(1) and allocates nothing; storing and evicting are O(log n) for each image, amortised, and
///   O(1) with ``Policy/leastRecentlyUsed``.
public final class MemoryCache: MemoryCaching {
    private let entries: MemoryEntries
    private let state: Lock<MemoryStore>
    private let now: @Sendable () -> Duration
    private let subscription = MemoryPressure.Subscription()

    public convenience init(_ configuration: Configuration = Configuration()) {
        let start = ContinuousClock.now
        self.init(configuration, now: { ContinuousClock.now - start })
    }

    /// - Parameter now: the time since some moment, which never goes back; asked only where entries have a time to
    ///   live.
    init(_ configuration: Configuration, now: @escaping @Sendable () -> Duration) {
        entries = MemoryEntries()
        state = Lock(MemoryStore(limits: configuration, entries: entries))
        self.now = now
    }

    /// The limits. What no longer fits under new ones goes at once.
    public var configuration: Configuration {
        get { state.withLock { $0.limits } }
        set {
            change { $0.change(limits: newValue) }
        }
    }

    public func image(forKey key: ImageKey) -> Image? {
        switch entries.lookUp(key, now: { now().inNanoseconds }) {
        case .hit(let storage): return Image(storage: storage)
        case .fullHit(let storage):
            // Who has the lock takes the notes, or the next one does.
            _ = state.withLockIfFree { $0.noteUses() }
            return Image(storage: storage)
        case .miss: return nil
        case .unsure: return change { $0.image(forKey: key, now: time) }
        }
    }

    public func contains(_ key: ImageKey) -> Bool {
        entries.contains(key, now: time) ?? state.withLock { $0.contains(key, now: time) }
    }

    public func store(_ image: Image, forKey key: ImageKey) { change { $0.store(image, forKey: key, now: time) } }

    /// Stores an image that counts another number of bytes than its pixels take.
    /// - Parameters:
    ///   - image: the image to store.
    ///   - key: the key to store under.
    ///   - cost: the bytes that the image counts.
    public func store(_ image: Image, forKey key: ImageKey, cost: ByteCount) {
        change { $0.store(image, forKey: key, cost: cost.bytes, now: time) }
    }

    @discardableResult public func remove(_ key: ImageKey) -> Bool { change { $0.remove(key) } }

    @discardableResult public func removeAll(ofSource source: String) -> Int {
        change { $0.removeAll(ofSource: source) }
    }

    @discardableResult public func removeAll() -> Bool { change { $0.removeAll() } }

    /// Removes the images whose time to live is over. Those are not found before that either, and leave memory as others are stored.
    @discardableResult public func removeExpired() -> CacheSweep { change { $0.removeExpired(now: time) } }

    public func trim(to bytes: ByteCount) { change { $0.trim(to: bytes.bytes) } }

    /// Purges what the configuration's ``Configuration/watermarks`` say for this level of memory pressure.
    public func trim(_ level: MemoryPressure.Level) {
        change { store in
            // Of a cache without a capacity, a part of what it holds.
            let capacity = store.limits.capacity == .unlimited ? store.statistics.bytes : store.limits.capacity.bytes
            let fraction = store.limits.watermarks.fraction(at: level)
            store.trim(to: Int(exactly: (Double(capacity) * fraction).rounded()) ?? .max)
        }
    }

    /// Trims by itself from now on when memory is scarce; `nil` to no longer do so.
    public func observe(_ pressure: MemoryPressure?) {
        subscription.replace(with: pressure) { [weak self] level in self?.trim(level) }
    }

    public var statistics: CacheStatistics { state.withLock { $0.statistics } }

    private func time() -> Int64 { now().inNanoseconds }

    /// For tests: entries that only somebody else may keep.
    var heldCount: Int { state.withLock { $0.heldCount } }

    /// Changes the state; images that fall out are released when the lock is left, because giving their memory back
    /// takes another lock and may take long.
    private func change<Result: Sendable>(_ body: @Sendable (inout MemoryStore) -> Result) -> Result {
        let (result, discarded) = state.withLock { store in
            let result = body(&store)
            return (result, store.takeDiscarded())
        }
        _ = discarded
        return result
    }
}

extension MemoryStore {
    /// The images to release; costs nothing if there are none.
    @inline(__always)
    fileprivate mutating func takeDiscarded() -> [Image.Storage] {
        guard !discarded.isEmpty else { return [] }
        let images = discarded
        discarded = []
        return images
    }
}
