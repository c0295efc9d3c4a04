internal import Synchronization

/// That nothing was ever stored in a directory, when it was seen.
///
/// To look takes a call to the system, several times as long as a miss in a cache that holds something.
struct Emptiness {
    /// How long it is believed. Another process takes longer than that to make its directory and its index and
    /// store something; those of this one say so themselves.
    private static let duration = Duration.microseconds(500)

    private static let ends = Atomic(0)

    private let time: ContinuousClock.Instant
    private let ends: Int

    /// To be made before the look.
    init() {
        ends = Self.ends.load(ordering: .acquiring)
        time = .now
    }

    var isCurrent: Bool {
        ends == Self.ends.load(ordering: .acquiring) && time.duration(to: .now) < Self.duration
    }

    /// Called before and after the directory of any cache of this process is made.
    static func mayEnd() { ends.add(1, ordering: .acquiringAndReleasing) }
}

extension DiskStore {
    /// True if nothing was ever stored, as far as can be told without waiting for the disk.
    var isEmptyAtOnce: Bool {
        if emptiness.withLock({ $0 })?.isCurrent == true { return true }
        return noteEmptiness { () throws(FileError) in _ = try files.contents(layout.data, withoutWaiting: 0) }
    }

    /// True if nothing was ever stored.
    var isEmpty: Bool {
        guard (try? files.status(layout.index)) == nil else { return false }
        return noteEmptiness { () throws(FileError) in _ = try files.status(layout.data) }
    }

    private func noteEmptiness(_ look: () throws(FileError) -> Void) -> Bool {
        let seen = Emptiness()
        do throws(FileError) {
            try look()
            return false
        } catch {
            guard error.isMissing else { return false }
            emptiness.withLock { $0 = seen }
            return true
        }
    }
}
