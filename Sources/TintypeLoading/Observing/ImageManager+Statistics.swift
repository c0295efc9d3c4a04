internal import Synchronization

extension ImageManager {
    /// Counts of a manager's work since it was created.
    ///
    /// Each load that has ended is counted in only one of ``memoryHits``, ``diskHits``, ``misses``, ``failures`` and ``cancellations``.
    public struct Statistics: Sendable, Hashable, Codable {
        /// The loads that started: of images, of bytes, and of animations, including prefetches.
        public var loads = 0
        /// The loads whose image was in memory.
        public var memoryHits = 0
        /// The loads that were served from disk.
        public var diskHits = 0
        /// The loads that the caches couldn't serve: a loader served them, or they weren't allowed to ask one and ended with
        /// ``ImageError/Code/notCached``.
        public var misses = 0
        /// The loads that ended with an error other than ``ImageError/Code/notCached`` or a cancellation.
        public var failures = 0
        /// The loads that were canceled.
        public var cancellations = 0
        /// The loads that shared a transfer, a decode, or a transform with another load.
        public var shared = 0
        /// The transfers that delivered bytes. A shared transfer counts once.
        public var downloads = 0
        /// The transfers that confirmed that the cached bytes are current.
        public var confirmations = 0
        /// The transfers that failed or were canceled.
        public var failedDownloads = 0
        /// The bytes that loaders delivered.
        public var downloadedBytes = 0

        /// Creates statistics of zero.
        public init() {}

        /// The loads that haven't ended.
        package var active: Int { loads - memoryHits - diskHits - misses - failures - cancellations }
    }

    /// Counts of the manager's work since it was created.
    ///
    /// Loads in progress may or may not be counted, but never as ended without having started.
    public var statistics: Statistics { shared.counters.statistics }
}

/// The counts of a manager. Hits in memory have a counter without a lock.
final class LoadCounters: Sendable {
    let memoryHits = Atomic(0)
    private let others = Lock(ImageManager.Statistics())

    func count(_ change: (inout ImageManager.Statistics) -> Void) { others.withLock { change(&$0) } }

    var statistics: ImageManager.Statistics {
        var statistics = others.withLock { $0 }
        let hits = memoryHits.load(ordering: .relaxed)
        statistics.loads += hits
        statistics.memoryHits += hits
        return statistics
    }
}
