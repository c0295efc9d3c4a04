internal import TintypeLoading

/// Ends transfers that exceed their time limits.
///
/// A single task sleeps for all transfers of a downloader, until the earliest time when any of them may be too slow. Activity doesn't wake
/// it: when it wakes, it asks each transfer whether it is too slow. A task and a timer for each transfer would cost more than its bytes.
final class TransferWatch: Sendable {
    private struct State {
        var transfers: [Int: TimeLimits] = [:]
        var lastID = 0
        var sleeper: Task<Void, Never>?
        /// The number of the sleeper. Earlier tasks do nothing when they wake.
        var sleeperID = 0
        /// The sleeper's wake-up time.
        var wakeTime: Duration?
    }

    private let state = Lock(State())
    let time: Timekeeper

    init(_ time: Timekeeper) { self.time = time }

    /// Watches a transfer.
    /// - Returns: a number for ``end(_:)``.
    func begin(_ limits: TimeLimits, at now: Duration) -> Int {
        // A transfer is never too slow at its start.
        let next = limits.nextCheck(at: now) ?? now
        let (id, old) = state.withLock { state -> (Int, Task<Void, Never>?) in
            state.lastID += 1
            state.transfers[state.lastID] = limits
            if let wakeTime = state.wakeTime, wakeTime <= next { return (state.lastID, nil) }
            let old = state.sleeper
            state.sleeperID += 1
            state.wakeTime = next
            state.sleeper = sleeper(state.sleeperID, until: next)
            return (state.lastID, old)
        }
        old?.cancel()
        return id
    }

    /// Ends watching. The sleeper of the last transfer ends.
    func end(_ id: Int) {
        let old = state.withLock { state -> Task<Void, Never>? in
            state.transfers[id] = nil
            guard state.transfers.isEmpty else { return nil }
            defer { (state.sleeper, state.wakeTime) = (nil, nil) }
            state.sleeperID += 1
            return state.sleeper
        }
        old?.cancel()
    }

    private func sleeper(_ id: Int, until first: Duration) -> Task<Void, Never> {
        Task.detached { [weak self, time] in
            var next = first
            while true {
                do { try await time.sleep(next) } catch { return }
                guard let later = self?.endSlowTransfers(for: id) else { return }
                next = later
            }
        }
    }

    /// Ends the transfers that are too slow.
    /// - Returns: the time of the next check; `nil` if the sleeper isn't needed any longer.
    private func endSlowTransfers(for id: Int) -> Duration? {
        let now = time.now()
        let (next, slow) = state.withLock { state -> (Duration?, [TimeLimits]) in
            guard state.sleeperID == id else { return (nil, []) }
            var next: Duration?
            var slow: [TimeLimits] = []
            for (id, limits) in state.transfers {
                if let time = limits.nextCheck(at: now) {
                    next = min(next ?? time, time)
                } else {
                    state.transfers[id] = nil
                    slow.append(limits)
                }
            }
            state.wakeTime = next
            if next == nil { state.sleeper = nil }
            return (next, slow)
        }
        for limits in slow { limits.expire() }
        return next
    }
}
