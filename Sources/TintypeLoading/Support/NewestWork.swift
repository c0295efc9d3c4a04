/// A worker that processes the values that it is sent, never two at once. Values that arrive while it is busy replace each other, and the
/// newest is next. The first value starts its task.
final class NewestWork<Value: Sendable>: Sendable {
    private struct State {
        var next: Value?
        var task: Task<Void, Never>?
        var isBusy = false
        var hasEnded = false
    }

    private let state = Lock(State())
    private let work: @Sendable (Value) async -> Void

    init(_ work: @escaping @Sendable (Value) async -> Void) { self.work = work }

    func send(_ value: Value) {
        let begins = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.next = value
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard begins else { return }
        let task = Task.immediateDetached { [self] in while let value = take() { await work(value) } }
        state.withLock { $0.task = task }
    }

    private func take() -> Value? {
        state.withLock { state in
            if state.next == nil { state.isBusy = false }
            return state.next.take()
        }
    }

    /// Waits until the value in progress is completed, and drops a waiting value and all that are sent later. If the calling task is
    /// canceled, so is the work.
    func end() async {
        let task = state.withLock { state in
            state.hasEnded = true
            state.next = nil
            return state.task
        }
        guard let task else { return }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
