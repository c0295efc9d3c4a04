internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// The things that all parts of a disk cache share: its limits, its open directory, its statistics, and its log.
final class DiskContext: Sendable {
    let path: String
    let limits: Lock<DiskCache.Configuration>
    /// The statistics without the totals, which the ``EvictionHand`` has.
    let counters = Lock(CacheStatistics())
    /// The directory that was opened last.
    let directory = Lock<OpenDirectory?>(nil)
    private let sizesKnown = Atomic(false)
    private let renewal = Atomic<Int64>(EvictionHand().renewalAge)
    private let now: @Sendable () -> Date
    private let faults: FileFaults?
    private let log: @Sendable (String) -> Void
    private let loggedCauses = Lock(Set<String>())

    init(
        _ configuration: DiskCache.Configuration, faults: FileFaults?, now: @escaping @Sendable () -> Date,
        log: @escaping @Sendable (String) -> Void
    ) {
        path = configuration.directory
        limits = Lock(configuration)
        self.faults = faults
        self.now = now
        self.log = log
    }

    var date: Date { now() }

    /// The present, in microseconds since 1970.
    var time: Int64 { now().cacheTime }

    // MARK: The directory

    /// True if the kernel knows without looking that the directory is missing.
    var hasCertainlyNoDirectory: Bool { OpenDirectory.isMissing(path, faults: faults) }

    /// The directory for reading; `nil` if there is none, or it can't be read.
    func openDirectory() -> OpenDirectory? {
        do throws(ImageError) {
            return try existingDirectory()
        } catch {
            // Logged: a missing directory just means no entries; other reasons are reported.
            return nil
        }
    }

    /// The directory; `nil` only if there is certainly none.
    /// - Throws: ``ImageError/Code/cacheUnavailable``
    func existingDirectory() throws(ImageError) -> OpenDirectory? {
        if let open = directory.withLock({ $0 }), !open.isRemoved { return open }
        do throws(FileError) {
            let opened = try OpenDirectory.open(path, faults: faults)
            directory.withLock { $0 = opened }
            return opened
        } catch {
            directory.withLock { $0 = nil }
            if error.isMissing { return nil }
            throw failure(error, .cacheUnavailable)
        }
    }

    /// Opens the directory, and creates it if need be. Other processes don't use it yet.
    func makeDirectory() throws(FileError) -> OpenDirectory { try OpenDirectory.make(path, faults: faults) }

    /// Forgets the directory if the path leads to another, or none, by now, or it may not be written to any more.
    func checkDirectory() {
        guard let open = directory.withLock({ $0 }) else { return }
        if !open.isCurrent || open.reasonAgainstWriting != nil { forget(open) }
    }

    func forget(_ old: OpenDirectory) { directory.withLock { if $0 === old { $0 = nil } } }

    // MARK: Values that reads take without a lock

    /// True if this process knows how full the cache is.
    var areSizesKnown: Bool {
        get { sizesKnown.load(ordering: .relaxed) }
        set { sizesKnown.store(newValue, ordering: .relaxed) }
    }

    /// See ``EvictionHand/renewalAge``.
    var renewalAge: Int64 {
        get { renewal.load(ordering: .relaxed) }
        set { renewal.store(newValue, ordering: .relaxed) }
    }

    // MARK: Errors

    /// Logs an error, once for each cause.
    func note(_ message: String, cause: String) {
        if loggedCauses.withLock({ $0.insert(cause).inserted }) { log(message) }
    }

    func failure(_ error: FileError, _ code: ImageError.Code) -> ImageError {
        note("\(path): \(error)", cause: error.cause)
        let place = error.path == path ? "it" : error.path
        return ImageError(
            code, stage: .cache, source: path, reason: "cannot \(error.operation) \(place): \(error.message)",
            underlying: error)
    }

    func unavailable(_ reason: String) -> ImageError {
        note("\(path): \(reason)", cause: reason)
        return ImageError(.cacheUnavailable, stage: .cache, source: path, reason: reason)
    }
}
