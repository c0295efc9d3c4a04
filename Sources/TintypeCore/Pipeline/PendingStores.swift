/// Writes to the disk cache that nobody waits for, except who wants to know that they are done.
///
/// The bytes that wait are bounded: past the limit a load waits for its own write.
final class PendingStores: Sendable {
    private struct State {
        var bytes = 0
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    /// Takes note of a write; false if it has to be waited for.
    func begin(bytes: Int, limit: ByteCount) -> Bool {
        state.withLock { state in
            state.count += 1
            state.bytes += bytes
            return state.bytes <= limit.bytes
        }
    }

    func end(bytes: Int) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.count -= 1
            state.bytes -= bytes
            guard state.count == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when no write is under way.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isIdle { continuation.resume() }
        }
    }
}
