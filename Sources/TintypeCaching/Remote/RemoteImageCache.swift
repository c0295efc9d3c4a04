internal import FoundationEssentials
internal import Logging
internal import Synchronization

/// A cache of encoded images on another machine, as the lowest tier of a ``TieredDiskCache``.
///
/// No operation takes longer than the deadline, and no load fails because of this cache: a late, failed, or wrong answer is a miss. Answers
/// are verified like files of the disk cache, by their checksums, key, format, and age.
///
/// It stores only public images: no images from local files, from responses that are `private` or `no-store`, or from requests with
/// credentials or with other header fields that select the response. A response that isn't marked as private counts as public. User info
/// and query values of URLs aren't sent. Entries are sent as they are, even if the disk cache encrypts them.
///
/// At most 64 operations run at a time, and each may hold an entry. While 64 are unanswered, other lookups are misses, and removals fail.
/// Removing a single image keeps its other formats; ``removeAll(ofSource:)`` removes everything of a source.
///
/// The store is shared, so ``removeAll()`` does nothing. Checksums aren't signatures: a user who may write to the store can replace images.
public final class RemoteImageCache: DiskCaching {
    private static let maximumOperations = 64

    private let remote: any RemoteCaching
    private let deadline: Duration
    private let maximumEntryBytes: ByteCount
    private let maximumAge: Duration
    private let now: @Sendable () -> Date
    private let sleep: @Sendable (Duration) async -> Void
    private let state = Lock((running: 0, statistics: CacheStatistics()))
    private let hasLogged = Atomic(false)

    /// Creates a cache.
    /// - Parameters:
    ///   - remote: the store.
    ///   - deadline: the longest time that an operation may take.
    ///   - maximumEntryBytes: the largest entry that is stored or accepted.
    ///   - maximumAge: the age at which entries stop being accepted.
    public convenience init(
        _ remote: any RemoteCaching, deadline: Duration = .milliseconds(250),
        maximumEntryBytes: ByteCount = .megabytes(50), maximumAge: Duration = .seconds(7 * 86_400)
    ) {
        self.init(
            remote, deadline: deadline, maximumEntryBytes: maximumEntryBytes, maximumAge: maximumAge,
            clock: ContinuousClock(), now: { Date() })
    }

    init(
        _ remote: any RemoteCaching, deadline: Duration, maximumEntryBytes: ByteCount = .megabytes(50),
        maximumAge: Duration = .seconds(7 * 86_400), clock: some Clock<Duration>, now: @escaping @Sendable () -> Date
    ) {
        self.remote = remote
        self.deadline = deadline.boundedLimit
        self.maximumEntryBytes = maximumEntryBytes
        self.maximumAge = maximumAge.boundedLimit
        self.now = now
        sleep = { try? await clock.sleep(for: $0) }
    }

    /// Hits, misses, stores, and damaged answers (``CacheStatistics/corruptions``) since the cache was created. The number of entries and
    /// their bytes are not known.
    public var statistics: CacheStatistics { state.withLock { $0.statistics } }

