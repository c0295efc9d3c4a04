/// The writes to the disk cache that no load waits for.
///
/// The waiting bytes are bounded: beyond the limit a load waits for its own write.
final class PendingStores: Sendable {
    private struct State {
        var bytes = 0
        var nextNumber = 0
        /// The numbers of the writes under way.
        var running: Set<Int> = []
        /// Callers that wait for writes, each with those that were under way when it came.
        var waiting: [(writes: Set<Int>, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Lock(State())

    /// True while a caller waits.
    var hasWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Registers a write.
    /// - Returns: its number, and whether the limit is exceeded, so that the load has to wait for it.
    func begin(bytes: Int, limit: ByteCount) -> (number: Int, isOverLimit: Bool) {
        state.withLock { state in
            state.nextNumber += 1
            state.running.insert(state.nextNumber)
            state.bytes += bytes
            return (state.nextNumber, state.bytes > limit.bytes)
        }
    }

    func end(_ number: Int, bytes: Int) {
        let finished = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.running.remove(number)
            state.bytes -= bytes
            guard !state.waiting.isEmpty else { return [] }
            for index in state.waiting.indices { state.waiting[index].writes.remove(number) }
            defer { state.waiting.removeAll { $0.writes.isEmpty } }
            return state.waiting.filter { $0.writes.isEmpty }.map(\.continuation)
        }
        for continuation in finished { continuation.resume() }
    }

    /// Runs other work that callers may wait for as they wait for writes, such as the revalidation of an image.
    func run(_ work: @escaping @Sendable () async -> Void) {
        let number = begin(bytes: 0, limit: ByteCount(.max)).number
        Task.detached {
            await work()
            self.end(number, bytes: 0)
        }
    }

    /// Waits for the writes that are under way now; later ones don't prolong the wait.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.running.isEmpty { state.waiting.append((state.running, continuation)) }
                return state.running.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }
}
