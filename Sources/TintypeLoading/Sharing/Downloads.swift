internal import FoundationEssentials

/// The transfers of a manager, and their bytes until the loads that may want them have ended.
///
/// A load holds its download before it looks at the disk, and until its bytes are on the way there. So it finds the bytes in one of
/// three places: on disk, here, or in a transfer that is under way; none of them is ever downloaded twice.
final class Downloads: Sendable {
    /// A load's interest in a download.
    struct Hold: Sendable {
        let key: DownloadKey
        /// The state of the cache's removals when the load began.
        let mark: RemovalLog.Mark?
        /// The number of transfers that had ended when the load began.
        fileprivate let begin: Int
    }

    /// The result of a transfer.
    typealias Outcome = Result<SourceBytes, ImageError>

    /// The holders and the bytes of a download. An object, because a value in a dictionary can't be changed in place without cost; only the
    /// lock's owner reaches it.
    private final class Record {
        var holders = 0
        var bytes: SourceBytes?
        /// The number of the transfer that brought the bytes.
        var end = 0
    }

    private struct State {
        var records: [DownloadKey: Record] = [:]
        var transfersEnded = 0
    }

    private let state = Lock(State())
    private let transfers = TaskCoalescer<DownloadKey, SourceBytes>()

    /// True if a transfer is under way.
    func isRunning(_ key: DownloadKey) -> Bool { transfers.isRunning(key) }

    /// Ends the transfers that nobody waits for.
    func cancelLingering() { transfers.cancelLingering() }

    /// The number of loads that wait for transfers.
    var waitingCount: Int { transfers.waitingCount }

    /// The number of downloads that loads hold.
    var heldCount: Int { state.withLock { $0.records.count } }

    /// Keeps the bytes of a download here, from now on, until ``release(_:)``.
    func hold(_ key: DownloadKey, mark: RemovalLog.Mark? = nil) -> Hold {
        state.withLock { state in
            if let record = state.records[key] {
                record.holders += 1
            } else {
                let record = Record()
                record.holders = 1
                state.records[key] = record
            }
            return Hold(key: key, mark: mark, begin: state.transfersEnded)
        }
    }

    func release(_ hold: Hold) {
        let old = state.withLock { state -> SourceBytes? in
            guard let record = state.records[hold.key] else { return nil }
            record.holders -= 1
            guard record.holders == 0 else { return nil }
            state.records[hold.key] = nil
            return record.bytes
        }
        _ = old  // Deallocated outside the lock.
    }

    /// The bytes of a transfer that has ended.
    /// - Parameter onlyNew: true for a load that must not use bytes from before it began.
    func bytes(for hold: Hold, onlyNew: Bool) -> SourceBytes? {
        state.withLock { state in
            guard let record = state.records[hold.key], !onlyNew || record.end > hold.begin else { return nil }
            return record.bytes
        }
    }

    /// Returns the bytes of a transfer: the one that is under way, or one that `transfer` begins in the task of the job.
    /// - Parameters:
    ///   - grace: The time that the transfer has if its last caller leaves; `nil` for none.
    ///   - isUsable: False for bytes of an earlier transfer that the load must not use.
    func download(
        _ hold: Hold, onlyNew: Bool, within job: SourceLoad.Job, grace: TransferGrace?,
        onUpdate: @escaping @Sendable (LoadUpdate) -> Void,
        transfer: @escaping @Sendable (TaskCoalescer<DownloadKey, SourceBytes>.Context) async -> Outcome,
        isUsable: @escaping @Sendable (SourceBytes) -> Bool
    ) async -> Outcome {
        await transfers.value(
            for: hold.key, priority: LoadPriority(job.priority), within: job.cancellation, lingering: grace?.lingering,
            onUpdate: onUpdate
        ) { [self] context in
            // One may have ended between the caller's look and now.
            if let bytes = bytes(for: hold, onlyNew: onlyNew), isUsable(bytes) { return .success(bytes) }
            let outcome = await transfer(context)
            state.withLock { state in
                state.transfersEnded += 1
                guard case .success(let bytes) = outcome, let record = state.records[hold.key] else { return }
                record.bytes = bytes
                record.end = state.transfersEnded
            }
            return outcome
        }
    }
}
