/// The stores that nobody waits for, such as a load's writes to disk.
///
/// The waiting bytes are bounded: beyond the limit a load waits for its own write.
package final class PendingStores: Sendable {
    private struct State {
        var bytes = 0
        var lastNumber = 0
        /// The writes under way.
        var running: [Int: Promise<Void>] = [:]
    }

    private let state = Lock(State())

    package init() {}

    /// Registers a write.
    /// - Returns: its number, and whether the limit is exceeded, so that the load has to wait for it.
    package func begin(bytes: Int = 0, limit: ByteCount = .unlimited) -> (number: Int, isOverLimit: Bool) {
        state.withLock { state in
            state.lastNumber += 1
            state.running[state.lastNumber] = Promise()
            state.bytes += bytes
            return (state.lastNumber, state.bytes > limit.bytes)
        }
    }

    package func end(_ number: Int, bytes: Int = 0) {
        let ended = state.withLock { state in
            state.bytes -= bytes
            return state.running.removeValue(forKey: number)
        }
        ended?.fulfill(())
    }

    /// Runs other work that callers may wait for as they wait for writes, such as the revalidation of an image.
    package func run(_ work: @escaping @Sendable () async -> Void) {
        let number = begin().number
        Task.detached {
            await work()
            self.end(number)
        }
    }

    /// Waits for the writes that are under way now; later ones don't prolong the wait.
    package func wait() async { for write in state.withLock({ Array($0.running.values) }) { await write.value } }
}