    public func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        let answer = await answer { [remote] in try await remote.get(EntryName(key).text) } ?? nil
        let (entry, isDamaged) = answer.map { verify($0, key) } ?? (nil, false)
        state.withLock { state in
            if entry == nil { state.statistics.misses += 1 } else { state.statistics.hits += 1 }
            if isDamaged { state.statistics.corruptions += 1 }
        }
        return entry
    }

    /// Returns the entry in an answer; `nil` if it is damaged, or not to be used.
    private func verify(_ data: Data, _ key: ImageKey) -> (entry: DiskCacheEntry?, isDamaged: Bool) {
        guard data.count <= maximumEntryBytes.bytes else { return (nil, true) }
        switch data.withUnsafeBytes({ EntryFile.contents($0, key: key) }) {
        case .damaged: return (nil, true)
        case .foreign: return (nil, false)
        case .entry(let description):
            let time = now().cacheTime
            let lifetime = min(maximumAge.cacheTime, description.entry.idleLifetime?.cacheTime ?? .max)
            // Another machine's clock may be ahead.
            guard description.codec == nil, description.entry.expires.map({ $0.cacheTime > time }) ?? true,
                min(description.stored, time) + lifetime > time, Self.isShareable(description.entry, key)
            else { return (nil, false) }
            var entry = description.entry(with: data)
            // They go into the header of a request.
            if let validators = entry.validators, !validators.isText { entry.validators = nil }
            return (entry, false)
        }
    }

    /// Returns true for an entry that anybody may see, on any machine.
    private static func isShareable(_ entry: DiskCacheEntry, _ key: ImageKey) -> Bool {
        // A key of the program's own doesn't show that the image is a file's.
        guard !key.source.lowercased().hasPrefix("file:"), !key.source.hasPrefix("/"),
            entry.validators?.entityTag?.hasPrefix(CacheValidators.filePrefix) != true
        else { return false }
        guard let response = entry.answer else { return true }
        let directives = CacheControl(response.headers["cache-control"])
        return response.isForPlainRequests && !directives.isPrivate && !directives.noStore
    }

    /// Stores an entry if it is public. Errors are logged. An entry that turns out to be outdated after the store is removed again, however
    /// late.
    /// - Parameters:
    ///   - entry: the encoded image with its properties.
    ///   - key: the key.
    ///   - isCurrent: the condition. Returns true to store.
    public func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async {
        let trailer = EntryFile.trailer(for: entry, key: key, stored: now().cacheTime)
        let data = entry.data + trailer
        guard trailer.count <= EntryFile.maximumDescription, data.count <= maximumEntryBytes.bytes,
            Self.isShareable(entry, key), isCurrent()
        else { return }
        let name = EntryName(key).text
        let isStored: Void? = await uncanceledAnswer { [remote] in
            var failure: (any Error)?
            do { try await remote.put(data, as: name) } catch { failure = error }
            // In a task of its own, which the deadline doesn't cancel. A put that failed may have taken place.
            if !isCurrent() { await Task { try? await remote.remove(name) }.value }
            if let failure { throw failure }
        }
        if isStored != nil { state.withLock { $0.statistics.stores += 1 } }
    }

    /// Returns true if there is a valid entry. Takes as long as reading it.
    /// - Parameter key: the key.
    public func contains(_ key: ImageKey) async -> Bool {
        await Task.immediate { await entry(forKey: key) != nil }.value
    }

    /// Returns no variants: the store has no list of its entries.
    /// - Parameter source: the source: the key of its original.
    public func variants(ofSource source: String) async -> [ImageVariant] { [] }

    /// Removes an entry.
    /// - Parameter key: the key.
    /// - Returns: true, because the store doesn't report whether it had an entry.
    /// - Throws: ``ImageError/Code/cacheWriteFailed`` if the store didn't confirm it within the deadline.
    @discardableResult public func remove(_ key: ImageKey) async throws(ImageError) -> Bool {
        try await remove(key.source) { try await $0.remove(EntryName(key).text) }
        return true
    }

    /// Removes every variant of a source.
    /// - Parameter source: the source: the key of its original.
    /// - Returns: 1, because the store doesn't report the number.
    /// - Throws: ``ImageError/Code/cacheWriteFailed`` if the store didn't confirm it within the deadline.
    @discardableResult public func removeAll(ofSource source: String) async throws(ImageError) -> Int {
        let prefix = String(EntryName(source: source).text.prefix(33))
        try await remove(source) { try await $0.removeAll(withPrefix: prefix) }
        return 1
    }

    private func remove(
        _ source: String, _ body: @escaping @Sendable (any RemoteCaching) async throws -> Void
    ) async throws(ImageError) {
        guard await uncanceledAnswer({ [remote] in try await body(remote) }) == nil else { return }
        throw ImageError(
            .cacheWriteFailed, stage: .cache, source: source, reason: "the remote cache didn't confirm the removal")
    }

    /// Does nothing: other programs use the store, too.
    public func removeAll() async {}

    /// Does nothing: entries that are too old aren't accepted, and the store evicts them.
    /// - Returns: no entries.
    @discardableResult public func removeExpired() async -> CacheUsage { CacheUsage() }

    /// Returns zeros: the store doesn't report its usage.
    public func usage() async -> CacheUsage { CacheUsage() }

    /// Returns the result of an operation that the deadline ends, and no cancellation.
    private func uncanceledAnswer<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async -> Value? {
        await Task.immediate { await answer(operation) }.value
    }

    /// Returns the result of an operation; `nil` if it fails or takes too long, or too many others are unanswered.
    private func answer<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async -> Value? {
        let mayRun = state.withLock { state in
            guard state.running < Self.maximumOperations else { return false }
            state.running += 1
            return true
        }
        guard mayRun else { return nil }
        let first: Value?? = await firstResult(of: [
            {
                defer { self.state.withLock { $0.running -= 1 } }
                do {
                    return .some(try await operation())
                } catch {
                    self.note(error)
                    return .some(nil)
                }
            },
            { [sleep, deadline] in
                await sleep(deadline)
                return .some(nil)
            },
        ])
        return first ?? nil
    }

    /// Logs the first error. The error of a canceled operation says nothing about the store.
    private func note(_ error: any Error) {
        guard !Task.isCancelled, !hasLogged.exchange(true, ordering: .relaxed) else { return }
        Logger(label: "tintype.remote-cache").warning("the remote cache failed, which counts as a miss: \(error)")
    }
}
