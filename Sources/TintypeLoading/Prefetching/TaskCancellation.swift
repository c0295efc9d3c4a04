/// The cancellation of a task that may not be known yet.
final class TaskCancellation: Sendable {
    private let state = Lock((task: Task<Void, Never>?.none, isCancelled: false))

    func setTask(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
