@testable import TintypeImages
@testable import TintypeLoading

extension SharedWork {
    /// The number of waiters by key, but for jobs that have ended. Several jobs with the same key are counted together.
    var waiting: [Key: Int] {
        tables.withLock { tables in
            tables.state.jobs.values.reduce(into: [:]) { counts, job in
                if !job.hasEnded { counts[job.key, default: 0] += job.waiters.count }
            }
        }
    }

    /// True if nothing is left in the table.
    var isIdle: Bool { tables.withLock { $0.state == State() && $0.waits.isEmpty && $0.runs.isEmpty } }
}
