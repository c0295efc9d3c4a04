/// Work that begins at most once, and whose result any number of callers can await.
final class OnceTask<Value: Sendable>: Sendable {
    private enum State {
        case idle
        /// The first caller is creating the task.
        case starting([CheckedContinuation<Task<Value, Never>, Never>])
        case started(Task<Value, Never>)
    }

    private let state = Lock(State.idle)

    /// True if the work has begun.
    var hasBegun: Bool {
        state.withLock { state in
            if case .idle = state { return false }
            return true
        }
    }

    /// Begins the work unless it has begun.
    /// - Parameter makeTask: called outside the lock, so that it may run the beginning of the work itself.
    /// - Returns: true for the caller that began it.
    @discardableResult func begin(_ makeTask: () -> Task<Value, Never>) -> Bool {
        let isFirst = state.withLock { state in
            guard case .idle = state else { return false }
            state = .starting([])
            return true
        }
        guard isFirst else { return false }
        let task = makeTask()
        let waiting = state.withLock { state -> [CheckedContinuation<Task<Value, Never>, Never>] in
            defer { state = .started(task) }
            if case .starting(let waiting) = state { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume(returning: task) }
        return true
    }

    /// The result of the work; `nil` if it hasn't begun.
    var value: Value? {
        get async {
            guard hasBegun else { return nil }
            let task = await withCheckedContinuation { continuation in
                let task = state.withLock { state -> Task<Value, Never>? in
                    switch state {
                    case .idle: return nil  // Never: it has begun.
                    case .starting(let waiting):
                        state = .starting(waiting + [continuation])
                        return nil
                    case .started(let task): return task
                    }
                }
                if let task { continuation.resume(returning: task) }
            }
            return await task.value
        }
    }
}
